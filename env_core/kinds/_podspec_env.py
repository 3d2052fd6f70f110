"""Validation of environment variables and of references to pod fields and container resources.

Source: k8s.io/kubernetes pkg/apis/core/validation; texts in tests/golden/l0/validation.jsonl.gz.
"""

from __future__ import annotations

from env_core.kinds._field_rules import unsupported
from env_core.kinds._podspec_paths import descending
from env_core.objects import names, quantity
from env_core.objects.label_rules import invalid_each
from env_core.objects.problems import Problem, invalid, required
from env_core.world import Object

_LABELS = (
    "metadata.annotations",
    "metadata.labels",
    "metadata.name",
    "metadata.namespace",
    "metadata.uid",
    "spec.host",
    "spec.nodeName",
    "spec.restartPolicy",
    "spec.schedulerName",
    "spec.serviceAccountName",
    "status.hostIP",
    "status.hostIPs",
    "status.phase",
    "status.podIP",
    "status.podIPs",
)
ENV_FIELDS = (
    "metadata.name",
    "metadata.namespace",
    "metadata.uid",
    "spec.nodeName",
    "spec.serviceAccountName",
    "status.hostIP",
    "status.hostIPs",
    "status.podIP",
    "status.podIPs",
)
VOLUME_FIELDS = (
    "metadata.annotations",
    "metadata.labels",
    "metadata.name",
    "metadata.namespace",
    "metadata.uid",
)
_RESOURCES = (
    "limits.cpu",
    "limits.ephemeral-storage",
    "limits.memory",
    "requests.cpu",
    "requests.ephemeral-storage",
    "requests.memory",
)
_HUGE_PAGES = ("limits.hugepages-", "requests.hugepages-")
_CPU_DIVISORS = ("1m", "1")
_SIZE_DIVISORS = ("1", "1k", "1M", "1G", "1T", "1P", "1E", "1Ki", "1Mi", "1Gi", "1Ti", "1Pi", "1Ei")
_SOURCES_TEXT = (
    "must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef`, `secretKeyRef` or `fileKeyRef`"
)
_ONE_TEXT = "may not have more than one field specified at a time"


def env_problems(variables: list[Object], field: str) -> list[Problem]:
    """Check a container's `env`."""
    found: list[Problem] = []
    for index, variable in enumerate(variables):
        name = variable.get("name")
        if not name:
            found.append(required(f"{field}[{index}].name"))
        else:
            complaints = names.is_env_var_name(name)
            if complaints:
                found += invalid_each(f"{field}[{index}].name", name, complaints)
        source = variable.get("valueFrom")
        if source is not None:
            found += _source_problems(source, variable.get("value"), f"{field}[{index}].valueFrom")
    return found


def _source_problems(source: Object, value: str | None, field: str) -> list[Problem]:
    found: list[Problem] = []
    count = 0
    if source.get("fieldRef") is not None:
        count += 1
        found += field_ref_problems(source["fieldRef"], ENV_FIELDS, f"{field}.fieldRef")
    if source.get("resourceFieldRef") is not None:
        count += 1
        found += resource_ref_problems(
            source["resourceFieldRef"], f"{field}.resourceFieldRef", is_container_named=False
        )
    for key in ("configMapKeyRef", "secretKeyRef"):
        reference = source.get(key)
        if reference is not None:
            count += 1
            name = reference.get("name") or ""
            found += invalid_each(f"{field}.{key}.name", name, names.is_dns1123_subdomain(name))
            found += _key_problems(reference, f"{field}.{key}.key")
    if source.get("fileKeyRef") is not None:
        count += 1
        found += _file_key_problems(source["fileKeyRef"], f"{field}.fileKeyRef")
    if count == 0:
        found.append(invalid(field, "", _SOURCES_TEXT))
    if value:
        if count:
            found.append(invalid(field, "", "may not be specified when `value` is not empty"))
    elif count > 1:
        found.append(invalid(field, "", _ONE_TEXT))
    return found


def _key_problems(reference: Object, field: str) -> list[Problem]:
    key = reference.get("key")
    return invalid_each(field, key, names.is_config_map_key(key)) if key else [required(field)]


def _file_key_problems(reference: Object, field: str) -> list[Problem]:
    found: list[Problem] = []
    key, volume, path = reference.get("key"), reference.get("volumeName"), reference.get("path")
    if not key:
        found.append(required(f"{field}.key"))
    else:
        found += invalid_each(f"{field}.key", key, names.is_env_var_name(key))
    if not volume:
        found.append(required(f"{field}.volumeName"))
    else:
        found += invalid_each(f"{field}.volumeName", volume, names.is_dns1123_label(volume))
    if not path:
        found.append(required(f"{field}.path"))
    else:
        found += descending(path, f"{field}.path")
    return found


def field_ref_problems(reference: Object, allowed: tuple[str, ...], field: str) -> list[Problem]:
    """Check a reference to a field of the pod."""
    version, path = reference.get("apiVersion"), reference.get("fieldPath")
    if not version:
        return [required(f"{field}.apiVersion")]
    if not path:
        return [required(f"{field}.fieldPath")]
    if version != "v1":
        return [_unconverted(field, path, f"unsupported pod version: {version}")]
    base, bracket, subscript = path.partition("['")
    if bracket and path.endswith("']"):
        key = subscript[:-2]
        if base == "metadata.annotations":
            return invalid_each(field, key, names.is_qualified_name(key.lower()))
        if base == "metadata.labels":
            return invalid_each(field, key, names.is_qualified_name(key))
        return [_unconverted(field, path, f"field label does not support subscript: {path}")]
    if path not in _LABELS:
        return [_unconverted(field, path, f"field label not supported: {path}")]
    path = "spec.nodeName" if path == "spec.host" else path
    return [] if path in allowed else [unsupported(f"{field}.fieldPath", path, tuple(sorted(allowed)))]


def _unconverted(field: str, path: str, why: str) -> Problem:
    return invalid(f"{field}.fieldPath", path, f"error converting fieldPath: {why}")


def resource_ref_problems(reference: Object, field: str, *, is_container_named: bool) -> list[Problem]:
    """Check a reference to a container's resource; in volumes the container must be named."""
    resource = reference.get("resource") or ""
    found: list[Problem] = []
    if is_container_named and not reference.get("containerName"):
        found.append(required(f"{field}.containerName"))
    elif not resource:
        found.append(required(f"{field}.resource"))
    elif resource not in _RESOURCES and not resource.startswith(_HUGE_PAGES):
        found.append(unsupported(f"{field}.resource", resource, _RESOURCES))
    return found + _divisor_problems(resource, reference.get("divisor"), f"{field}.divisor")


def _divisor_problems(resource: str, divisor: str | None, field: str) -> list[Problem]:
    if divisor in (None, "", "0") or quantity.from_value(divisor).is_zero():
        return []
    short = resource.partition(".")[2]
    options: tuple[str, ...] = _SIZE_DIVISORS
    text = quantity.canonical(divisor)
    if short == "cpu":
        options, name = _CPU_DIVISORS, "cpu resource"
        listed = "1m and 1"
    elif short in ("memory", "ephemeral-storage") or short.startswith("hugepages-"):
        listed = ", ".join(options)
        name = {"memory": "memory resource", "ephemeral-storage": "local ephemeral storage resource"}.get(
            short, "hugepages resource"
        )
    else:
        return []
    if text in options:
        return []
    return [invalid(field, resource, f"only divisor's values {listed} are supported with the {name}")]


def env_from_problems(sources: list[Object], field: str) -> list[Problem]:
    """Check a container's `envFrom`."""
    found: list[Problem] = []
    for index, source in enumerate(sources):
        prefix = source.get("prefix")
        if prefix:
            found += invalid_each(f"{field}[{index}].prefix", prefix, names.is_env_var_name(prefix))
        count = 0
        for key in ("configMapRef", "secretRef"):
            reference = source.get(key)
            if reference is None:
                continue
            count += 1
            name = reference.get("name")
            if not name:
                found.append(required(f"{field}[{index}].{key}.name"))
            else:
                found += invalid_each(f"{field}[{index}].{key}.name", name, names.is_dns1123_subdomain(name))
        if count == 0:
            found.append(invalid(field, "", "must specify one of: `configMapRef` or `secretRef`"))
        if count > 1:
            found.append(invalid(field, "", _ONE_TEXT))
    return found
