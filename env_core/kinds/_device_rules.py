"""Defaults and validation of requests for devices, in claims, templates, classes and rules.

CEL expressions are not compiled here.

Source: k8s.io/kubernetes pkg/apis/resource/validation and v1 defaults.
"""

from __future__ import annotations

from collections.abc import Sequence

from env_core.kinds._storage_validation import driver_name_problems
from env_core.objects import names
from env_core.objects.problems import (
    Problem,
    duplicate,
    invalid,
    not_supported,
    required,
    too_long,
    too_many,
)
from env_core.world import Object

REQUESTS_MAX = 32
CONSTRAINTS_MAX = 32
CONFIGS_MAX = 32
SELECTORS_MAX = 32
FIRST_AVAILABLE_MAX = 8
EXPRESSION_LENGTH_MAX = 10 * 1024
POOL_NAME_LENGTH_MAX = 253
_MODES = ("All", "ExactCount")
_EFFECTS = ("NoExecute", "NoSchedule", "None")
_OPERATORS = ("Equal", "Exists")
_REFERENCE = (
    "must be the name of a request in the claim or the name of a request and a subrequest separated by '/'"
)
_ONE_OF = "exactly one of `exactly` or `firstAvailable` is required"


def default_claim_spec(spec: Object) -> Object:
    """Return the spec of a claim with how many devices each request is for."""
    requests = (spec.get("devices") or {}).get("requests")
    if not requests:
        return spec
    filled = [_default_request(request) for request in requests]
    return spec if filled == requests else {**spec, "devices": {**spec["devices"], "requests": filled}}


def _default_request(request: Object) -> Object:
    changes: Object = {}
    if request.get("exactly") is not None:
        changes["exactly"] = _counted(request["exactly"])
    if request.get("firstAvailable"):
        changes["firstAvailable"] = [_counted(each) for each in request["firstAvailable"]]
    return {**request, **changes}


def _counted(request: Object) -> Object:
    mode = request.get("allocationMode") or "ExactCount"
    filled = {**request, "allocationMode": mode}
    if mode == "ExactCount" and not request.get("count"):
        filled["count"] = 1
    return filled


def claim_problems(spec: Object, field: str) -> list[Problem]:
    """Check the spec of a claim."""
    devices, path = spec.get("devices") or {}, f"{field}.devices"
    requests = devices.get("requests") or []
    found: list[Problem] = []
    if len(requests) > REQUESTS_MAX:
        found.append(too_many(f"{path}.requests", len(requests), REQUESTS_MAX))
    for index, request in enumerate(requests):
        found += _request_problems(request, f"{path}.requests[{index}]")
    found += _repeated([each.get("name") or "" for each in requests], f"{path}.requests", ".name")
    known = {name for request in requests for name in _names_of(request)}
    constraints = devices.get("constraints") or []
    if len(constraints) > CONSTRAINTS_MAX:
        found.append(too_many(f"{path}.constraints", len(constraints), CONSTRAINTS_MAX))
    for index, constraint in enumerate(constraints):
        where = f"{path}.constraints[{index}]"
        found += _references(constraint.get("requests") or [], known, f"{where}.requests")
        if constraint.get("matchAttribute") is None and constraint.get("distinctAttribute") is None:
            text = 'exactly one of "matchAttribute" or "distinctAttribute" is required, but multiple fields are set'
            found.append(required(where, text))
    configs = devices.get("config") or []
    if len(configs) > CONFIGS_MAX:
        found.append(too_many(f"{path}.config", len(configs), CONFIGS_MAX))
    for index, config in enumerate(configs):
        where = f"{path}.config[{index}]"
        found += _references(config.get("requests") or [], known, f"{where}.requests")
        found += configuration_problems(config, where)
    return found


def _names_of(request: Object) -> list[str]:
    name = request.get("name") or ""
    return [name, *(f"{name}/{each.get('name') or ''}" for each in request.get("firstAvailable") or ())]


def _repeated(values: Sequence[str], field: str, end: str = "") -> list[Problem]:
    return [
        duplicate(f"{field}[{index}]{end}", value)
        for index, value in enumerate(values)
        if value in values[:index]
    ]


def _label_problems(name: str, field: str) -> list[Problem]:
    return [invalid(field, name, text) for text in names.is_dns1123_label(name)]


def _references(requests: list[str], known: set[str], field: str) -> list[Problem]:
    found: list[Problem] = []
    for index, name in enumerate(requests):
        path = f"{field}[{index}]"
        segments = name.split("/")
        if len(segments) <= 2:
            found += [problem for segment in segments for problem in _label_problems(segment, path)]
        if name not in known:
            found.append(invalid(path, name, _REFERENCE))
    return found + _repeated(requests, field)


def configuration_problems(config: Object, field: str) -> list[Problem]:
    """Check the configuration for a driver."""
    opaque = config.get("opaque")
    if opaque is None:
        return [required(f"{field}.opaque")]
    found = driver_name_problems(opaque.get("driver") or "", f"{field}.opaque.driver")
    if opaque.get("parameters") is None:
        found.append(required(f"{field}.opaque.parameters"))
    return found


def _request_problems(request: Object, field: str) -> list[Problem]:
    found = _label_problems(request.get("name") or "", f"{field}.name")
    exactly, first = request.get("exactly"), request.get("firstAvailable") or []
    if exactly is None and not first:
        found.append(required(field, _ONE_OF))
    elif exactly is not None and first:
        found.append(invalid(field, None, f"{_ONE_OF}, but multiple fields are set"))
    elif exactly is not None:
        found += _device_problems(exactly, f"{field}.exactly")
    else:
        path = f"{field}.firstAvailable"
        if len(first) > FIRST_AVAILABLE_MAX:
            found.append(too_many(path, len(first), FIRST_AVAILABLE_MAX))
        for index, each in enumerate(first):
            found += _label_problems(each.get("name") or "", f"{path}[{index}].name")
            found += _device_problems(each, f"{path}[{index}]")
        found += _repeated([each.get("name") or "" for each in first], path, ".name")
    return found


def _device_problems(request: Object, field: str) -> list[Problem]:
    device_class, path = request.get("deviceClassName") or "", f"{field}.deviceClassName"
    if device_class:
        found = [invalid(path, device_class, text) for text in names.is_dns1123_subdomain(device_class)]
    else:
        found = [required(path)]
    found += selectors_problems(request.get("selectors") or [], f"{field}.selectors")
    mode, count = request.get("allocationMode") or "", request.get("count") or 0
    if mode == "All" and count:
        text = "must not be specified when allocationMode is 'All'"
        found.append(invalid(f"{field}.count", count, text))
    elif mode == "ExactCount" and count <= 0:
        found.append(invalid(f"{field}.count", count, "must be greater than zero"))
    elif mode not in _MODES:
        found.append(not_supported(f"{field}.allocationMode", mode, _MODES))
    for index, toleration in enumerate(request.get("tolerations") or ()):
        found += _toleration_problems(toleration, f"{field}.tolerations[{index}]")
    return found


def selectors_problems(selectors: list[Object], field: str) -> list[Problem]:
    """Check the selectors of devices, but not what their expressions say."""
    found: list[Problem] = []
    if len(selectors) > SELECTORS_MAX:
        found.append(too_many(field, len(selectors), SELECTORS_MAX))
    for index, selector in enumerate(selectors):
        cel, path = selector.get("cel"), f"{field}[{index}].cel"
        if cel is None:
            found.append(required(path))
        elif len((cel.get("expression") or "").encode()) > EXPRESSION_LENGTH_MAX:
            found.append(too_long(f"{path}.expression", EXPRESSION_LENGTH_MAX))
    return found


def _toleration_problems(toleration: Object, field: str) -> list[Problem]:
    found: list[Problem] = []
    key, operator = toleration.get("key") or "", toleration.get("operator") or ""
    if key:
        found += [invalid(f"{field}.key", key, text) for text in names.is_qualified_name(key)]
    if not operator:
        found.append(required(f"{field}.operator"))
    elif operator not in _OPERATORS:
        found.append(not_supported(f"{field}.operator", operator, _OPERATORS))
    effect = toleration.get("effect") or ""
    if effect and effect not in _EFFECTS:
        found.append(not_supported(f"{field}.effect", effect, _EFFECTS))
    return found


def taint_problems(taint: Object, field: str) -> list[Problem]:
    """Check a taint of a device."""
    key, value, effect = taint.get("key") or "", taint.get("value") or "", taint.get("effect") or ""
    found = [invalid(f"{field}.key", key, text) for text in names.is_qualified_name(key)]
    if value:
        found += [invalid(f"{field}.value", value, text) for text in names.is_valid_label_value(value)]
    if not effect:
        found.append(required(f"{field}.effect"))
    elif effect not in _EFFECTS:
        found.append(not_supported(f"{field}.effect", effect, _EFFECTS))
    return found


def pool_name_problems(name: str, field: str) -> list[Problem]:
    """Check the name of a pool: subdomains with slashes between them."""
    if not name:
        return [required(field)]
    found: list[Problem] = []
    if len(name) > POOL_NAME_LENGTH_MAX:
        found.append(too_long(field, POOL_NAME_LENGTH_MAX))
    return found + [
        invalid(field, part, text) for part in name.split("/") for text in names.is_dns1123_subdomain(part)
    ]


def device_name_problems(name: str, field: str) -> list[Problem]:
    """Check the name of a device."""
    return _label_problems(name, field)
