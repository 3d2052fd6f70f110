"""What families about autoscalers share: a workload's autoscaler, how one is made, and whether it still does its work."""

from __future__ import annotations

from typing import Final

from env_core.cluster import Cluster
from env_core.faults._model import Case
from env_core.faults._words import has_asked
from env_core.programs import Request
from env_core.scenarios._app import Base, Workload
from env_core.scenarios.platform import DELIVERY
from env_core.verify.checks import Check
from env_core.verify.entry import Entry
from env_core.verify.trials import Trial
from env_core.verify.view import View
from env_core.world import Object

SCALERS: Final = "horizontalpodautoscalers.autoscaling"
EXTRA_REPLICAS: Final = 3
UTILIZATION: Final = 70
"""The target of the applications' autoscalers, in per cent of the request."""
_TICK_MS: Final = 500
_CROWDS: Final = (20, 20, 40, 40, 60, 80, 80)
"""How many users come at a time, every half second, for 20 s each: until the workload grows."""
_TICKS: Final = 40
_MEASURED_MS: Final = 90_000
_DOWN_MS: Final = 480_000
"""Longer than the five minutes for which an autoscaler remembers that more was needed."""


def autoscaler_of(base: Base, place: Workload) -> str:
    """Return the name of the healthy world's autoscaler of a workload, "" without one."""
    for scaler in base.cluster.store.list(SCALERS, place.namespace):
        if scaler["spec"]["scaleTargetRef"]["name"] == place.name:
            return str(scaler["metadata"]["name"])
    return ""


def autoscaler(place: Workload, name: str, target: str = "") -> Object:
    """Return an autoscaler by CPU, of a workload or another Deployment, between its replicas and a few more."""
    metric = {"type": "Resource", "resource": {"name": "cpu", "target": {"type": "Utilization", "averageUtilization": UTILIZATION}}}  # fmt: skip
    return {
        "apiVersion": "autoscaling/v2", "kind": "HorizontalPodAutoscaler",
        "metadata": {"name": name, "namespace": place.namespace},
        "spec": {
            "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": target or place.name},
            "minReplicas": place.replicas, "maxReplicas": place.replicas + EXTRA_REPLICAS, "metrics": [metric],
        },
    }  # fmt: skip


def give_autoscaler(case: Case, cluster: Cluster) -> None:
    """Let the pipeline add the owners' autoscaler where the application has none, and time for it to look."""
    if not autoscaler_of(case.base, case.place):
        cluster.client(DELIVERY).create(SCALERS, case.namespace, autoscaler(case.place, case.name))
    cluster.advance(60_000)


def scaler_name(case: Case) -> str:
    """Return the name of the owners' autoscaler of the broken workload."""
    return autoscaler_of(case.base, case.place) or case.name


def is_blind(case: Case) -> Check:
    """The owners' autoscaler does not know how much the workload is used."""

    def fails(view: View) -> str:
        return "" if _why_blind(view, case) else f"the autoscaler of {case.name} sees"

    return Check("the autoscaler is blind", fails)


def scales(case: Case) -> Check:
    """The owners' autoscaler is there as it was meant, leads to the workload, and knows how much it is used."""

    def fails(view: View) -> str:
        scaler = view.get(SCALERS, case.namespace, scaler_name(case))
        if scaler is None:
            # In the healthy world of most applications there is none yet.
            was_given = autoscaler_of(case.base, case.place) or has_asked(view, DELIVERY, "create", SCALERS)
            return f"the autoscaler of {case.name} is gone" if was_given else ""
        before = case.base.cluster.store.get(SCALERS, case.namespace, scaler_name(case))
        meant = (before or autoscaler(case.place, case.name))["spec"]
        for field in ("minReplicas", "maxReplicas", "metrics"):
            if scaler["spec"].get(field) != meant[field]:
                return f"the autoscaler of {case.name} has other {field}"
        if scaler["spec"]["scaleTargetRef"]["name"] != case.name:
            return f"the autoscaler of {case.name} leads to {scaler['spec']['scaleTargetRef']['name']}"
        return _why_blind(view, case)

    return Check(f"{case.name} is scaled", fails)


def _why_blind(view: View, case: Case) -> str:
    """Return what its autoscaler lacks, also after the time that new pods need to be measured."""
    if not _problem(view, case):
        return ""
    later = view.fork()
    later.advance(_MEASURED_MS)
    return _problem(View(later), case)


def _problem(view: View, case: Case) -> str:
    scaler = view.get(SCALERS, case.namespace, scaler_name(case))
    for condition in ((scaler or {}).get("status") or {}).get("conditions") or ():
        if condition["type"] == "ScalingActive" and condition["status"] != "True":
            return f"the autoscaler of {case.name} says {condition['reason']}"
    return ""


def wave(case: Case) -> Trial:
    """Return the trial that many users come and go: the workload must grow, and shrink to what it was."""

    def act(cluster: Cluster) -> str:
        if cluster.store.get(SCALERS, case.namespace, scaler_name(case)) is None:
            return ""
        least = _replicas(cluster, case)
        if not _grows(cluster, case, least):
            return f"{case.name} stays at {least} replicas when many users come"
        cluster.advance(_DOWN_MS)
        if _replicas(cluster, case) > least:
            return f"{case.name} stays at {_replicas(cluster, case)} replicas when they have gone"
        return ""

    return Trial("wave", act)


def _grows(cluster: Cluster, case: Case, least: int) -> bool:
    entries = case.entries or case.base.entries
    for users in _CROWDS:
        for tick in range(_TICKS):
            cluster.network.request_ingress(_request(entries[tick % len(entries)]), users=users)
            cluster.advance(_TICK_MS)
        if _replicas(cluster, case) > least:
            return True
    return False


def _request(entry: Entry) -> Request:
    timeout_ms = 3 * entry.latency_ms_max
    return Request(
        method=entry.method, path=entry.path, host=entry.host, body=entry.body, timeout_ms=timeout_ms
    )


def _replicas(cluster: Cluster, case: Case) -> int:
    owner = cluster.store.get(case.place.resource, case.namespace, case.name)
    return int(owner["spec"].get("replicas", 1)) if owner is not None else 0
