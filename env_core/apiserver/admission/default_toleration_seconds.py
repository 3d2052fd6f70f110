"""DefaultTolerationSeconds: pods stay five minutes on nodes that are not ready or not reachable."""

from __future__ import annotations

from env_core.apiserver.plugin import Admission, Attributes
from env_core.world import Object

_SECONDS = 300
_KEYS = ("node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable")


def _mutate(attributes: Attributes) -> Object:
    body = attributes.object
    assert body is not None
    spec = body["spec"]
    tolerations = spec.get("tolerations") or []
    missing = [key for key in _KEYS if not any(_covers(entry, key) for entry in tolerations)]
    if not missing:
        return body
    added = [
        {"key": key, "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": _SECONDS}
        for key in missing
    ]
    return {**body, "spec": {**spec, "tolerations": [*tolerations, *added]}}


def _covers(toleration: Object, key: str) -> bool:
    if toleration.get("effect") not in (None, "", "NoExecute"):
        return False
    return toleration.get("key") in (None, "", key)


ADMISSION = Admission(
    name="DefaultTolerationSeconds",
    order=150,
    operations=("CREATE", "UPDATE"),
    resources=("pods",),
    mutate=_mutate,
    source="tests/golden/l0/serviceaccount_admission.jsonl.gz, ids tolerations-*; tests/golden/l2/defaults.jsonl.gz",
)
