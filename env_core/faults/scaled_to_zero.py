"""A workload was scaled to zero, by hand or at its source, and left there: its Service has no endpoints."""

from __future__ import annotations

from env_core.cluster import Cluster
from env_core.controllers.configsync import declared
from env_core.faults._mechanisms import Mechanism
from env_core.faults._model import Case, Decoy, Diagnosis, Evidence, Family, Fault, Params, Sign
from env_core.faults._words import (
    behind_services,
    deleted,
    no_endpoints,
    own_pods_answer,
    owner_of,
    pass_time,
    restarted,
    waits,
)
from env_core.faults.declared_source import (
    MAPS,
    REVERTED,
    allowed_in_source,
    as_before,
    declare,
    key_and_text,
    managed,
    reconciled,
    source_of,
    source_shows,
    source_waits,
    write_source,
    wrong_source,
)
from env_core.scenarios._app import Base, Workload
from env_core.scenarios.platform import COLLEAGUE
from env_core.sim.rng import Stream
from env_core.verify.checks import Check
from env_core.verify.checks.entries import some_fail
from env_core.verify.trials import passes
from env_core.verify.view import View

_WAITS_S = (60, 240, 900)
_LATER_MS = 300_000
"""Long enough for whoever scales it to do so again."""


def _places(base: Base) -> tuple[str, ...]:
    """Return the roles of services of several replicas that no autoscaler would bring back from one."""
    found = base.workloads
    scaled = {
        (scaler["metadata"]["namespace"], scaler["spec"]["scaleTargetRef"]["name"])
        for scaler in base.cluster.store.list("horizontalpodautoscalers.autoscaling")
    }
    return tuple(
        role
        for role in behind_services(base)
        if found[role].replicas > 1 and (found[role].namespace, found[role].name) not in scaled
    )


def _params(stream: Stream, _base: Base, _place: Workload) -> Params:
    return waits(stream, _WAITS_S)


def _inject(case: Case, cluster: Cluster) -> None:
    cluster.client(COLLEAGUE).patch(case.place.resource, case.namespace, case.name, {"spec": {"replicas": 0}})
    pass_time(cluster, case)


def counts_as_before(case: Case) -> Check:
    """The workload asks for as many replicas as it had, and for no more than twice as many."""

    def fails(view: View) -> str:
        wanted = owner_of(view, case)["spec"].get("replicas", 1)
        is_enough = case.place.replicas <= wanted <= 2 * case.place.replicas
        return "" if is_enough else f"{case.name} asks for {wanted} replicas"

    return Check(f"{case.name} has as many replicas as before", fails)


def _scaled(case: Case, replicas: int) -> str:
    return f"kubectl -n {case.namespace} scale deployment/{case.name} --replicas={replicas}"


def _patched(case: Case, replicas: int) -> str:
    return f"""kubectl -n {case.namespace} patch deployment {case.name} -p '{{"spec":{{"replicas":{replicas}}}}}'"""


# The count in the source of a workload that is brought back to it


def _declared_params(stream: Stream, _base: Base, _place: Workload) -> Params:
    return {"shown": "replicas: 0", **source_waits(stream)}


def _counted(case: Case, replicas: int) -> str:
    """Return the source's manifests with another count."""
    return key_and_text(case)[1].replace(f"replicas: {case.place.replicas}\n", f"replicas: {replicas}\n")


def declares_the_count(case: Case) -> Check:
    """The source declares what it did before, with as many replicas, or up to twice as many."""
    namespace, name = source_of(case.place)
    key, _ = key_and_text(case)
    counts = range(case.place.replicas, 2 * case.place.replicas + 1)
    wanted = [declared(_counted(case, count)) for count in counts]

    def fails(view: View) -> str:
        source = view.get(MAPS, namespace, name)
        found = declared((source or {}).get("data", {}).get(key, ""))
        return "" if found in wanted else f"configmap {name} declares {case.name} wrongly"

    return Check("the source declares the count", fails)


FAMILY = Family(
    id="RO-03",
    tier=1,
    summary="A workload was scaled to zero and left there.",
    partners=("NW-01", "PR-04", "IM-01"),
    source="tests/golden/l2/flows (scaling); FAULTS RO-03",
    faults=(
        Fault(
            id="left-at-zero",
            sign=Sign.ERRORS,
            places=_places,
            params=_params,
            inject=_inject,
            symptoms=lambda case: (no_endpoints(case), some_fail(case.entries)),
            evidence=lambda case: (
                Evidence(command=f"kubectl -n {case.namespace} get deployment {case.name}", shows="0/0"),
                Evidence(
                    command=f"kubectl -n {case.namespace} describe deployment {case.name}",
                    shows=f"from {case.place.replicas} to 0",
                ),
            ),
            repaired_when=lambda case: (counts_as_before(case), own_pods_answer(case)),
            allowed=lambda case: (case.allow("spec.replicas"),),
            repairs=(
                lambda case: (_scaled(case, case.place.replicas),),
                lambda case: (_patched(case, case.place.replicas + 1),),
            ),
            decoys=(
                Decoy(script=lambda case: (_scaled(case, 1),)),
                Decoy(script=lambda case: (_scaled(case, 3 * case.place.replicas + 5),)),
                Decoy(script=lambda case: (restarted(case),)),
                Decoy(
                    script=lambda case: (
                        f"kubectl -n {case.namespace} autoscale deployment {case.name} --min=1 --max=2",
                    )
                ),
                Decoy(script=lambda case: (deleted(case),), is_harmful=True),
            ),
            trials=lambda _case: (passes(_LATER_MS),),
            diagnosis=lambda case: Diagnosis(
                kind="Deployment", namespace=case.namespace, name=case.name, mechanism=Mechanism.CAPACITY
            ),
        ),
        Fault(
            id="zero-declared",
            sign=Sign.ERRORS,
            level=3,
            places=managed,
            params=_declared_params,
            inject=lambda case, cluster: declare(case, cluster, _counted(case, 0)),
            symptoms=lambda case: (no_endpoints(case), some_fail(case.entries)),
            evidence=source_shows,
            repaired_when=lambda case: (
                declares_the_count(case),
                counts_as_before(case),
                own_pods_answer(case),
            ),
            allowed=lambda case: (*allowed_in_source(case), case.allow("spec.replicas")),
            repairs=(
                lambda case: write_source(case, _counted(case, case.place.replicas + 1)),
                as_before,
                lambda case: write_source(case, _counted(case, case.place.replicas)),
            ),
            decoys=(
                *REVERTED,
                Decoy(script=lambda case: write_source(case, _counted(case, 1))),
                Decoy(script=lambda case: (_scaled(case, case.place.replicas),)),
            ),
            trials=reconciled,
            diagnosis=wrong_source,
        ),
    ),
)
