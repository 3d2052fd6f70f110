"""The last word of an episode: `submit` with what was wrong, scored apart from the repair."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from env_core.faults import Diagnosis
from env_core.faults._mechanisms import Mechanism

USAGE: Final = (
    "usage: submit [--kind=KIND --name=NAME [--namespace=NAMESPACE]] [--mechanism=MECHANISM] [--confidence=0..1]\n"
    "       submit --cause=KIND/NAMESPACE/NAME=MECHANISM[@CONFIDENCE] [--cause=…]   for several causes\n"
    "       submit --mechanism=none   when nothing is wrong\n"
    f"mechanisms: {', '.join(entry.name.lower().replace('_', '-') for entry in Mechanism)}\n"
)
CAUSES_MAX: Final = 8
"""More would be a list of everything that there is."""
_FLAGS: Final = ("kind", "name", "namespace", "mechanism", "confidence")


class Unreadable(ValueError):
    """Raised for a submission that cannot be read; nothing is submitted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """One cause that was named; "" and None for what was left out."""

    kind: str = ""
    namespace: str = ""
    name: str = ""
    mechanism: Mechanism | None = None
    confidence: float = 1.0

    def names(self, truth: Diagnosis) -> bool:
        """Whether it names the object that is wrong."""
        is_there = (self.kind.lower(), self.namespace) == (truth.kind.lower(), truth.namespace)
        return is_there and self.name in (truth.name, *truth.alike)

    def is_right(self, truth: Diagnosis) -> bool:
        """Whether it names object and mechanism."""
        return self.names(truth) and self.mechanism is truth.mechanism


@dataclass(frozen=True, slots=True)
class Submission:
    """What was submitted: the causes in the order in which they were named."""

    claims: tuple[Claim, ...] = ()

    @property
    def says_nothing_is_wrong(self) -> bool:
        """Whether it says that there is no fault, and names none."""
        return bool(self.claims) and all(claim.mechanism is Mechanism.NONE for claim in self.claims)

    def marks(self, truths: Sequence[Diagnosis]) -> dict[str, float]:
        """Return how right it is.

        `object`, `mechanism` and `right` (both) are shares of the causes that were found; `precision` is the share of
        right ones among the claims that it takes, the most confident first, to have found every cause (0 when one is
        missing); `brier` is the mean squared error of the confidences (0 is best, 1 when nothing was claimed).
        """
        ranked = sorted(self.claims, key=lambda claim: -claim.confidence)

        def share(found: Callable[[Claim, Diagnosis], bool]) -> float:
            return sum(any(found(claim, truth) for claim in ranked) for truth in truths) / len(truths)

        right = [any(claim.is_right(truth) for truth in truths) for claim in ranked]
        precision = 0.0
        for count in range(1, len(ranked) + 1):
            if all(any(claim.is_right(truth) for claim in ranked[:count]) for truth in truths):
                precision = sum(right[:count]) / count
                break
        errors = [(claim.confidence - is_right) ** 2 for claim, is_right in zip(ranked, right)]
        return {
            "object": round(share(Claim.names), 4),
            "mechanism": round(share(lambda claim, truth: claim.mechanism is truth.mechanism), 4),
            "right": round(share(Claim.is_right), 4),
            "precision": round(precision, 4),
            "brier": round(sum(errors) / len(errors), 4) if errors else 1.0,
        }


def is_submission(line: str) -> bool:
    """Whether a line is one."""
    return line.split(None, 1)[:1] == ["submit"]


def submission_of(truths: Sequence[Diagnosis]) -> str:
    """Return the line that submits a diagnosis."""
    words = []
    for truth in truths:
        mechanism = truth.mechanism.name.lower().replace("_", "-")
        where = "/".join(part for part in (truth.kind, truth.namespace, truth.name) if part)
        words.append(f"--cause={where}={mechanism}@1" if where else f"--mechanism={mechanism}")
    return " ".join(("submit", *words))


def read(line: str) -> Submission:
    """Return what a line submits.

    Raises:
        Unreadable: with a text that says what to send instead.
    """
    try:
        words = shlex.split(line)[1:]
    except ValueError as error:
        raise Unreadable(f"submit: {error}\n{USAGE}") from None
    given, causes = _flags(words)
    claims = [_claim(text) for text in causes]
    if given:
        claims.insert(
            0,
            Claim(
                kind=given.get("kind", ""),
                namespace=given.get("namespace", ""),
                name=given.get("name", ""),
                mechanism=_mechanism(given["mechanism"]) if "mechanism" in given else None,
                confidence=_confidence(given.get("confidence", "1"), "--confidence"),
            ),
        )
    if len(claims) > CAUSES_MAX:
        raise Unreadable(f"submit: at most {CAUSES_MAX} causes, got {len(claims)}\n{USAGE}")
    return Submission(tuple(claims))


def _claim(text: str) -> Claim:
    where, has_mechanism, rest = text.partition("=")
    parts = where.split("/")
    if not has_mechanism or not 2 <= len(parts) <= 3 or not all(parts):
        raise Unreadable(f"submit: --cause must be KIND/NAMESPACE/NAME=MECHANISM, got {text!r}\n{USAGE}")
    mechanism, has_confidence, confidence = rest.partition("@")
    return Claim(
        kind=parts[0],
        namespace=parts[1] if len(parts) == 3 else "",
        name=parts[-1],
        mechanism=_mechanism(mechanism),
        confidence=_confidence(confidence, "the confidence of --cause") if has_confidence else 1.0,
    )


def _flags(words: Sequence[str]) -> tuple[dict[str, str], list[str]]:
    """Return the flags of the one cause that is spelt out, and the causes in short form."""
    found: dict[str, str] = {}
    causes: list[str] = []
    rest = list(words)
    while rest:
        name, has_value, value = rest.pop(0).partition("=")
        if not name.startswith("--") or name[2:] not in ("cause", *_FLAGS):
            raise Unreadable(f"submit: unknown argument {name!r}\n{USAGE}")
        if not has_value:
            if not rest:
                raise Unreadable(f"submit: {name} needs a value\n{USAGE}")
            value = rest.pop(0)
        if name == "--cause":
            causes.append(value)
            continue
        if name[2:] in found:
            raise Unreadable(f"submit: {name} is given twice\n{USAGE}")
        found[name[2:]] = value
    return found, causes


def _confidence(text: str, what: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0.0 <= value <= 1.0:
        raise Unreadable(f"submit: {what} must be a number from 0 to 1, got {text!r}\n{USAGE}")
    return value


def _mechanism(text: str) -> Mechanism:
    try:
        return Mechanism[text.upper().replace("-", "_")]
    except KeyError:
        raise Unreadable(f"submit: unknown mechanism {text!r}\n{USAGE}") from None
