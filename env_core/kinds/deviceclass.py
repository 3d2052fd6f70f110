"""Device classes: what administrators call a kind of device."""

from __future__ import annotations

from env_core.apiserver.kind import Kind
from env_core.kinds._columns_workload import AGE, NAME
from env_core.kinds._device_rules import configuration_problems, selectors_problems
from env_core.kinds._policy_rules import subdomain_name
from env_core.kinds._policy_unstructured import describe_unstructured
from env_core.objects.problems import Problem
from env_core.world import Object


def _validate(obj: Object) -> list[Problem]:
    spec = obj.get("spec") or {}
    found = selectors_problems(spec.get("selectors") or [], "spec.selectors")
    for index, config in enumerate(spec.get("config") or ()):
        found += configuration_problems(config, f"spec.config[{index}]")
    return found


KIND = Kind(
    group="resource.k8s.io",
    version="v1",
    kind="DeviceClass",
    plural="deviceclasses",
    singular="deviceclass",
    is_namespaced=False,
    subresources=(),
    has_status=False,
    has_generation=True,
    validate_name=subdomain_name,
    validate=_validate,
    columns=(NAME, AGE),
    describe=describe_unstructured,
    source="k8s.io/api resource/v1 DeviceClass, 1.37; pkg/apis/resource/validation; tests/golden/l2",
    unrecorded="validation texts; CEL expressions are not compiled",
)
