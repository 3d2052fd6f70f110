"""What the readers of two dialects of SQL have in common: words one after the other, bounds of depth, and a meter of work."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Generic, Protocol, TypeVar


class Word(Protocol):
    """A token of a statement."""

    @property
    def kind(self) -> str:
        """Whether it is a "name", a "text", a "number", a "sign"…"""

    @property
    def text(self) -> str:
        """What it stands for; of words in small letters."""


W = TypeVar("W", bound=Word)
X = TypeVar("X")


class Words(ABC, Generic[W]):
    """Takes one token after another."""

    def __init__(self, tokens: Sequence[W]) -> None:
        self.tokens = tokens
        self.place = 0
        self._depth = 0
        self._chained = 0

    @abstractmethod
    def refused(self) -> Exception:
        """Return the syntax error at the next token."""

    @abstractmethod
    def too_deep(self) -> Exception:
        """Return what is said of an expression that is too deep, or too long."""

    @abstractmethod
    def is_word(self, token: W, word: str) -> bool:
        """Whether a token is a word of the language, not a name or a text that reads the same."""

    DEPTH_MAX: int
    CHAIN_MAX: int

    def peek(self, ahead: int = 0) -> W | None:
        """Return a token that is still to be read."""
        place = self.place + ahead
        return self.tokens[place] if place < len(self.tokens) else None

    def is_next(self, *words: str) -> bool:
        """Whether these words come next."""
        for ahead, word in enumerate(words):
            token = self.peek(ahead)
            if token is None or not self.is_word(token, word):
                return False
        return True

    def take(self, *words: str) -> bool:
        """Read these words, if they come next."""
        if not self.is_next(*words):
            return False
        self.place += len(words)
        return True

    def need(self, *words: str) -> None:
        """Read these words; raise the syntax error when something else comes."""
        for word in words:
            if not self.take(word):
                raise self.refused()

    def literal(self) -> str:
        """Read a text in quotes; raise the syntax error when there is none."""
        token = self.peek()
        if token is None or token.kind != "text":
            raise self.refused()
        self.place += 1
        return token.text

    def digits(self, longest: int) -> int:
        """Read a whole number that stands for itself; raise the syntax error when there is none."""
        token = self.peek()
        if token is None or token.kind != "number" or not token.text.isdigit() or len(token.text) > longest:
            raise self.refused()
        self.place += 1
        return int(token.text)

    def listed(self, read: Callable[[], X]) -> tuple[X, ...]:
        """Read some things in brackets, with commas between them."""
        self.need("(")
        found = [read()]
        while self.take(","):
            found.append(read())
        self.need(")")
        return tuple(found)

    def deeper(self) -> None:
        """Go one level further into an expression; raise when that is too deep."""
        self._depth += 1
        if self._depth > self.DEPTH_MAX:
            raise self.too_deep()

    def back(self) -> None:
        """Come back from a level."""
        self._depth -= 1

    def chained(self) -> None:
        """Count an operator of an expression; raise when there are too many."""
        self._chained += 1
        if self._chained > self.CHAIN_MAX:
            raise self.too_deep()

    def begin(self) -> None:
        """Begin an expression: inside of no other one, its operators are counted anew."""
        if not self._depth:
            self._chained = 0
        self.deeper()


class Meter(ABC):
    """Counts what one statement costs, in units of about a microsecond."""

    LIMIT: int

    def __init__(self) -> None:
        self.done = 0

    @abstractmethod
    def refusal(self) -> Exception:
        """Return what is said of a statement that causes more work than it may."""

    def spend(self, units: int) -> None:
        """Count work that is about to be done; raise when it is more than one statement may cause."""
        if self.done + units > self.LIMIT:
            raise self.refusal()
        self.done += units
