"""How ANTLR's parsers go on after a token that does not fit: what they say, skip and make up.

The parser says at each place what may come there (`expected` sets of token types, `END` in them where the rule may be
over) and with each rule what may follow it; everything else follows from that.

Source: ANTLR 4's DefaultErrorStrategy (github.com/antlr4-go/antlr error_strategy.go), whose texts cel-go shows; its
limits in github.com/google/cel-go v0.29 parser/parser.go.
"""

from __future__ import annotations

from typing import Final

from env_core.cel._ast import Node
from env_core.cel._lexer import EOF, HIDDEN, NAMES, Token, tokenize
from env_core.cel._source import NOWHERE, Issues

END: Final = -2
"""In a set of token types: the rule may end here, and what follows it counts, too."""
Kinds = frozenset[int]

_RECOVERIES_MAX: Final = 30
_LOOKAHEAD_MAX: Final = 256
_RESERVED: Final = frozenset({"true", "false", "null"})


class Mismatch(Exception):
    """A rule cannot go on; `node` is what it has read so far, as far as that means something."""

    def __init__(self, message: str, offset: int) -> None:
        super().__init__(message)
        self.message = message
        self.offset = offset
        self.node: Node | None = None


class GiveUp(Exception):
    """The text is too broken, or too deeply nested, to read on."""


class Recovering:
    """A stream of tokens and what ANTLR's error strategy does with it."""

    __slots__ = (
        "_all", "_follows", "_index", "_is_recovering", "_last_index", "_last_places", "_places",
        "_recoveries", "issues", "tokens",
    )  # fmt: skip

    def __init__(self, text: str) -> None:
        self.issues = Issues(text)
        self._all = tokenize(text, self.issues)
        self.tokens = [token for token in self._all if token.kind not in HIDDEN]
        self._index = 0
        self._follows: list[Kinds] = []
        self._is_recovering = False
        self._last_index = -1
        self._last_places: set[str] = set()
        self._places = ""
        self._recoveries = 0

    @property
    def current(self) -> Token:
        """The token that comes next."""
        return self.tokens[self._index]

    def kind(self, ahead: int = 0) -> int:
        """Return the type of a token further on; behind the end there is only the end."""
        index = self._index + ahead
        return self.tokens[index].kind if index < len(self.tokens) else EOF

    def consume(self) -> Token:
        """Take the next token."""
        token = self.tokens[self._index]
        if token.kind != EOF:
            self._index += 1
        return token

    def take(self) -> Token:
        """Take the next token, which is known to fit."""
        self._is_recovering = False
        return self.consume()

    def match(self, place: str, kind: int, after: Kinds) -> Token:
        """Take a token of one type; `after` is what may come behind it.

        Raises:
            Mismatch: there is none, and neither skipping a token nor making one up helps.
        """
        self._places = place
        if self.kind() == kind:
            return self.take()
        self._count()
        expected = self._resolved(frozenset({kind}))
        if self._deleted(expected):
            return self.consume()
        if self.kind() in self._resolved(after):
            here = self.current
            self._report(f"missing {_named(expected)} at {_quoted(here.text)}", here)
            return Token(kind, "<missing>", here.offset, here.offset)
        raise self._mismatch(expected)

    def sync(self, place: str, expected: Kinds) -> None:
        """Look whether the next token may begin an alternative here.

        Raises:
            Mismatch: it may not, and leaving it out does not help.
        """
        self._places = place
        if self._is_recovering or END in expected or self.kind() in expected:
            return
        resolved = self._resolved(expected)
        if not self._deleted(resolved):
            raise self._mismatch(resolved)

    def sync_back(self, place: str, expected: Kinds) -> None:
        """Look whether the next token may go on with a loop; skip what may not."""
        self._places = place
        if self._is_recovering or self.kind() in expected:
            return
        resolved = self._resolved(expected)
        here = self.current
        self._report(f"extraneous input {_quoted(here.text)} expecting {_named(resolved)}", here)
        self._consume_until(resolved | self._recovery_set())

    def no_alternative(self, ahead: int) -> Mismatch:
        """Return the complaint about tokens that begin like something and go on like nothing."""
        start = self.current
        offending = self.tokens[min(self._index + ahead, len(self.tokens) - 1)]
        if start.kind == EOF:
            text = "<EOF>"
        else:
            within = [
                each.text
                for each in self._all
                if start.offset <= each.offset <= offending.offset and each.kind != EOF
            ]
            text = "".join(within)
        if len(text) > 1 and text[1:] in _RESERVED:
            return Mismatch(f"mismatched input '{text[1:]}' expecting IDENTIFIER", offending.offset)
        return Mismatch(f"no viable alternative at input {_quoted(text)}", offending.offset)

    def enter(self, follow: Kinds) -> None:
        """Begin a rule, behind which `follow` may come."""
        self._follows.append(follow)

    def leave(self) -> None:
        """End the innermost rule."""
        self._follows.pop()

    def recover(self, error: Mismatch) -> None:
        """Complain, and skip to what may come behind one of the rules that are being read."""
        if not self._is_recovering:
            self._is_recovering = True
            self.issues.add(error.offset, f"Syntax error: {error.message}")
        self._count()
        if self._last_index == self._index and self._places in self._last_places:
            self.consume()
        if self._last_index != self._index:
            self._last_index = self._index
        self._last_places.add(self._places)
        self._consume_until(self._recovery_set(), _LOOKAHEAD_MAX)

    def _count(self) -> None:
        if self._recoveries == _RECOVERIES_MAX:
            text = f"Syntax error: error recovery attempt limit exceeded: {_RECOVERIES_MAX}"
            self.issues.add(0, text)
            raise GiveUp
        self._recoveries += 1

    def _mismatch(self, expected: Kinds) -> Mismatch:
        here = self.current
        return Mismatch(f"mismatched input {_quoted(here.text)} expecting {_named(expected)}", here.offset)

    def _deleted(self, expected: Kinds) -> bool:
        """Leave the next token out if the one behind it fits."""
        if self.kind(1) not in expected:
            return False
        here = self.current
        self._report(f"extraneous input {_quoted(here.text)} expecting {_named(expected)}", here)
        self.consume()
        self._is_recovering = False
        return True

    def _report(self, message: str, token: Token) -> None:
        if not self._is_recovering:
            self._is_recovering = True
            self.issues.add(token.offset, f"Syntax error: {message}")

    def _resolved(self, kinds: Kinds) -> Kinds:
        """Return a set without `END`: with what follows the rules that may be over."""
        found = set(kinds)
        for follow in reversed(self._follows):
            if END not in found:
                return frozenset(found)
            found.discard(END)
            found |= follow
        if END in found:
            found.discard(END)
            found.add(EOF)
        return frozenset(found)

    def _recovery_set(self) -> Kinds:
        return frozenset().union(*self._follows) - {END}

    def _consume_until(self, kinds: Kinds, limit: int = 0) -> None:
        count = 0
        while self.kind() != EOF and self.kind() not in kinds:
            if limit and count >= limit:
                self.issues.add(NOWHERE, f"error recovery token lookahead limit exceeded: {limit}")
                raise GiveUp
            self.consume()
            count += 1


def _named(kinds: Kinds) -> str:
    names = ["<EOF>" if kind == EOF else NAMES[kind] for kind in sorted(kinds)]
    return names[0] if len(names) == 1 else "{" + ", ".join(names) + "}"


def _quoted(text: str) -> str:
    shown = text.replace("\t", "\\t").replace("\n", "\\n").replace("\r", "\\r")
    return f"'{shown}'"
