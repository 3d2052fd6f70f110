"""API services: which group versions the API server serves, itself or through a service."""

from __future__ import annotations

from env_core.apiserver.kind import Column, Kind
from env_core.kinds._columns_workload import AGE, NAME
from env_core.kinds._policy_rules import kept_spec, kept_status
from env_core.kinds._policy_unstructured import describe_unstructured
from env_core.objects import names
from env_core.objects.problems import Problem, invalid, not_supported, required
from env_core.world import Object

GROUP_PRIORITY_MAX = 20_000
VERSION_PRIORITY_MAX = 1_000
_HTTPS = 443
_STATUSES = ("True", "False", "Unknown")


def _default(obj: Object) -> Object:
    spec = obj.get("spec") or {}
    service = spec.get("service")
    if service is None or service.get("port") is not None:
        return obj
    return {**obj, "spec": {**spec, "service": {**service, "port": _HTTPS}}}


def _prepare_create(obj: Object) -> Object:
    """Start with an empty status; what the server serves itself is available at once.

    Source: k8s.io/kube-aggregator pkg/registry/apiservice/strategy.go; tests/golden/l2/facts/default_objects.json.gz.
    """
    if (obj.get("spec") or {}).get("service") is not None:
        return {**obj, "status": {}}
    condition = {
        "type": "Available",
        "status": "True",
        "lastTransitionTime": obj["metadata"].get("creationTimestamp"),
        "reason": "Local",
        "message": "Local APIServices are always available",
    }
    return {**obj, "status": {"conditions": [condition]}}


def _validate(obj: Object) -> list[Problem]:
    """Check an API service.

    Source: k8s.io/kube-aggregator pkg/apis/apiregistration/validation.
    """
    spec, name = obj.get("spec") or {}, obj["metadata"].get("name", "")
    group, version = spec.get("group") or "", spec.get("version") or ""
    found: list[Problem] = []
    wanted = f"{version}.{group}"
    if name != wanted and not names.is_path_segment_name(name):
        found.append(invalid("metadata.name", name, f'must be `spec.version+"."+spec.group`: "{wanted}"'))
    if not group and version != "v1":
        text = "only v1 may have an empty group and it better be legacy kube"
        found.append(required("spec.group", text))
    if group:
        found += [invalid("spec.group", group, text) for text in names.is_dns1123_subdomain(group)]
    found += [invalid("spec.version", version, text) for text in names.is_dns1035_label(version)]
    for field, limit in (
        ("groupPriorityMinimum", GROUP_PRIORITY_MAX),
        ("versionPriority", VERSION_PRIORITY_MAX),
    ):
        number = spec.get(field) or 0
        if not 0 < number <= limit:
            found.append(invalid(f"spec.{field}", number, f"must be positive and less than {limit}"))
    service, bundle = spec.get("service"), spec.get("caBundle") or ""
    if service is None:
        return found + _local_problems(spec, bundle)
    for field in ("namespace", "name"):
        if not service.get(field):
            found.append(required(f"spec.service.{field}"))
    port = service.get("port") or 0
    complaints = names.is_port_number(port)
    if complaints:
        found.append(invalid("spec.service.port", port, f"port is not valid: {', '.join(complaints)}"))
    if spec.get("insecureSkipTLSVerify") and bundle:
        text = "may not be true if caBundle is present"
        found.append(invalid("spec.insecureSkipTLSVerify", True, text))
    return found


def _local_problems(spec: Object, bundle: str) -> list[Problem]:
    found: list[Problem] = []
    if bundle:
        size = len(bundle.rstrip("=")) * 3 // 4
        found.append(invalid("spec.caBundle", f"{size} bytes", "local APIServices may not have a caBundle"))
    if spec.get("insecureSkipTLSVerify"):
        text = "local APIServices may not have insecureSkipTLSVerify"
        found.append(invalid("spec.insecureSkipTLSVerify", True, text))
    return found


def _validate_status(new: Object, _old: Object) -> list[Problem]:
    return [
        not_supported(
            f"status.conditions[{index}].status", each.get("status") or "", _STATUSES, is_sorted=False
        )
        for index, each in enumerate((new.get("status") or {}).get("conditions") or ())
        if each.get("status") not in _STATUSES
    ]


def _cell_service(obj: Object, _now_ms: int) -> str:
    service = (obj.get("spec") or {}).get("service")
    return "Local" if service is None else f"{service.get('namespace', '')}/{service.get('name', '')}"


def _cell_available(obj: Object, _now_ms: int) -> str:
    for condition in (obj.get("status") or {}).get("conditions") or ():
        if condition.get("type") == "Available":
            status, reason = str(condition.get("status") or ""), condition.get("reason")
            return f"{status} ({reason})" if status != "True" and reason else status
    return "Unknown"


KIND = Kind(
    group="apiregistration.k8s.io",
    version="v1",
    kind="APIService",
    plural="apiservices",
    singular="apiservice",
    categories=("api-extensions",),
    is_namespaced=False,
    default=_default,
    prepare_create=_prepare_create,
    prepare_update=kept_status,
    prepare_status=kept_spec,
    validate_name=lambda name, _is_prefix: names.is_path_segment_name(name),
    validate=_validate,
    validate_status=_validate_status,
    columns=(NAME, Column("Service", _cell_service), Column("Available", _cell_available), AGE),
    describe=describe_unstructured,
    source="k8s.io/kube-aggregator pkg/apis/apiregistration/v1, pkg/registry/apiservice; tests/golden/l2",
    unrecorded="validation texts",
)
