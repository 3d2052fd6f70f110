"""Reads SQL expressions of MariaDB, one token after another.

Source: https://mariadb.com/kb/en/operator-precedence/; MariaDB/server sql/sql_yacc.yy.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from env_core.programs._mariadb_errors import CHAIN_MAX, DEPTH_MAX, Problem, unsupported
from env_core.programs._mariadb_syntax import RESERVED, Node, Token, near, tokens
from env_core.programs._sql_reading import Words

_COMPARISONS: Final = ("<=>", "=", "<", ">", "<=", ">=", "<>", "!=")
_CALLED: Final = frozenset(
    ("char", "repeat", "replace", "left", "right", "mod", "values", "database", "insert", "if")
)
"""Reserved words that are functions, too."""


class Reader(Words[Token]):
    """Takes one token after another."""

    DEPTH_MAX, CHAIN_MAX = DEPTH_MAX, CHAIN_MAX

    def __init__(self, text: str) -> None:
        super().__init__(tokens(text))
        self.text = text

    def refused(self, back: int = 0) -> Exception:
        """Return the syntax error at the next token, or so many before it."""
        token = self.peek(-back)
        return near(self.text, len(self.text) if token is None else token.at)

    def too_deep(self) -> Problem:
        """Return what is said of an expression that is too deep."""
        return Problem(1064, "memory exhausted near '' at line 1")

    def is_word(self, token: Token, word: str) -> bool:
        """Whether a token is a word of the language."""
        return token.kind in ("name", "sign") and token.text == word and token.shown[0] != "`"

    def name(self) -> str:
        """Read a name as it is written."""
        token = self.peek()
        if token is None or token.kind != "name" or (token.text in RESERVED and token.shown[0] != "`"):
            raise self.refused()
        self.place += 1
        return token.shown[1:-1] if token.shown[0] == "`" else token.shown

    def word(self) -> str:
        """Read a name or a text."""
        token = self.peek()
        if token is not None and token.kind == "text":
            self.place += 1
            return token.text
        return self.name()

    def whole(self) -> int:
        """Read a whole number that stands for itself."""
        return self.digits(18)

    def table(self) -> tuple[str, str]:
        """Read the name of a table, perhaps with its database."""
        first = self.name()
        return (first, self.name()) if self.take(".") else ("", first)

    def names(self) -> tuple[str, ...]:
        """Read names in brackets."""
        return self.listed(self.name)

    # Expressions, by rising precedence.

    def expression(self) -> Node:
        """Read an expression.

        Raises:
            Problem: there is none, or it is too deep.
        """
        self.begin()
        start = self.peek()
        found = self._disjunction()
        self.back()
        last = self.peek(-1)
        if start is None or last is None:
            return found
        return found._replace(shown=self.text[start.at : last.end])

    def _operator(self, sign: str, *parts: Node) -> Node:
        self.chained()
        return Node("operator", sign, parts)

    def _chain(self, signs: dict[str, str], below: Callable[[], Node]) -> Node:
        left = below()
        while (
            (token := self.peek()) is not None
            and token.kind in ("sign", "name")
            and token.text in signs
            and token.shown[0] != "`"
        ):
            self.place += 1
            left = self._operator(signs[token.text], left, below())
        return left

    def _disjunction(self) -> Node:
        return self._chain({"or": "or", "||": "or", "xor": "xor"}, self._conjunction)

    def _conjunction(self) -> Node:
        return self._chain({"and": "and", "&&": "and"}, self._negation)

    def _negation(self) -> Node:
        if self.take("not"):
            self.deeper()
            found = self._operator("not", self._negation())
            self.back()
            return found
        return self._comparison()

    def _comparison(self) -> Node:
        left = self._sum()
        while True:
            token = self.peek()
            if token is None:
                return left
            if token.kind == "sign" and token.text in _COMPARISONS:
                self.place += 1
                left = self._operator(token.text, left, self._sum())
            elif self.take("is"):
                is_not = self.take("not")
                what = "true" if self.take("true") else "false" if self.take("false") else ""
                if not what:
                    self.need("null")
                found = self._operator(f"is {what or 'null'}", left)
                left = self._operator("not", found) if is_not else found
            else:
                is_not = self.is_next("not") and self.take("not")
                found_ = self._set(left)
                if found_ is None:
                    if is_not:
                        raise self.refused()
                    return left
                left = self._operator("not", found_) if is_not else found_

    def _set(self, left: Node) -> Node | None:
        if self.take("like"):
            return self._operator("like", left, self._sum())
        if self.take("between"):
            low = self._sum()
            self.need("and")
            return self._operator("between", left, low, self._sum())
        if self.take("in"):
            self.need("(")
            if self.is_next("select"):
                raise unsupported("subquery")
            parts = [self.expression()]
            while self.take(","):
                parts.append(self.expression())
            self.need(")")
            return self._operator("in", left, *parts)
        if self.is_next("regexp") or self.is_next("rlike"):
            raise unsupported("REGEXP")
        return None

    def _sum(self) -> Node:
        return self._chain({"+": "+", "-": "-"}, self._product)

    def _product(self) -> Node:
        return self._chain({"*": "*", "/": "/", "%": "%", "mod": "%", "div": "div"}, self._primary)

    def _primary(self) -> Node:
        token = self.peek()
        if token is None:
            raise self.refused()
        if token.kind in ("number", "text"):
            self.place += 1
            return Node(token.kind, token.text)
        if token.kind == "variable":
            self.place += 1
            return Node("variable", token.text)
        if token.kind == "sign" and token.text in ("-", "+", "!"):
            self.place += 1
            self.deeper()
            found = self._operator(
                {"-": "negative", "+": "positive", "!": "not"}[token.text], self._primary()
            )
            self.back()
            return found
        if self.take("("):
            if self.is_next("select"):
                raise unsupported("subquery")
            found = self.expression()
            self.need(")")
            return found
        return self._named(token)

    def _named(self, token: Token) -> Node:
        is_bare = token.kind == "name" and token.shown[0] != "`"
        if is_bare and token.text in ("null", "true", "false"):
            self.place += 1
            return Node(token.text, "")
        if is_bare and token.text in ("case", "exists", "interval"):
            raise unsupported(token.text.upper())
        after = self.peek(1)
        if is_bare and token.text in _CALLED and after is not None and after.text == "(":
            self.place += 1
            return self._call(token.shown)
        name = self.name()
        if self.is_next("("):
            return self._call(name)
        if self.take("."):
            second = self.name()
            if self.take("."):
                second = self.name()
            return Node("column", second, (Node("table", name),))
        return Node("column", name)

    def _call(self, name: str) -> Node:
        self.need("(")
        parts: list[Node] = []
        if self.take("*"):
            parts.append(Node("all", "*"))
        elif not self.is_next(")"):
            if self.take("distinct"):
                raise unsupported("DISTINCT in functions")
            parts.append(self.expression())
            while self.take(","):
                parts.append(self.expression())
        self.need(")")
        return Node("call", name, tuple(parts))
