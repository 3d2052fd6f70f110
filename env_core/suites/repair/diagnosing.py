"""The last word of an episode: `submit` with what was wrong, scored apart from the repair."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from env_core.faults import Diagnosis
from env_core.faults._mechanisms import Mechanism

USAGE: Final = (
    "usage: submit [--kind=KIND --name=NAME [--namespace=NAMESPACE]] [--mechanism=MECHANISM] [--confidence=0..1]\n"
    f"mechanisms: {', '.join(entry.name.lower().replace('_', '-') for entry in Mechanism)}\n"
)
_FLAGS: Final = ("kind", "name", "namespace", "mechanism", "confidence")


class Unreadable(ValueError):
    """Raised for a submission that cannot be read; nothing is submitted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Submission:
    """What was submitted; "" and None for what was left out."""

    kind: str = ""
    namespace: str = ""
    name: str = ""
    mechanism: Mechanism | None = None
    confidence: float = 1.0

    def marks(self, truth: Diagnosis) -> dict[str, float]:
        """Return how right it is: the object, the mechanism, both, and the Brier score of its confidence (0 is best)."""
        is_object = (self.kind.lower(), self.namespace, self.name) == (
            truth.kind.lower(),
            truth.namespace,
            truth.name,
        )
        is_mechanism = self.mechanism is truth.mechanism
        is_right = is_object and is_mechanism
        return {
            "object": float(is_object),
            "mechanism": float(is_mechanism),
            "right": float(is_right),
            "brier": round((self.confidence - is_right) ** 2, 4),
        }


def is_submission(line: str) -> bool:
    """Whether a line is one."""
    return line.split(None, 1)[:1] == ["submit"]


def submission_of(truth: Diagnosis) -> str:
    """Return the line that submits a diagnosis."""
    mechanism = truth.mechanism.name.lower().replace("_", "-")
    where = f" --namespace={truth.namespace}" if truth.namespace else ""
    return f"submit --kind={truth.kind} --name={truth.name}{where} --mechanism={mechanism} --confidence=1"


def read(line: str) -> Submission:
    """Return what a line submits.

    Raises:
        Unreadable: with a text that says what to send instead.
    """
    try:
        words = shlex.split(line)[1:]
    except ValueError as error:
        raise Unreadable(f"submit: {error}\n{USAGE}") from None
    given = _flags(words)
    confidence = _confidence(given.get("confidence", "1"))
    mechanism = _mechanism(given["mechanism"]) if "mechanism" in given else None
    return Submission(
        kind=given.get("kind", ""),
        namespace=given.get("namespace", ""),
        name=given.get("name", ""),
        mechanism=mechanism,
        confidence=confidence,
    )


def _flags(words: Sequence[str]) -> dict[str, str]:
    found: dict[str, str] = {}
    rest = list(words)
    while rest:
        name, has_value, value = rest.pop(0).partition("=")
        if not name.startswith("--") or name[2:] not in _FLAGS:
            raise Unreadable(f"submit: unknown argument {name!r}\n{USAGE}")
        if not has_value:
            if not rest:
                raise Unreadable(f"submit: {name} needs a value\n{USAGE}")
            value = rest.pop(0)
        if name[2:] in found:
            raise Unreadable(f"submit: {name} is given twice\n{USAGE}")
        found[name[2:]] = value
    return found


def _confidence(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0.0 <= value <= 1.0:
        raise Unreadable(f"submit: --confidence must be a number from 0 to 1, got {text!r}\n{USAGE}")
    return value


def _mechanism(text: str) -> Mechanism:
    try:
        return Mechanism[text.upper().replace("-", "_")]
    except KeyError:
        raise Unreadable(f"submit: unknown mechanism {text!r}\n{USAGE}") from None
