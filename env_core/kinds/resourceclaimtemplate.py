"""Templates of resource claims, one claim made of them for each pod."""

from __future__ import annotations

from env_core.apiserver.kind import Kind
from env_core.kinds._columns_workload import AGE, NAME
from env_core.kinds._device_rules import claim_problems, default_claim_spec
from env_core.kinds._policy_rules import IMMUTABLE, subdomain_name
from env_core.kinds._policy_unstructured import describe_unstructured
from env_core.objects.label_rules import annotation_problems, label_problems
from env_core.objects.problems import Problem, invalid
from env_core.world import Object


def _default(obj: Object) -> Object:
    spec = obj.get("spec") or {}
    inner = spec.get("spec") or {}
    filled = default_claim_spec(inner)
    return obj if filled is inner else {**obj, "spec": {**spec, "spec": filled}}


def _validate(obj: Object) -> list[Problem]:
    spec = obj.get("spec") or {}
    metadata = spec.get("metadata") or {}
    found = label_problems(metadata.get("labels"), "spec.metadata.labels")
    found += annotation_problems(metadata.get("annotations"), "spec.metadata.annotations")
    return found + claim_problems(spec.get("spec") or {}, "spec.spec")


def _validate_update(new: Object, old: Object) -> list[Problem]:
    spec = new.get("spec")
    changed = [] if spec == old.get("spec") else [invalid("spec", spec, IMMUTABLE)]
    return changed + _validate(new)


KIND = Kind(
    group="resource.k8s.io",
    version="v1",
    kind="ResourceClaimTemplate",
    plural="resourceclaimtemplates",
    singular="resourceclaimtemplate",
    subresources=(),
    has_status=False,
    default=_default,
    validate_name=subdomain_name,
    validate=_validate,
    validate_update=_validate_update,
    columns=(NAME, AGE),
    describe=describe_unstructured,
    source="k8s.io/api resource/v1 ResourceClaimTemplate, 1.37; pkg/apis/resource/validation; tests/golden/l2/facts",
    unrecorded="objects of this kind and their texts; no claims are made of them",
)
