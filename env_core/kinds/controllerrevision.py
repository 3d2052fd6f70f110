"""Controller revisions: the templates that stateful sets and daemon sets had."""

from __future__ import annotations

from env_core.apiserver.kind import Kind
from env_core.kinds._columns_workload import CONTROLLERREVISION
from env_core.kinds._policy_unstructured import describe_unstructured
from env_core.objects import problems
from env_core.objects.problems import Problem
from env_core.world import Object


def _validate(obj: Object) -> list[Problem]:
    """Check a new revision.

    Source: kubernetes pkg/apis/apps/validation ValidateControllerRevision.
    """
    found: list[Problem] = []
    if obj.get("data") is None:
        found.append(problems.required("data", "data is mandatory"))
    revision = obj.get("revision", 0)
    if revision < 0:
        found.append(problems.invalid("revision", revision, "must be greater than or equal to 0"))
    return found


def _validate_update(new: Object, old: Object) -> list[Problem]:
    found = _validate(new)
    if new.get("data") != old.get("data"):
        found.append(problems.invalid("data", new.get("data"), "field is immutable"))
    return found


KIND = Kind(
    group="apps",
    version="v1",
    kind="ControllerRevision",
    plural="controllerrevisions",
    singular="controllerrevision",
    subresources=(),
    has_status=False,
    validate=_validate,
    validate_update=_validate_update,
    columns=CONTROLLERREVISION,
    describe=describe_unstructured,
    source="k8s.io/api apps/v1 ControllerRevision, 1.37",
    unrecorded="validation texts",
)
