"""Which pods of a node are to go, which stay, and which are in the way.

Source: k8s.io/kubectl pkg/drain filters.go, drain.go (GetPodsForDeletion); tests/golden/l0/drain_filters.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from env_core.apiserver.errors import StatusError
from env_core.kubectl.context import Context
from env_core.objects.meta import controller_of, deletion_ms
from env_core.world import Object

_MIRROR = "kubernetes.io/config.mirror"
_DAEMON_SET_FATAL = "DaemonSet-managed Pods (use --ignore-daemonsets to ignore)"
_DAEMON_SET_WARNING = "ignoring DaemonSet-managed Pods"
_LOCAL_STORAGE_FATAL = "Pods with local storage (use --delete-emptydir-data to override)"
_LOCAL_STORAGE_WARNING = "deleting Pods with local storage"
_UNMANAGED_FATAL = "Pods that declare no controller (use --force to override)"
_UNMANAGED_WARNING = "deleting Pods that declare no controller"

FindDaemonSet = Callable[[str, str], str]
"""Returns "" when the daemon set exists, else the error about it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DrainRules:
    """What the flags of `drain` allow. Times are milliseconds since the epoch."""

    force: bool = False
    ignores_daemon_sets: bool = False
    deletes_empty_dir_data: bool = False
    skip_wait_seconds: int = 0
    now_ms: int = 0


@dataclass(frozen=True, slots=True)
class DrainPlan:
    """The pods to delete, and what to say about the others."""

    pods: list[Object]
    warnings: str
    errors: list[str]


@dataclass(frozen=True, slots=True)
class _Verdict:
    deletes: bool = True
    kind: str = ""
    message: str = ""


_OKAY = _Verdict()
_SKIP = _Verdict(False)


def plan_drain(pods: list[Object], rules: DrainRules, find_daemon_set: FindDaemonSet) -> DrainPlan:
    """Return the pods to delete, warnings in one line, and the errors that forbid it."""
    chosen: list[Object] = []
    notes: dict[str, dict[str, list[str]]] = {"warning": {}, "error": {}}
    for pod in pods:
        verdict = _verdict(pod, rules, find_daemon_set)
        if verdict.deletes:
            chosen.append(pod)
        if verdict.kind:
            metadata = pod["metadata"]
            place = f"{metadata.get('namespace', '')}/{metadata['name']}"
            notes[verdict.kind].setdefault(verdict.message, []).append(place)
    # The real command prints both in the order of a Go map; here they are sorted.
    warnings = "; ".join(f"{text}: {', '.join(names)}" for text, names in sorted(notes["warning"].items()))
    errors = [
        f"cannot delete {text or 'unexpected error'}: {', '.join(names)}"
        for text, names in sorted(notes["error"].items())
    ]
    return DrainPlan(chosen, warnings, errors)


def _verdict(pod: Object, rules: DrainRules, find_daemon_set: FindDaemonSet) -> _Verdict:
    """Return what the filters say of a pod: the first that keeps it, else the last one."""
    verdict = _OKAY
    for verdict in (
        _of_deleted(pod, rules),
        _of_daemon_set(pod, rules, find_daemon_set),
        _SKIP if _MIRROR in (pod["metadata"].get("annotations") or {}) else _OKAY,
        _of_local_storage(pod, rules),
        _of_unmanaged(pod, rules),
    ):
        if not verdict.deletes:
            return verdict
    return verdict


def is_skipped(pod: Object, skip_wait_seconds: int, now_ms: int) -> bool:
    """Whether a pod has been terminating for longer than is waited for."""
    deleted_ms = deletion_ms(pod)
    if skip_wait_seconds <= 0 or deleted_ms is None:
        return False
    return (now_ms - deleted_ms) // 1000 > skip_wait_seconds


def _of_deleted(pod: Object, rules: DrainRules) -> _Verdict:
    return _SKIP if is_skipped(pod, rules.skip_wait_seconds, rules.now_ms) else _OKAY


def _is_over(pod: Object) -> bool:
    return (pod.get("status") or {}).get("phase") in ("Succeeded", "Failed")


def _of_daemon_set(pod: Object, rules: DrainRules, find_daemon_set: FindDaemonSet) -> _Verdict:
    owner = controller_of(pod)
    if owner is None or owner.get("kind") != "DaemonSet" or owner.get("apiVersion") != "apps/v1":
        return _OKAY
    if _is_over(pod):
        return _OKAY
    problem = find_daemon_set(pod["metadata"].get("namespace", ""), owner["name"])
    if problem:
        if rules.force and problem.endswith("not found"):
            return _Verdict(True, "warning", problem)
        return _Verdict(False, "error", problem)
    if not rules.ignores_daemon_sets:
        return _Verdict(False, "error", _DAEMON_SET_FATAL)
    return _Verdict(False, "warning", _DAEMON_SET_WARNING)


def _of_local_storage(pod: Object, rules: DrainRules) -> _Verdict:
    volumes = (pod.get("spec") or {}).get("volumes") or ()
    if _is_over(pod) or not any(volume.get("emptyDir") is not None for volume in volumes):
        return _OKAY
    if not rules.deletes_empty_dir_data:
        return _Verdict(False, "error", _LOCAL_STORAGE_FATAL)
    return _Verdict(True, "warning", _LOCAL_STORAGE_WARNING)


def _of_unmanaged(pod: Object, rules: DrainRules) -> _Verdict:
    if _is_over(pod) or controller_of(pod) is not None:
        return _OKAY
    if rules.force:
        return _Verdict(True, "warning", _UNMANAGED_WARNING)
    return _Verdict(False, "error", _UNMANAGED_FATAL)


def daemon_set_finder(ctx: Context) -> FindDaemonSet:
    """Return the function that asks the server for daemon sets, each once."""
    known: dict[tuple[str, str], str] = {}

    def find(namespace: str, name: str) -> str:
        key = (namespace, name)
        if key not in known:
            try:
                ctx.api.get("daemonsets.apps", namespace, name)
                known[key] = ""
            except StatusError as error:
                known[key] = error.message
        return known[key]

    return find
