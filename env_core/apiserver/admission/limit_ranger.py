"""LimitRanger: default requests and limits of containers, and the bounds of a namespace's LimitRanges."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from env_core.apiserver.admission import _limit_rules
from env_core.apiserver.admission._refusal import refusal
from env_core.apiserver.plugin import Admission, Attributes
from env_core.world import Object

_ANNOTATION = "kubernetes.io/limit-ranger"
_GROUPS = (("containers", "container"), ("initContainers", "init container"))


def with_defaults(limit_range: Object, pod: Object) -> Object:
    """Return the pod with the container defaults of a LimitRange, noted in an annotation; itself if it has all.

    Source: tests/golden/l0/limit_ranger.jsonl.gz.
    """
    requests: dict[str, Any] = {}
    limits: dict[str, Any] = {}
    for entry in limit_range["spec"].get("limits") or ():
        if entry.get("type") == "Container":
            requests.update(entry.get("defaultRequest") or {})
            limits.update(entry.get("default") or {})
    if not requests and not limits:
        return pod
    notes: list[str] = []
    spec = dict(pod["spec"])
    for group, title in _GROUPS:
        if spec.get(group):
            spec[group] = [_filled(entry, title, requests, limits, notes) for entry in spec[group]]
    if not notes:
        return pod
    metadata = pod["metadata"]
    text = f"LimitRanger plugin set: {'; '.join(notes)}"
    annotations = {**(metadata.get("annotations") or {}), _ANNOTATION: text}
    return {**pod, "metadata": {**metadata, "annotations": annotations}, "spec": spec}


def _filled(
    container: Object, title: str, requests: Mapping[str, Any], limits: Mapping[str, Any], notes: list[str]
) -> Object:
    resources = dict(container.get("resources") or {})
    is_changed = False
    for key, defaults, what in (("requests", requests, "request"), ("limits", limits, "limit")):
        given = resources.get(key) or {}
        missing = sorted(name for name in defaults if name not in given)
        if missing:
            resources[key] = {**given, **{name: defaults[name] for name in missing}}
            notes.append(f"{', '.join(missing)} {what} for {title} {container['name']}")
            is_changed = True
    return {**container, "resources": resources} if is_changed else container


def _mutate(attributes: Attributes) -> Object:
    body = attributes.object
    assert body is not None
    if attributes.kind.resource == "pods" and attributes.operation == "CREATE":
        for limit_range in attributes.store.list("limitranges", attributes.namespace):
            body = with_defaults(limit_range, body)
    return body


def _validate(attributes: Attributes) -> None:
    body = attributes.object
    assert body is not None
    is_pod = attributes.kind.resource == "pods"
    if is_pod and attributes.operation != "CREATE":
        return
    for limit_range in attributes.store.list("limitranges", attributes.namespace):
        problems = (
            _limit_rules.pod_problems(limit_range, body)
            if is_pod
            else _limit_rules.claim_problems(limit_range, body)
        )
        if problems:
            raise refusal(attributes, problems[0] if len(problems) == 1 else f"[{', '.join(problems)}]")


ADMISSION = Admission(
    name="LimitRanger",
    order=50,
    operations=("CREATE", "UPDATE"),
    resources=("pods", "persistentvolumeclaims"),
    mutate=_mutate,
    validate=_validate,
    source="tests/golden/l0/limit_ranger.jsonl.gz; tests/golden/l2/facts/errors.jsonl.gz, ids lr-*",
)
