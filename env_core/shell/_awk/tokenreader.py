"""Takes the tokens of an awk program one by one."""

from __future__ import annotations

from env_core.shell._awk.lexer import AwkProblem, Token


class TokenReader:
    """The tokens still to read; the last one is of kind "end"."""

    def __init__(self, stream: list[Token]) -> None:
        """Start at the first of the tokens."""
        self.tokens = stream
        self.index = 0

    def peek(self) -> str:
        """Return the kind of the next token."""
        return self.tokens[self.index].kind

    def take(self) -> Token:
        """Take the next token; the end stays."""
        token = self.tokens[self.index]
        self.index += token.kind != "end"
        return token

    def accept(self, kind: str) -> bool:
        """Take the next token if it is of this kind."""
        if self.peek() == kind:
            self.take()
            return True
        return False

    def expect(self, kind: str) -> Token:
        """Take a token of this kind.

        Raises:
            AwkProblem: if another one comes.
        """
        if self.peek() != kind:
            if kind == ")":
                raise self.missing(kind)
            raise self.failure()
        return self.take()

    def failure(self) -> AwkProblem:
        """Return the syntax error at the next token."""
        token = self.tokens[self.index]
        if token.kind == "end" or token.kind == "\n":
            return AwkProblem(f"line {token.line}: syntax error at or near end of line", "syntax")
        return AwkProblem(f"line {token.line}: syntax error at or near {token.text}", "syntax")

    def missing(self, kind: str) -> AwkProblem:
        """Return the error for a bracket that is not closed at the next token."""
        token = self.tokens[self.index]
        near = "end of line" if token.kind in ("end", "\n") else token.text
        return AwkProblem(f"line {token.line}: missing {kind} near {near}", "syntax")

    def newlines(self) -> None:
        """Skip ends of lines and semicolons."""
        while self.peek() in ("\n", ";"):
            self.take()

    def optional_newlines(self) -> None:
        """Skip ends of lines."""
        while self.peek() == "\n":
            self.take()
