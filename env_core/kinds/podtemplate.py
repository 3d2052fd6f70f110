"""Pod templates as objects of their own."""

from __future__ import annotations

from env_core.apiserver.kind import Column, Kind
from env_core.kinds._columns_workload import NAME, containers_cell, equality_text
from env_core.kinds._pod_warnings import template_warnings
from env_core.kinds._podspec_defaults import with_default_template
from env_core.kinds._podspec_validation import validate_pod_template
from env_core.kinds._policy_unstructured import describe_unstructured
from env_core.objects.problems import Problem
from env_core.world import Object


def _default(obj: Object) -> Object:
    return with_default_template(obj) if obj.get("template") is not None else obj


def _validate(obj: Object) -> list[Problem]:
    """Check the template.

    Source: k8s.io/kubernetes pkg/apis/core/validation ValidatePodTemplate.
    """
    return validate_pod_template(obj.get("template") or {}, "template")


def _warnings(obj: Object) -> list[str]:
    return template_warnings(obj.get("template") or {}, "template")


def _containers(obj: Object) -> list[Object]:
    return ((obj.get("template") or {}).get("spec") or {}).get("containers") or []


def _cell_labels(obj: Object, _now_ms: int) -> str:
    return equality_text(((obj.get("template") or {}).get("metadata") or {}).get("labels"))


KIND = Kind(
    group="",
    version="v1",
    kind="PodTemplate",
    plural="podtemplates",
    singular="podtemplate",
    subresources=(),
    has_status=False,
    has_generation=True,
    default=_default,
    validate=_validate,
    warnings=_warnings,
    columns=(
        NAME,
        Column("Containers", containers_cell(_containers, "name")),
        Column("Images", containers_cell(_containers, "image")),
        Column("Pod Labels", _cell_labels),
    ),
    describe=describe_unstructured,
    returns_deleted=True,
    source="k8s.io/api core/v1 PodTemplate, 1.37; pkg/printers/internalversion printPodTemplate",
    unrecorded="objects of this kind",
)
