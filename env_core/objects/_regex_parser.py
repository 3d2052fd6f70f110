"""Translates POSIX basic and extended (and a Perl-like) syntax to Python's."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import lru_cache
from typing import Final

from env_core.objects._regex_work import (
    WAYS_MAX,
    Effort,
    Item,
    literal_start,
    may_explode,
    repetitions,
    ways_of,
)

_ASCII: Final = "".join(map(chr, range(128)))
_EVERY: Final = frozenset(_ASCII)
_DEPTH_MAX: Final = 20
_REPEAT_MAX: Final = 255

_CLASSES: Final = {
    "alpha": "a-zA-Z", "digit": "0-9", "alnum": "a-zA-Z0-9", "upper": "A-Z", "lower": "a-z",
    "space": r" \t\n\r\f\v", "blank": r" \t", "punct": r"!-/:-@\[-`{-~", "xdigit": "0-9a-fA-F",
    "cntrl": r"\x00-\x1f\x7f", "print": " -~", "graph": "!-~",
}  # fmt: skip
_LETTERS: Final = {
    "w": r"\w", "W": r"\W", "s": r"\s", "S": r"\S", "b": r"\b", "B": r"\B", "<": r"\b(?=\w)", ">": r"\b(?<=\w)",
    "`": r"\A", "'": r"\Z",
}  # fmt: skip
_PERL_LETTERS: Final = {
    "d": r"\d",
    "D": r"\D",
    "A": r"\A",
    "z": r"\Z",
    "Z": r"(?=\n?\Z)",
    "h": r"[ \t]",
    "R": r"\r?\n",
}
_CONTROLS: Final = {"n": "\n", "t": "\t", "r": "\r", "f": "\f", "v": "\v", "a": "\a"}


class RegexProblem(Exception):
    """The expression cannot be used; `text` is glibc's where glibc has one."""

    def __init__(self, text: str) -> None:
        """Record the text."""
        super().__init__(text)
        self.text = text


class PosixParser:
    """Reads one expression; `translate` gives the Python source."""

    def __init__(self, pattern: str, syntax: str, *, escapes: bool = False) -> None:
        """Read `pattern` as "basic", "extended" or "perl" syntax."""
        self._text = pattern
        self._position = 0
        self._is_basic = syntax == "basic"
        self._is_perl = syntax == "perl"
        self._escapes = escapes or self._is_perl
        self._depth = 0
        self._groups = 0
        self._repetitions: list[tuple[str, bool]] = []
        self.effort = Effort("", (), ())
        self.is_anchorable = False

    def translate(self) -> str:
        """Return the Python source.

        Raises:
            RegexProblem: if the expression is malformed or could take exponential time.
        """
        source, branches = self._alternatives()
        if ways_of(branches) > WAYS_MAX:
            raise RegexProblem("repetitions could take too long; write the expression with fewer choices")
        if self._position < len(self._text):
            if self._is_basic or self._is_perl:
                raise RegexProblem("Unmatched ) or \\)")
            # A lone ")" is an ordinary character in POSIX extended syntax.
            self._position += 1
            rest = PosixParser(self._text[self._position :], "extended", escapes=self._escapes)
            after = rest.translate()
            self.effort = Effort.of("", [*self._repetitions, *rest._repetitions])
            return f"{source}\\){after}"
        # A leading ".*" begins its match where the text begins; saying so saves trying every other place.
        top = "|" not in self._text.replace("\\|", "|") if self._is_basic else "|" not in self._text
        self.is_anchorable = (
            top and self._text.startswith(".*") and self._text[2:3] not in ("?", "*", "+", "{")
        )
        start = None if self.is_anchorable else literal_start(branches)
        self.effort = Effort.of(start, self._repetitions)
        return source

    def _starts(self, token: str) -> bool:
        """Tell whether the operator `token` (spelled as in extended syntax) comes next."""
        spelled = f"\\{token}" if self._is_basic else token
        return self._text.startswith(spelled, self._position)

    def _skip(self, token: str) -> None:
        self._position += len(token) + self._is_basic

    def _alternatives(self) -> tuple[str, list[list[Item]]]:
        self._depth += 1
        if self._depth > _DEPTH_MAX:
            raise RegexProblem("Regular expression too big")
        branches = [self._branch()]
        while self._starts("|"):
            self._skip("|")
            branches.append(self._branch())
        self._depth -= 1
        return "|".join("".join(item.source for item in branch) for branch in branches), branches

    def _branch(self) -> list[Item]:
        items: list[Item] = []
        while self._position < len(self._text) and not self._starts("|") and not self._at_close():
            item = self._atom(is_first=not items)
            if item is not None:
                items.append(self._quantified(item))
        # Behind the last of the whole nothing can fail, so its length is tried once.
        ends_all = self._depth == 1 and len(items) > 1 and self._position >= len(self._text)
        self._repetitions += repetitions(items[:-1] if ends_all and not items[-1].branches else items)
        return items

    def _at_close(self) -> bool:
        return self._starts(")")

    def _atom(self, *, is_first: bool) -> Item | None:
        text = self._text
        char = text[self._position]
        if self._starts("("):
            return self._group()
        if char == "\\":
            return self._escape()
        self._position += 1
        if char == ".":
            return Item("." if self._is_perl else r"(?s:.)", _EVERY)
        if char == "[":
            return self._bracket()
        if char == "^" and (is_first or not self._is_basic):
            return Item(r"\A", frozenset(), is_single=False, is_optional=True)
        if char == "$" and (not self._is_basic or self._ends_branch()):
            end = r"(?=\n?\Z)" if self._is_perl else r"\Z"
            return Item(end, frozenset(), is_single=False, is_optional=True)
        if char == "*" and is_first and not self._is_basic:
            if self._is_perl:
                raise RegexProblem("nothing to repeat")
            return None
        if char in "+?" and is_first and not self._is_basic:
            return None
        return _literal(char)

    def _ends_branch(self) -> bool:
        rest = self._text[self._position :]
        return not rest or rest.startswith(("\\)", "\\|"))

    def _group(self) -> Item:
        self._skip("(")
        opening = "("
        if self._is_perl and self._text.startswith("?", self._position):
            found = re.compile(r"\?(?::|=|!|<=|<!|P?<([A-Za-z_]\w*)>|[imsx]+:)").match(
                self._text, self._position
            )
            if found is None:
                raise RegexProblem("unrecognized character after (? or (?-")
            opening += f"?P<{found.group(1)}>" if found.group(1) else found.group()
            self._position = found.end()
        if opening == "(" or "P<" in opening:
            self._groups += 1
        source, branches = self._alternatives()
        if not self._starts(")"):
            raise RegexProblem("missing closing parenthesis" if self._is_perl else "Unmatched ( or \\(")
        self._skip(")")
        characters = frozenset().union(*(item.characters for branch in branches for item in branch))
        unbounded = any(item.is_unbounded for branch in branches for item in branch)
        optional = any(all(item.is_optional for item in branch) for branch in branches)
        inner = tuple(tuple(branch) for branch in branches)
        item = Item(
            f"{opening}{source})", characters, False, optional, unbounded, 1, ways_of(branches), inner
        )
        if self._repeats_next() and may_explode(branches):
            raise RegexProblem("nested repetition could take too long; write the expression without it")
        return item

    def _repeats_next(self) -> bool:
        """Tell whether an unbounded (or large) repetition comes next."""
        rest = self._text[self._position :]
        if rest.startswith("*") or self._starts("+"):
            return True
        found = re.match(r"\\\{(\d*)(,?)(\d*)" if self._is_basic else r"\{(\d*)(,?)(\d*)", rest)
        if found is None:
            return False
        low, comma, high = found.groups()
        return bool(comma and not high) or int((high or low or "0")[:4]) > 4

    def _escape(self) -> Item:
        text = self._text
        if self._position + 1 >= len(text):
            raise RegexProblem("Trailing backslash")
        char = text[self._position + 1]
        self._position += 2
        if char.isdecimal() and char != "0":
            if int(char) > self._groups:
                raise RegexProblem("Invalid back reference")
            return Item(f"(?:\\{char})", _EVERY, is_single=False, is_optional=True)
        if self._escapes and char in _CONTROLS:
            return _literal(_CONTROLS[char])
        known = _LETTERS.get(char) or (_PERL_LETTERS.get(char) if self._is_perl else None)
        if known is not None and not (self._is_perl and char in "<>`'"):
            is_place = char in "bB<>`'AzZ"
            return Item(known, frozenset() if is_place else _matched(known), not is_place, is_place)
        return _literal(char)

    def _bracket(self) -> Item:
        text = self._text
        negation = ""
        if text.startswith("^", self._position):
            negation = "^"
            self._position += 1
        if self._position >= len(text):
            raise RegexProblem("Invalid regular expression")
        body: list[str] = []
        is_first = True
        while True:
            if self._position >= len(text):
                raise RegexProblem("Unmatched [, [^, [:, [., or [=")
            char = text[self._position]
            if char == "]" and not is_first:
                self._position += 1
                break
            is_first = False
            found = re.compile(r"\[([:.=])(.*?)\1\]").match(text, self._position)
            if found is not None:
                body.append(_class(found.group(1), found.group(2)))
                self._position = found.end()
                continue
            first = self._bracket_character()
            following = text[self._position + 1 : self._position + 2]
            is_range = text.startswith("-", self._position) and following not in ("]", "")
            if is_range and len(first) == 1:
                self._position += 1
                last = self._bracket_character()
                if len(last) != 1 or last < first:
                    raise RegexProblem("Invalid range end")
                body.append(f"{re.escape(first)}-{re.escape(last)}")
            else:
                body.append(re.escape(first) if len(first) == 1 else first)
        source = f"[{negation}{''.join(body)}]"
        return Item(source, _matched(source))

    def _bracket_character(self) -> str:
        """Take one character of a bracket expression; a class letter of Perl comes back with its backslash."""
        char = self._text[self._position]
        following = self._text[self._position + 1 : self._position + 2]
        self._position += 1
        if char != "\\" or not self._escapes or not following:
            return char
        if following in _CONTROLS:
            self._position += 1
            return _CONTROLS[following]
        if self._is_perl:
            self._position += 1
            return f"\\{following}" if following in "wWsSdD" else following
        if following in '\\]/"-^':
            self._position += 1
            return following
        return char

    def _quantified(self, item: Item) -> Item:
        """Take the repetitions after `item`; several in a row multiply."""
        if not item.characters:
            if not self._is_basic:
                self._bounds()
            return item
        low = 1
        high: int | None = 1
        is_repeated = False
        greed = ""
        while (bounds := self._bounds()) is not None:
            is_repeated = True
            low *= bounds[0]
            high = None if high is None or bounds[1] is None else high * bounds[1]
            following = self._text[self._position : self._position + 1]
            if self._is_perl and following and following in "?+":
                greed = following
                self._position += 1
        if not is_repeated:
            return item
        ways = item.ways
        if high is not None and high > 1:
            ways = high * (ways_of(item.branches, is_repeated=True) if item.branches else ways)
        return replace(
            item,
            source=item.source + _quantifier(low, high) + greed,
            is_optional=item.is_optional or low == 0,
            is_unbounded=item.is_unbounded or high is None,
            repeated=item.source if item.is_single and high is None else item.repeated,
            choices=1 if high is None else item.choices * (high - low + 1),
            ways=ways,
        )

    def _bounds(self) -> tuple[int, int | None] | None:
        """Take a repetition operator and return its bounds, or None when none comes next."""
        if self._text.startswith("*", self._position):
            self._position += 1
            return 0, None
        for token, bounds in (("+", (1, None)), ("?", (0, 1))):
            if self._starts(token):
                self._skip(token)
                return bounds
        if not self._starts("{"):
            return None
        close = r"\}" if self._is_basic else "}"
        start = self._position + 1 + self._is_basic
        end = self._text.find(close, start)
        body = self._text[start:end] if end != -1 else self._text[start:]
        found = re.fullmatch(r"(\d*)(,?)(\d*)", body)
        if end == -1 or found is None or not body:
            if self._is_basic:
                raise RegexProblem("Unmatched \\{" if end == -1 else "Invalid content of \\{\\}")
            # An opening brace that begins no repetition is an ordinary character.
            return None
        low, comma, high = found.groups()
        lowest = int(low or 0)
        highest = int(high) if high else (None if comma else lowest)
        if lowest > _REPEAT_MAX or (highest or 0) > _REPEAT_MAX * 128:
            raise RegexProblem("Regular expression too big")
        if highest is not None and highest < lowest:
            raise RegexProblem("Invalid content of \\{\\}")
        self._position = end + len(close)
        return lowest, highest


def _quantifier(low: int, high: int | None) -> str:
    if (low, high) in ((0, None), (1, None), (0, 1)):
        return {(0, None): "*", (1, None): "+", (0, 1): "?"}[low, high]
    return f"{{{low},{'' if high is None else high}}}"


def _literal(char: str) -> Item:
    return Item(re.escape(char), frozenset((char, char.swapcase())))


def _class(kind: str, name: str) -> str:
    if kind != ":":
        return re.escape(name)
    if name not in _CLASSES:
        raise RegexProblem("Invalid character class name")
    return _CLASSES[name]


@lru_cache(maxsize=512)
def _matched(source: str) -> frozenset[str]:
    """Return the ASCII characters that a one-character expression matches."""
    try:
        return frozenset(re.findall(source, _ASCII))
    except re.error:
        raise RegexProblem("Invalid regular expression") from None
