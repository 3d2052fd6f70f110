"""A narrow surface of the suite `tron`: reads of one field each, what they say when all is well, and who repairs what.

Every line is a real command that the server runs; the repairs are the suite's own reference scripts.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from env_core.episode import find_task

SUITE: Final = "tron"
_BRIDGE: Final = "jsonpath={.spec.template.spec.containers[1]."

READS: Final[Mapping[str, str]] = {
    "status": "curl -s -o /dev/null -w %{http_code} http://tron.localhost/data",
    "replicas": "kubectl -n tron get deployment nginx -o jsonpath={.spec.replicas}",
    "program": f"kubectl -n tron get deployment nginx -o {_BRIDGE}command[1]}}",
    "cpu": f"kubectl -n tron get deployment nginx -o {_BRIDGE}resources.limits.cpu}}",
    "memory": f"kubectl -n tron get deployment nginx -o {_BRIDGE}resources.limits.memory}}",
    "selector": "kubectl -n tron get service redis -o jsonpath={.spec.selector.app}",
    "policies": "kubectl -n tron get networkpolicy -o jsonpath={.items[*].metadata.name}",
    "configured": "kubectl -n tron get configmap app-config -o jsonpath={.data.REDIS_HOST}",
    "running": "kubectl -n tron exec deploy/nginx -c redis-bridge -- printenv REDIS_HOST",
}
"""Narrow reads by name."""

WELL: Final[Mapping[str, str]] = {
    "replicas": "1",
    "program": "/app/bridge.py",
    "cpu": "250m",
    "memory": "128Mi",
    "selector": "redis",
    "policies": "allow-nginx-to-redis",
    "configured": "redis",
    "running": "redis",
}
"""What a read says in the healthy world."""

SUSPECTS: Final[Mapping[str, tuple[str, ...]]] = {
    "503": ("replicas", "program"),
    "504": ("cpu", "policies"),
    "502": ("selector", "memory", "configured", "running"),
}
"""What is worth a look, by the status that users meet."""

RESTART: Final = "kubectl -n tron rollout restart deployment nginx"


@dataclass(frozen=True)
class Case:
    """One kind of incident: what gives it away, and which of the reference scripts is the natural repair."""

    task: str
    sign: str
    """The read whose answer is not as it should be."""
    repair: int
    """The index of the reference script."""

    def script(self, seed: int) -> tuple[str, ...]:
        """Return the repair of an incident."""
        suite, task = find_task(SUITE, self.task)
        return suite.reference(task, seed)[self.repair]


CASES: Final = (
    Case("configmap-fixed-but-pods-stale", "running", 0),
    Case("bad-rollout-wrong-redis-host", "configured", 0),
    Case("deployment-scaled-to-zero", "replicas", 0),
    Case("bridge-crashloop-bad-command", "program", 0),
    Case("service-selector-mismatch", "selector", 2),
    Case("networkpolicy-blocks-nginx-to-redis", "policies", 0),
    Case("cpu-limits-too-low", "cpu", 0),
    Case("memory-limits-too-low", "memory", 0),
)
"""The kinds, those first for which the junior of `data.py` has the right habit."""
KNOWN: Final = 4
"""How many of them he repairs rightly."""

TASKS: Final = tuple((SUITE, case.task) for case in CASES)
