"""What families of probes share: what a workload's probes are and were, restarts as symptom, liveness that works as goal."""

from __future__ import annotations

import json
from typing import Any, Final

from env_core.apiserver.request import STRATEGIC_PATCH
from env_core.cluster import Cluster
from env_core.faults._model import Case
from env_core.faults._words import container_of, owner_of
from env_core.scenarios._app import Base, Workload
from env_core.scenarios.platform import COLLEAGUE
from env_core.verify.checks import Check
from env_core.verify.checks.probes import silent_pods_leave
from env_core.verify.trials import Owner, Trial, hang, outage
from env_core.verify.view import View
from env_core.world import Object

LIVENESS: Final = "livenessProbe"
READINESS: Final = "readinessProbe"
STARTUP: Final = "startupProbe"
HANG_MS: Final = 150_000
"""In which a hung process must be restarted: its owners' probes and grace period take half of it."""
SILENT_MS: Final = 25_000
"""In which a replica that does not serve must be taken out: its owners' readiness probe takes half of it."""
_STEADY_MS: Final = 180_000
_START_MAX_S: Final = 600
"""Longer, and nobody notices in time that a process hangs while it starts."""
_LAX_MAX: Final = 2
"""How many times as slow as it was a probe may be made."""


def container_before(base: Base, place: Workload) -> Object:
    """Return the container of the workload's template in the healthy world."""
    owner = base.cluster.store.get(place.resource, place.namespace, place.name)
    assert owner is not None
    return container_of(owner, place.container)


def probe_before(base: Base, place: Workload, kind: str) -> Object:
    """Return a probe of the healthy world, empty where there was none."""
    found: Object = container_before(base, place).get(kind) or {}
    return found


def asks_by_http(base: Base, place: Workload, kind: str) -> bool:
    """Whether a probe of the healthy world is an HTTP request."""
    return "httpGet" in probe_before(base, place, kind)


def patch_probes(case: Case, probes: dict[str, Any]) -> str:
    """Return the command line that changes fields of probes; None removes a probe or a field."""
    container = {"name": case.place.container, **probes}
    body = json.dumps({"spec": {"template": {"spec": {"containers": [container]}}}})
    return f"kubectl -n {case.namespace} patch deployment {case.name} -p '{body}'"


def take_out(cluster: Cluster, place: Workload, kind: str) -> None:
    """Remove a probe of the workload, as a colleague who tidies up."""
    container = {"name": place.container, kind: None}
    patch = {"spec": {"template": {"spec": {"containers": [container]}}}}
    client = cluster.client(COLLEAGUE)
    client.patch(place.resource, place.namespace, place.name, patch, STRATEGIC_PATCH)


# Symptoms


def _restarted(view: View, case: Case) -> str:
    """Return the name of a living pod whose container has been started again, "" for none."""
    for pod in view.pods_of(case.namespace, case.name):
        for status in pod.get("status", {}).get("containerStatuses") or ():
            if status["name"] == case.place.container and status.get("restartCount", 0):
                name: str = pod["metadata"]["name"]
                return name
    return ""


def containers_restart(case: Case) -> Check:
    """Some living pod's container has been started again."""

    def fails(view: View) -> str:
        return "" if _restarted(view, case) else f"no container of {case.name} was restarted"

    return Check("containers are restarted", fails)


# Goals


def liveness_asks_health(case: Case) -> Check:
    """The liveness probe asks for the process itself, about as often and as strictly as it did.

    A command may do that, too: whether it fails when the process hangs, a trial tells.
    """

    def fails(view: View) -> str:
        was = probe_before(case.base, case.place, LIVENESS)
        probe = container_of(owner_of(view, case), case.place.container).get(LIVENESS) or {}
        if not probe:
            return f"{case.name} has no liveness probe"
        path = (probe.get("httpGet") or {}).get("path", case.place.health_path).partition("?")[0]
        if path != case.place.health_path:
            return f"the liveness probe of {case.name} asks {path}"
        if _patience(probe) > _LAX_MAX * _patience(was):
            return f"the liveness probe of {case.name} gives up after {_patience(probe)} s"
        startup = container_of(owner_of(view, case), case.place.container).get(STARTUP) or {}
        if startup and _patience(startup) > _START_MAX_S:
            return f"the startup probe of {case.name} gives up after {_patience(startup)} s"
        return ""

    return Check(f"liveness of {case.name} is probed", fails)


def readiness_asks_service(case: Case) -> Check:
    """The readiness probe asks whether the program can serve, about as often and as strictly as it did."""

    def fails(view: View) -> str:
        was = probe_before(case.base, case.place, READINESS)
        probe = container_of(owner_of(view, case), case.place.container).get(READINESS) or {}
        if not probe:
            return f"{case.name} has no readiness probe"
        path = (probe.get("httpGet") or {}).get("path", "").partition("?")[0]
        if path != case.place.ready_path:
            return f"the readiness probe of {case.name} does not ask {case.place.ready_path}"
        if _patience(probe) > _LAX_MAX * _patience(was):
            return f"the readiness probe of {case.name} gives up after {_patience(probe)} s"
        return ""

    return Check(f"readiness of {case.name} is probed", fails)


def _patience(probe: Object) -> int:
    """Return the seconds for which a probe sees failures before it gives up."""
    seconds: int = probe.get("periodSeconds", 10) * probe.get("failureThreshold", 3)
    return seconds


# Trials


def hangs(case: Case, within_ms: int = HANG_MS) -> Trial:
    """Return the trial that the workload's processes hang: they must have been restarted in time."""
    return hang(Owner(case.place.resource, case.namespace, case.name), case.place.container, within_ms)


def falls_silent(case: Case) -> Trial:
    """Return the trial that one replica stops serving without ending: it must leave the endpoints in time."""
    asked = silent_pods_leave(case.namespace, case.name, case.place.container, SILENT_MS)
    return Trial("silence", lambda cluster: asked.fails(View(cluster)))


def misses(case: Case, dependency: Workload) -> Trial:
    """Return the trial that a dependency hangs for a while: the workload waits, unready, and is not restarted."""
    place = case.place
    return outage(
        Owner(place.resource, place.namespace, place.name),
        Owner(dependency.resource, dependency.namespace, dependency.name),
        dependency.container,
    )


def is_left_alone(case: Case) -> Trial:
    """Return the trial that nothing happens for a while: nothing may be restarted. It comes before processes hang."""

    def act(cluster: Cluster) -> str:
        cluster.advance(_STEADY_MS)
        name = _restarted(View(cluster), case)
        return f"a container of pod {name} was restarted" if name else ""

    return Trial("time", act)
