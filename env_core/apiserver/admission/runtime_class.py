"""RuntimeClass: a pod's runtime class must exist and gives it overhead and a place to run."""

from __future__ import annotations

from env_core.apiserver.admission._refusal import refusal
from env_core.apiserver.plugin import Admission, Attributes
from env_core.world import Object


def _mutate(attributes: Attributes) -> Object:
    body = attributes.object
    assert body is not None
    spec = body["spec"]
    name = spec.get("runtimeClassName")
    if not name:
        return body
    chosen = attributes.store.get("runtimeclasses.node.k8s.io", "", name)
    if chosen is None:
        raise refusal(attributes, f'pod rejected: RuntimeClass "{name}" not found', is_mutating=True)
    changed = dict(spec)
    overhead = (chosen.get("overhead") or {}).get("podFixed")
    if overhead:
        given = spec.get("overhead")
        if given and given != overhead:
            why = "pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead"
            raise refusal(attributes, why, is_mutating=True)
        changed["overhead"] = overhead
    scheduling = chosen.get("scheduling") or {}
    selector = scheduling.get("nodeSelector")
    if selector:
        given = spec.get("nodeSelector") or {}
        for key in sorted(selector):
            if key in given and given[key] != selector[key]:
                why = f"conflict: {key}={selector[key]} from RuntimeClass and {key}={given[key]} from pod"
                raise refusal(attributes, why, is_mutating=True)
        changed["nodeSelector"] = {**given, **selector}
    tolerations = scheduling.get("tolerations")
    if tolerations:
        given = spec.get("tolerations") or []
        changed["tolerations"] = [*given, *(entry for entry in tolerations if entry not in given)]
    return {**body, "spec": changed}


ADMISSION = Admission(
    name="RuntimeClass",
    order=240,
    operations=("CREATE",),
    resources=("pods",),
    mutate=_mutate,
    source="tests/golden/l2/facts/errors.jsonl.gz, id rc-missing; k8s.io/kubernetes plugin/pkg/admission/runtimeclass",
)
