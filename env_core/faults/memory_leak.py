"""A release never gives its memory back: its containers are killed at their limit, start anew, and fill up again."""

from __future__ import annotations

from typing import Final

from env_core.cluster import Cluster
from env_core.faults import _releases
from env_core.faults._mechanisms import Mechanism
from env_core.faults._model import Case, Decoy, Diagnosis, Evidence, Family, Fault, Params, Sign
from env_core.faults._words import (
    container_of,
    deployments,
    pass_time,
    restarted,
    rolled_out,
    runs_image,
    stopped,
    undone,
)
from env_core.objects.quantity import to_bytes
from env_core.scenarios._app import Base, Workload
from env_core.sim.rng import Stream
from env_core.verify.checks import Check
from env_core.verify.trials import passes
from env_core.verify.view import View

_ROUNDS: Final = 4


def _places(base: Base) -> tuple[str, ...]:
    return tuple(role for role in deployments(base) if _releases.can_leak(base, base.workloads[role]))


def _params(stream: Stream, base: Base, place: Workload) -> Params:
    horizon_s = _releases.leak_horizon_s(base, place)
    return {
        "tag": stream.choice(place.leaking_tags),
        "wait_s": str(horizon_s + 30 + stream.below(horizon_s)),
    }


def _inject(case: Case, cluster: Cluster) -> None:
    _releases.roll_out(cluster, case.place, case.params["tag"])
    cluster.advance(60_000)
    _releases.users_come(case, cluster, _ROUNDS)
    pass_time(cluster, case)


def _killed(view: View, case: Case) -> str:
    return _releases.killed_for_memory(view.pods_of(case.namespace, case.name))


def killed_for_memory(case: Case) -> Check:
    """Some pod of the workload has had a container killed at its memory limit."""

    def fails(view: View) -> str:
        return "" if _killed(view, case) else f"no container of {case.name} was killed for its memory"

    return Check("containers are killed for their memory", fails)


def keeps_within_memory(case: Case) -> Check:
    """No container of the workload's pods has been killed at its memory limit."""

    def fails(view: View) -> str:
        name = _killed(view, case)
        return f"pod {name} was killed for its memory" if name else ""

    return Check(f"{case.name} keeps within its memory", fails)


def _more_memory(case: Case) -> str:
    owner = case.base.cluster.store.get(case.place.resource, case.namespace, case.name)
    assert owner is not None
    limit = to_bytes(str(container_of(owner, case.place.container)["resources"]["limits"]["memory"]))
    return (
        f"kubectl -n {case.namespace} set resources deployment/{case.name} -c {case.place.container} "
        f"--limits=memory={2 * limit >> 20}Mi"
    )


FAMILY = Family(
    id="RS-03",
    tier=1,
    summary="The memory of a release grows without bound until its containers are killed.",
    partners=("RS-01", "PR-01", "PR-02"),
    source="tests/golden/kubelet/timelines (OOM kills); FAULTS RS-03",
    faults=(
        Fault(
            id="leaking-release",
            sign=Sign.PODS,
            level=3,
            places=_places,
            params=_params,
            inject=_inject,
            symptoms=lambda case: (killed_for_memory(case),),
            evidence=lambda case: (
                Evidence(command=f"kubectl describe pods {_releases.selected(case)}", shows="OOMKilled"),
                Evidence(
                    command=f"kubectl -n {case.namespace} rollout history deployment/{case.name}",
                    shows=f"release {case.params['tag']}",
                ),
            ),
            repaired_when=lambda case: (
                runs_image(case, *_releases.good_tags(case.place)),
                keeps_within_memory(case),
                rolled_out(case),
            ),
            trials=lambda case: (passes(1_200 * _releases.leak_horizon_s(case.base, case.place)),),
            allowed=lambda case: (case.allow(case.container("image")),),
            repairs=(
                lambda case: (undone(case),),
                lambda case: (_releases.set_image(case, _releases.patched(case.params["tag"])),),
            ),
            decoys=(
                Decoy(script=lambda case: (restarted(case),)),
                Decoy(script=lambda case: (_more_memory(case),)),
                Decoy(
                    script=lambda case: (
                        _releases.set_image(case, case.place.tag),
                        stopped(case),
                    )
                ),
            ),
            diagnosis=lambda case: Diagnosis(
                kind="Deployment", namespace=case.namespace, name=case.name, mechanism=Mechanism.MEMORY
            ),
        ),
    ),
)
