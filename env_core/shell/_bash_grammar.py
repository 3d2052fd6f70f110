"""The grammar of bash beyond POSIX: `[[ ]]`, `(( ))`, arrays, `function`, counting loops.

Source: bash(1), "SHELL GRAMMAR".
"""

from __future__ import annotations

import re
from typing import Final

from env_core.shell._bash_lexer import BashLexer
from env_core.shell._grammar import ASSIGNMENT, NAME, RESERVED, Parser, after_prefix
from env_core.shell.lexer import Lexer
from env_core.shell.syntax import (
    Array,
    Calculation,
    Condition,
    Conditional,
    Counting,
    Function,
    Node,
    Redirect,
    Sequence,
    Simple,
    SyntaxProblem,
    Word,
)

BASH_RESERVED: Final = RESERVED | {"[[", "function"}
UNARY: Final = frozenset(f"-{letter}" for letter in "abcdefghknoprstuvwxzGLNOSR")
BINARY: Final = frozenset(
    ("=", "==", "!=", "=~", "-eq", "-ne", "-lt", "-le", "-gt", "-ge", "-nt", "-ot", "-ef")
)
_APPENDED: Final = re.compile(r"([A-Za-z_][A-Za-z0-9_]*(?:\[[^\]]*\])?\+?)=")


class BashParser(Parser):
    """Parses bash."""

    reserved_words = BASH_RESERVED

    def _command(self) -> Node:
        token = self._peek()
        reserved = self._reserved()
        lexer = self._lexer
        assert isinstance(lexer, BashLexer)
        if reserved == "[[":
            self._take()
            condition = self._any_of()
            if self._raw() != "]]":
                self._unexpected()
            self._take()
            return Conditional(condition, token.line)
        if reserved == "function":
            self._take()
            name = self._take().word
            if name is None:
                self._unexpected("word")
            if self._peek().kind == "(":
                self._take()
                self._expect(")")
            self._skip_newlines()
            return Function(name.raw, self._command())
        if token.kind == "(" and lexer.follows("("):
            lexer.position += 1
            word = lexer.words_until("))")
            if word is not None:
                self._take()
                return Calculation(word, token.line)
            lexer.position -= 1
        return super()._command()

    def _for(self) -> Node:
        lexer = self._lexer
        assert isinstance(lexer, BashLexer)
        lexer.skip_blanks()
        if not lexer.follows("(("):
            return super()._for()
        self._take()
        lexer.position += 2
        parts = [lexer.words_until(";"), lexer.words_until(";"), lexer.words_until("))")]
        first, check, step = (part if part is not None else Word((), "") for part in parts)
        if self._peek().kind == ";":
            self._take()
        self._skip_newlines()
        if self._reserved() == "{":
            self._take()
            body = self._list(stops_at_newline=False)
            self._expect("}")
            return Counting(first, check, step, body)
        return Counting(first, check, step, self._do_group())

    def _simple(self) -> Node:
        line = self._peek().line
        assignments: list[tuple[str, Word | Array]] = []
        words: list[Word] = []
        redirects: list[Redirect] = []
        while True:
            token = self._peek()
            if token.kind == "redirection":
                redirects.append(self._redirect())
            elif token.word is not None:
                self._take()
                found = None if words else ASSIGNMENT.match(token.word.raw) or _APPENDED.match(token.word.raw)
                if found is not None:
                    assignments.append((found.group(1), self._value(token.word, found.end())))
                elif words and words[0].raw in ("declare", "local", "export", "readonly", "typeset"):
                    words.append(token.word)
                    self._declared(token.word, assignments)
                else:
                    words.append(token.word)
            elif token.kind == "(" and len(words) == 1 and not assignments and not redirects:
                return self._function(words[0])
            else:
                break
        return Simple(tuple(assignments), tuple(words), tuple(redirects), line)

    def _declared(self, word: Word, assignments: list[tuple[str, Word | Array]]) -> None:
        """Take the array of a `declare -a name=(…)`."""
        if word.raw.endswith("=") and NAME.match(word.raw[:-1]) and self._lexer_follows("("):
            assignments.append((word.raw[:-1], self._array()))

    def _lexer_follows(self, text: str) -> bool:
        lexer = self._lexer
        return isinstance(lexer, BashLexer) and self._ahead is None and lexer.follows(text)

    def _value(self, word: Word, prefix: int) -> Word | Array:
        if prefix == len(word.raw) and self._lexer_follows("("):
            return self._array()
        return after_prefix(word, prefix)

    def _array(self) -> Array:
        self._take()
        words: list[Word] = []
        while True:
            self._skip_newlines()
            word = self._peek().word
            if word is None:
                break
            self._take()
            words.append(word)
        self._expect(")")
        return Array(tuple(words))

    # Conditions

    def _raw(self) -> str:
        word = self._peek().word
        return word.raw if word is not None else ""

    def _any_of(self) -> Condition:
        parts = [self._all_of()]
        while self._peek().kind == "||":
            self._take()
            self._skip_newlines()
            parts.append(self._all_of())
        return parts[0] if len(parts) == 1 else Condition("||", parts=tuple(parts))

    def _all_of(self) -> Condition:
        parts = [self._test()]
        while self._peek().kind == "&&":
            self._take()
            self._skip_newlines()
            parts.append(self._test())
        return parts[0] if len(parts) == 1 else Condition("&&", parts=tuple(parts))

    def _test(self) -> Condition:
        self._skip_newlines()
        if self._raw() == "!":
            self._take()
            return Condition("!", parts=(self._test(),))
        if self._peek().kind == "(":
            self._take()
            inner = self._any_of()
            self._expect(")")
            return inner
        first = self._peek().word
        if first is None or first.raw == "]]":
            self._unexpected()
        self._take()
        if first.raw in UNARY:
            operand = self._peek().word
            if operand is not None and operand.raw != "]]":
                self._take()
                return Condition(first.raw, (operand,))
        operator = self._peek().operator or self._raw()
        if operator in ("<", ">") or operator in BINARY:
            self._take()
            return Condition(operator, (first, self._operand(operator)))
        return Condition("", (first,))

    def _operand(self, operator: str) -> Word:
        lexer = self._lexer
        if operator == "=~" and isinstance(lexer, BashLexer):
            return lexer.regular_expression()
        word = self._take().word
        if word is None:
            raise SyntaxProblem("unexpected", lexer.line, near="newline")
        return word


def _substituted(lexer: Lexer) -> Sequence:
    return BashParser(lexer).substitution()


def bash_parser(source: str, line: int = 1) -> BashParser:
    """Return a parser of bash at the start of `source`."""
    return BashParser(BashLexer(source, _substituted, line))
