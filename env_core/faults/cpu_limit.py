"""The CPU limit is below what a burst of requests needs: on average the program is idle, and at its peaks it is throttled."""

from __future__ import annotations

from env_core.cluster import Cluster
from env_core.dataplane.crowds import Visit
from env_core.faults._mechanisms import Mechanism
from env_core.faults._model import Case, Decoy, Diagnosis, Evidence, Family, Fault, Params, Sign
from env_core.faults._resources import (
    amount,
    cpu_suffices,
    keeps_requests,
    overloaded,
    peak,
    resources_of,
    set_resources,
    without_limit,
)
from env_core.faults._words import behind_services, pass_time, patch_container, restarted, undone, waits
from env_core.programs import Request
from env_core.scenarios._app import Base, Entry, Workload
from env_core.scenarios.platform import COLLEAGUE, DELIVERY
from env_core.sim.rng import Stream
from env_core.verify.view import View

_BURST_MS = 8_000
_CROWDS = (60, 45, 30, 20, 12)
"""How many users a burst may have, most first: as many as the healthy world serves without being noticed."""
_BACKLOGS_MS = (4_000, 5_500, 7_000)
"""How long one burst's work takes under the limit."""
_LIMIT_MIN = 4
_WAITS_S = (240, 500, 900)


def _places(base: Base) -> tuple[str, ...]:
    return tuple(
        role
        for role in behind_services(base)
        if "cpu" in (resources_of(base, base.workloads[role]).get("limits") or {})
        and base.workloads[role].health_path
        and not base.workloads[role].claims
    )


def _request(entry: Entry) -> Request:
    timeout_ms = 3 * entry.latency_ms_max
    return Request(
        method=entry.method, path=entry.path, host=entry.host, body=entry.body, timeout_ms=timeout_ms
    )


def _burst(base: Base, place: Workload, entry: Entry) -> tuple[int, int]:
    """Return how many users may come at once through a way in, and the CPU time in ms that they cost a workload."""
    found = (0, 0)
    for users in _CROWDS:
        world = base.cluster.fork()
        before_ms = _cpu_ms(world, place)
        reply = world.network.request_ingress(_request(entry), users=users)
        found = users, _cpu_ms(world, place) - before_ms
        if not reply.failure and reply.latency_ms <= entry.latency_ms_max // 2:
            break
    return found


def _cpu_ms(world: Cluster, place: Workload) -> int:
    runs = [
        world.runtime.run(pod["metadata"]["uid"], place.container)
        for pod in View(world).pods_of(place.namespace, place.name)
    ]
    return sum(world.network.usage(run).cpu_ms for run in runs if run is not None)


def _params(stream: Stream, base: Base, place: Workload) -> Params:
    entry = stream.choice(base.entries_through(place.role))
    users, cpu_ms = _burst(base, place, entry)
    limit = max(cpu_ms * 1_000 // stream.choice(_BACKLOGS_MS), _LIMIT_MIN)
    request = amount("cpu", resources_of(base, place)["requests"]["cpu"])
    return {
        "entry": entry.name,
        "users": str(users),
        "limit": f"{min(limit, request)}m",
        "who": stream.choice((COLLEAGUE.name, DELIVERY.name)),
        **waits(stream, _WAITS_S),
    }


def _inject(case: Case, cluster: Cluster) -> None:
    who = COLLEAGUE if case.params["who"] == COLLEAGUE.name else DELIVERY
    limit = {"cpu": case.params["limit"]}
    patch_container(cluster, case.place, {"resources": {"limits": limit, "requests": limit}}, who)
    cluster.advance(60_000)
    entry = next(each for each in case.entries if each.name == case.params["entry"])
    visit = Visit(_request(entry), int(case.params["users"]), _BURST_MS)
    cluster.network.crowds.come(entry.name, visit)
    pass_time(cluster, case)


def _owners(case: Case, per_cent: int = 100) -> str:
    before = resources_of(case.base, case.place)
    limit = amount("cpu", before["limits"]["cpu"]) * per_cent // 100
    return set_resources(
        case, {"limits": {"cpu": f"{limit}m"}, "requests": {"cpu": before["requests"]["cpu"]}}
    )


def _without(case: Case) -> str:
    """Remove the limit where nothing puts another one in its place; else set one that the namespace would not."""
    ranges = case.base.cluster.store.list("limitranges", case.namespace)
    has_default = any(
        "cpu" in (row.get("default") or {}) for each in ranges for row in each["spec"]["limits"]
    )
    return _owners(case, 80) if has_default else without_limit(case, "cpu")


FAMILY = Family(
    id="RS-04",
    tier=1,
    summary="A CPU limit throttles bursts of requests while the average use is low.",
    partners=("AP-04", "AP-05"),
    source="Linux Documentation/scheduler/sched-bwc.rst; FAULTS RS-04",
    faults=(
        Fault(
            id="below-burst",
            sign=Sign.SLOW,
            level=3,
            places=_places,
            params=_params,
            inject=_inject,
            symptoms=lambda case: (overloaded(case),),
            evidence=lambda case: (
                Evidence(
                    command=f"kubectl -n {case.namespace} get deployment {case.name} -o yaml",
                    shows=f"cpu: {case.params['limit']}",
                ),
                Evidence(
                    command=(
                        f"promql 'sum by (container) (increase(container_cpu_cfs_throttled_periods_total"
                        f'{{namespace="{case.namespace}",container="{case.place.container}"}}[5m])) > 100\''
                    ),
                    shows=f'container="{case.place.container}"',
                ),
            ),
            repaired_when=lambda case: (
                cpu_suffices(case),
                keeps_requests(case, "cpu", case.params["limit"]),
            ),
            allowed=lambda case: (case.allow(case.container("resources")),),
            trials=lambda case: (peak(case),),
            repairs=(
                lambda case: (_owners(case),),
                lambda case: (_owners(case, 150),),
                lambda case: (_without(case),),
                lambda case: (undone(case),),
            ),
            decoys=(
                Decoy(
                    script=lambda case: (
                        f"kubectl -n {case.namespace} scale deployment/{case.name} --replicas={case.place.replicas + 3}",
                    )
                ),
                Decoy(
                    script=lambda case: (
                        set_resources(
                            case,
                            {"limits": {"cpu": f"{amount('cpu', case.params['limit']) * 13 // 10}m"}},
                        ),
                    )
                ),
                Decoy(
                    script=lambda case: (
                        set_resources(
                            case,
                            {
                                "limits": {
                                    "cpu": resources_of(case.base, case.place)["limits"]["cpu"],
                                },
                                "requests": {"cpu": "1m"},
                            },
                        ),
                    )
                ),
                Decoy(script=lambda case: (restarted(case),)),
            ),
            diagnosis=lambda case: Diagnosis(
                kind="Deployment", namespace=case.namespace, name=case.name, mechanism=Mechanism.CPU
            ),
        ),
    ),
)
