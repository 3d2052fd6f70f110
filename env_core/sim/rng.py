"""Named, counter-based random streams: one more draw in one place shifts nothing elsewhere."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import TypeVar

T = TypeVar("T")

SAFE_ALPHABET = "bcdfghjklmnpqrstvwxz2456789"
"""Characters of generated name suffixes. Source: k8s.io/apimachinery pkg/util/rand, `alphanums`."""


class Stream:
    """One named sequence of draws; draw *n* is a hash of (seed, name, n)."""

    __slots__ = ("_counters", "_name", "_prefix")

    def __init__(self, prefix: bytes, name: str, counters: dict[str, int]) -> None:
        self._prefix = prefix
        self._name = name
        self._counters = counters

    def bits(self) -> int:
        """Return the next 64-bit unsigned integer."""
        count = self._counters.get(self._name, 0)
        self._counters[self._name] = count + 1
        return int.from_bytes(hashlib.blake2b(self._prefix + b"%d" % count, digest_size=8).digest(), "big")

    def below(self, bound: int) -> int:
        """Return an integer in [0, bound).

        Raises:
            ValueError: if `bound` is not positive.
        """
        if bound <= 0:
            raise ValueError(f"bound must be positive, got {bound}")
        return self.bits() % bound

    def between(self, low: int, high: int) -> int:
        """Return an integer in [low, high], both included."""
        return low + self.below(high - low + 1)

    def fraction(self) -> float:
        """Return a float in [0, 1)."""
        return (self.bits() >> 11) / (1 << 53)

    def choice(self, options: Sequence[T]) -> T:
        """Return one of `options`, which must be a sequence in a fixed order."""
        return options[self.below(len(options))]

    def sample(self, options: Sequence[T], count: int) -> list[T]:
        """Return `count` different elements of `options`, in drawn order."""
        rest = list(options)
        return [rest.pop(self.below(len(rest))) for _ in range(count)]

    def shuffled(self, options: Sequence[T]) -> list[T]:
        """Return the elements of `options` in a drawn order."""
        return self.sample(options, len(options))

    def suffix(self, length: int = 5) -> str:
        """Return a name suffix as Kubernetes generates them."""
        return "".join(SAFE_ALPHABET[self.below(len(SAFE_ALPHABET))] for _ in range(length))


class Streams:
    """The streams of one world: a seed and one counter for each name that was drawn from."""

    __slots__ = ("_counters", "_open", "seed")

    def __init__(self, seed: int, counters: dict[str, int] | None = None) -> None:
        self.seed = seed
        self._counters = counters if counters is not None else {}
        self._open: dict[str, Stream] = {}

    def stream(self, *name: str | int) -> Stream:
        """Return the stream called `name`; parts are joined by '/'."""
        joined = "/".join(map(str, name))
        found = self._open.get(joined)
        if found is None:
            found = self._open[joined] = Stream(f"{self.seed}/{joined}/".encode(), joined, self._counters)
        return found

    def fork(self, seed: int | None = None) -> Streams:
        """Return streams that continue from here, or, given a new seed, that start afresh."""
        if seed is None or seed == self.seed:
            return Streams(self.seed, dict(self._counters))
        return Streams(seed)
