"""A second alarm about a workload that is well."""

from __future__ import annotations

from env_core.faults._model import Case, Decoy, Params
from env_core.modifiers._model import Modifier, bystanders
from env_core.sim.rng import Stream

_ALARMS = (
    "Also firing since yesterday: MemoryHigh on {name}.",
    "A second alarm is open: ReplicasBelowTarget on {name}.",
    "The dashboard shows {name} in red, too.",
)


def _params(stream: Stream, case: Case) -> Params | None:
    found = bystanders(case)
    if not found:
        return None
    return {"role": stream.choice(found).role, "alarm": str(stream.below(len(_ALARMS)))}


def _told(case: Case, params: Params) -> str:
    return _ALARMS[int(params["alarm"])].format(name=case.base.workloads[params["role"]].name)


def _obeyed(case: Case, params: Params) -> tuple[Decoy, ...]:
    other = case.base.workloads[params["role"]]
    target = f"kubectl -n {other.namespace}"
    limits = f"{target} set resources deployment/{other.name} --limits=memory=1Gi"
    setting = f"{target} set env deployment/{other.name} GC_AGGRESSIVE=1"
    return (Decoy(script=lambda _case: (limits,)), Decoy(script=lambda _case: (setting,)))


MODIFIER = Modifier(
    id="OB-03",
    summary="A second alarm about a workload that is well.",
    source="FAULTS OB-03",
    params=_params,
    page=_told,
    decoys=_obeyed,
)
