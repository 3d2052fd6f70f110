"""Two faults in one: apart from each other on the way of one request, or one behind the other in the same workload.

What a compound needs is made of what its halves declare: the scripts of one follow those of the other, and nothing less
than both halves is a repair.

Source: FAULTS §19 (CX-01, CX-02), §21.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Final

from env_core.cluster import Cluster
from env_core.faults._model import Case, Decoy, Fault, Params, Script
from env_core.scenarios._app import Base, Workload
from env_core.sim.rng import Stream

_FIRST: Final = "first."
_SECOND: Final = "second."
_ROLE: Final = "role"
"""Under `second.`: the role of the workload that the second half breaks."""

_Half = Callable[[Case], Case]


def apart(id: str, first: Fault, second: Fault, *, level: int = 5) -> Fault:
    """Return the fault that two workloads on the way of one request are broken, each in its own way.

    Both halves show, and each alone is no repair.
    """

    def seconds(base: Base, role: str) -> tuple[str, ...]:
        near = {other for entry in base.entries if role in entry.through for other in entry.through}
        return tuple(other for other in second.places(base) if other in near and other != role)

    return _both(id, first, second, seconds, is_masked=False, level=level)


def masked(id: str, first: Fault, second: Fault, *, level: int = 5) -> Fault:
    """Return the fault that one workload is broken twice, so that the second half shows itself only after the first's repair.

    The second half is there first: undoing the first half's release leads to a revision that has it.
    """

    def seconds(base: Base, role: str) -> tuple[str, ...]:
        return tuple(other for other in second.places(base) if other == role)

    return _both(id, first, second, seconds, is_masked=True, level=level)


def half_of(case: Case, prefix: str) -> Case:
    """Return a half's own case."""
    own = {name.removeprefix(prefix): value for name, value in case.params.items() if name.startswith(prefix)}
    role = own.pop(_ROLE, case.place.role)
    return replace(case, place=case.base.workloads[role], params=own)


def _first(case: Case) -> Case:
    return half_of(case, _FIRST)


def _second(case: Case) -> Case:
    return half_of(case, _SECOND)


def _prefixed(params: Params, prefix: str) -> dict[str, str]:
    return {f"{prefix}{name}": value for name, value in params.items()}


def _both(
    id: str, first: Fault, second: Fault, seconds: Callable[[Base, str], tuple[str, ...]], *, is_masked: bool, level: int
) -> Fault:  # fmt: skip
    def places(base: Base) -> tuple[str, ...]:
        return tuple(role for role in first.places(base) if seconds(base, role))

    def params(stream: Stream, base: Base, place: Workload) -> Params:
        role = stream.choice(seconds(base, place.role))
        found: Mapping[str, str] = {
            **_prefixed(first.params(stream, base, place), _FIRST),
            **_prefixed(second.params(stream, base, base.workloads[role]), _SECOND),
            f"{_SECOND}{_ROLE}": role,
        }
        return found

    def inject(case: Case, cluster: Cluster) -> None:
        if is_masked:
            second.inject(_second(case), cluster)
            first.inject(_first(case), cluster)
        else:
            first.inject(_first(case), cluster)
            second.inject(_second(case), cluster)

    return Fault(
        id=id,
        places=places,
        params=params,
        inject=inject,
        symptoms=lambda case: (
            *first.symptoms(_first(case)),
            *(() if is_masked else second.symptoms(_second(case))),
        ),
        evidence=lambda case: (
            *first.evidence(_first(case)),
            *(() if is_masked else second.evidence(_second(case))),
        ),
        repaired_when=lambda case: (
            *first.repaired_when(_first(case)),
            *second.repaired_when(_second(case)),
        ),
        allowed=lambda case: (*first.allowed(_first(case)), *second.allowed(_second(case))),
        repairs=_repairs(first, second, is_masked=is_masked),
        decoys=_decoys(first, second),
        diagnosis=lambda case: (*first.causes(_first(case)), *second.causes(_second(case))),
        sign=first.sign,
        trials=lambda case: (*first.trials(_first(case)), *second.trials(_second(case))),
        harms=lambda case, cluster: [
            *first.harms(_first(case), cluster),
            *second.harms(_second(case), cluster),
        ],
        level=level,
        halves=(first, second),
    )


def _then(one: Callable[[Case], Script], half: _Half, other: Callable[[Case], Script], rest: _Half) -> Callable[[Case], Script]:  # fmt: skip
    return lambda case: (*one(half(case)), *other(rest(case)))


def _repairs(first: Fault, second: Fault, *, is_masked: bool) -> tuple[Callable[[Case], Script], ...]:
    """Return both halves' scripts, in either order where they are apart.

    Behind a mask the second half's first repair is taken: one that rolls back would bring the first half back.
    """
    found = [
        _then(first.repairs[0], _first, second.repairs[0], _second),
        _then(first.repairs[-1], _first, second.repairs[0], _second),
    ]
    if not is_masked:
        found.append(_then(second.repairs[-1], _second, first.repairs[-1], _first))
    return tuple(found)


def _decoys(first: Fault, second: Fault) -> tuple[Decoy, ...]:
    """Return each half's repair alone, and each half's decoys beside the other half's repair."""

    def alone(fault: Fault, half: _Half) -> Callable[[Case], Script]:
        return lambda case: fault.repairs[0](half(case))

    found = [Decoy(script=alone(first, _first)), Decoy(script=alone(second, _second))]
    for decoy in first.decoys:
        script = _then(decoy.script, _first, second.repairs[0], _second)
        found.append(Decoy(script=script, is_harmful=decoy.is_harmful))
    for decoy in second.decoys:
        script = _then(first.repairs[0], _first, decoy.script, _second)
        found.append(Decoy(script=script, is_harmful=decoy.is_harmful))
    return tuple(found)
