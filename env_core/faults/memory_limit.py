"""The memory limit is below what the program uses once its cache is full: the kernel kills it again and again."""

from __future__ import annotations

from env_core.cluster import Cluster
from env_core.faults._mechanisms import Mechanism
from env_core.faults._model import Case, Decoy, Diagnosis, Evidence, Family, Fault, Params, Sign
from env_core.faults._resources import (
    MIB,
    cache_bytes,
    keeps_requests,
    memory_fits,
    peak,
    resources_of,
    set_resources,
    without_limit,
)
from env_core.faults._words import (
    deployments,
    pass_time,
    patch_container,
    restarted,
    rolled_out,
    stopped,
    undone,
    waits,
)
from env_core.scenarios._app import Base, Workload
from env_core.sim.rng import Stream
from env_core.verify.checks import Check
from env_core.verify.trials import passes
from env_core.verify.view import View

_CACHE = "CACHE_MB"
_CACHE_MIN = 24 * MIB
"""Smaller caches leave no limit under which the program starts, works for a while, and is killed."""
_ROOM_MIN = 17 * MIB
_SHARES = (60, 70, 80)
"""How much of the cache fits under the limit, in per cent."""
_WAITS_S = (200, 400, 900)
_FILLED_MS = 90_000


def _places(base: Base) -> tuple[str, ...]:
    return tuple(role for role in deployments(base) if cache_bytes(base.workloads[role]) >= _CACHE_MIN)


def _params(stream: Stream, base: Base, place: Workload) -> Params:
    cache = cache_bytes(place)
    room = max(cache * stream.choice(_SHARES) // 100, _ROOM_MIN)
    limit = (place.working_set_bytes - 2 * MIB - cache + room) // MIB
    request = min(int(resources_of(base, place)["requests"]["memory"].removesuffix("Mi")), limit)
    return {
        "limit": f"{limit}Mi",
        "request": f"{request}Mi",
        "cache": str(room // MIB // 3),
        **waits(stream, _WAITS_S),
    }


def _inject(case: Case, cluster: Cluster) -> None:
    memory = {"limits": {"memory": case.params["limit"]}, "requests": {"memory": case.params["request"]}}
    patch_container(cluster, case.place, {"resources": memory})
    pass_time(cluster, case)


def _were_killed(case: Case) -> Check:
    """Some container of the workload was killed for its memory."""

    def fails(view: View) -> str:
        for pod in view.pods_of(case.namespace, case.name):
            for status in pod.get("status", {}).get("containerStatuses") or ():
                for state in (status.get("state") or {}, status.get("lastState") or {}):
                    if (state.get("terminated") or {}).get("reason") == "OOMKilled":
                        return ""
        return f"no container of {case.name} was killed for its memory"

    return Check("containers are killed", fails)


def _owners_limit(case: Case) -> str:
    before = resources_of(case.base, case.place)
    return set_resources(
        case,
        {
            "limits": {"memory": before["limits"]["memory"]},
            "requests": {"memory": before["requests"]["memory"]},
        },
    )


def _smaller_cache(case: Case) -> tuple[str, ...]:
    cache = case.params["cache"]
    need = next((need for need in case.place.needs if need.variable == _CACHE), None)
    if need is None or need.source != "configmaps":
        return (
            f"kubectl -n {case.namespace} set env deployment/{case.name} -c {case.place.container} {_CACHE}={cache}",
        )
    return (
        f"""kubectl -n {case.namespace} patch configmap {need.name} -p '{{"data":{{"{need.key}":"{cache}"}}}}'""",
        restarted(case),
    )


def _ten_times(case: Case) -> str:
    limit = f"{int(case.params['limit'].removesuffix('Mi')) * 10}Mi"
    return set_resources(case, {"limits": {"memory": limit}})


FAMILY = Family(
    id="RS-01",
    tier=1,
    summary="A memory limit is below what its program uses in the long run.",
    partners=("RS-02", "RS-03", "PR-01"),
    source="tests/golden/kubelet/timelines (oom-*); FAULTS RS-01",
    faults=(
        Fault(
            id="below-working-set",
            sign=Sign.PODS,
            level=2,
            places=_places,
            params=_params,
            inject=_inject,
            symptoms=lambda case: (_were_killed(case),),
            evidence=lambda case: (
                Evidence(
                    command=f"kubectl -n {case.namespace} describe pods | grep Reason", shows="OOMKilled"
                ),
                Evidence(
                    command=f"kubectl -n {case.namespace} get deployment {case.name} -o yaml",
                    shows=f"memory: {case.params['limit']}",
                ),
            ),
            repaired_when=lambda case: (
                memory_fits(case),
                keeps_requests(case, "memory"),
                rolled_out(case),
            ),
            allowed=lambda case: (
                case.allow(case.container("resources")),
                case.allow(case.container(f"env[{_CACHE}]")),
                *(
                    case.allow(f"data.{need.key}", need.source, need.name)
                    for need in case.place.needs
                    if need.variable == _CACHE and need.source == "configmaps"
                ),
            ),
            trials=lambda case: (passes(_FILLED_MS), peak(case)),
            repairs=(
                lambda case: (_owners_limit(case),),
                _smaller_cache,
                lambda case: (undone(case),),
            ),
            decoys=(
                Decoy(script=lambda case: (without_limit(case, "memory"),)),
                Decoy(script=lambda case: (_ten_times(case),)),
                Decoy(
                    script=lambda case: (
                        set_resources(
                            case,
                            {
                                "limits": {"memory": resources_of(case.base, case.place)["limits"]["memory"]},
                                "requests": {"memory": "1Mi"},
                            },
                        ),
                    )
                ),
                Decoy(script=lambda case: (restarted(case),)),
                Decoy(script=lambda case: (stopped(case),)),
            ),
            diagnosis=lambda case: Diagnosis(
                kind="Deployment", namespace=case.namespace, name=case.name, mechanism=Mechanism.MEMORY
            ),
        ),
    ),
)
