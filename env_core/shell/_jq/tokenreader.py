"""Takes the tokens of a filter one by one."""

from __future__ import annotations

from typing import Final

from env_core.shell._jq.lexer import CompileProblem, Token

_DEPTH_MAX: Final = 60
_QUOTING: Final = " (Unix shell quoting issues?)"
_SHOWN: Final = {
    "number": "LITERAL", "name": "IDENT", "field": "FIELD", "format": "FORMAT", "string": "QQSTRING_START",
    "invalid": "INVALID_CHARACTER", "end": "$end",
}  # fmt: skip
_TERM_KINDS: Final = frozenset(("number", "name", "field", "format", "string"))
_TERM_OPERATORS: Final = frozenset((".", "..", "(", "[", "{", "$"))


class TokenReader:
    """The tokens still to read; the last one is of kind "end"."""

    def __init__(self, stream: list[Token] | tuple[Token, ...]) -> None:
        """Start at the first of the tokens."""
        self.tokens = stream
        self._index = 0
        self.depth = 0

    def peek(self, ahead: int = 0) -> Token:
        """Return the next token, or the one `ahead` of it."""
        return self.tokens[min(self._index + ahead, len(self.tokens) - 1)]

    def take(self) -> Token:
        """Take the next token; the end stays."""
        token = self.peek()
        self._index += token.kind != "end"
        return token

    def comes(self, *operators: str) -> bool:
        """Tell whether one of these operators comes next."""
        token = self.peek()
        return token.kind == "op" and token.text in operators

    def is_word(self, *words: str) -> bool:
        """Tell whether one of these keywords comes next."""
        token = self.peek()
        return token.kind == "keyword" and token.text in words

    def starts_term(self) -> bool:
        """Tell whether the next token begins a term."""
        token = self.peek()
        return (
            token.kind in _TERM_KINDS
            or (token.kind == "op" and token.text in _TERM_OPERATORS)
            or self.is_word("__loc__", "if", "reduce", "foreach", "try", "label", "def")
        )

    def accept(self, operator: str) -> bool:
        """Take the next token if it is this operator."""
        if self.comes(operator):
            self.take()
            return True
        return False

    def expect(self, operator: str, expecting: str = "") -> None:
        """Take this operator.

        Raises:
            CompileProblem: if another token comes; `expecting` is what the text says would be right.
        """
        if not self.accept(operator):
            raise self.failure(expecting)

    def expect_word(self, word: str) -> None:
        """Take this keyword.

        Raises:
            CompileProblem: if another token comes.
        """
        if not self.is_word(word):
            raise self.failure()
        self.take()

    def failure(self, expecting: str = "") -> CompileProblem:
        """Return the syntax error at the next token."""
        token = self.peek()
        shown = _SHOWN.get(token.kind, token.text)
        if token.kind == "op" and len(token.text) == 1:
            shown = f"'{token.text}'"
        wanted = f", expecting {expecting}" if expecting else ""
        return CompileProblem(f"syntax error, unexpected {shown}{wanted}{_QUOTING}", token.start)

    def enter(self) -> None:
        """Count one level of nesting.

        Raises:
            CompileProblem: when it is too deep.
        """
        self.depth += 1
        if self.depth > _DEPTH_MAX:
            raise CompileProblem("syntax error, memory exhausted" + _QUOTING, self.peek().start)
