"""What makes ingresses and ingress classes invalid.

Source: kubernetes pkg/apis/networking/validation; tests/golden/l0/validation.jsonl.gz.
"""

from __future__ import annotations

from env_core.kinds._policy_rules import immutable_null
from env_core.kinds._service_validation import hostname_problems
from env_core.objects import names
from env_core.objects.problems import Problem, forbidden, invalid, not_supported, required, too_long
from env_core.world import Object

CLASS_ANNOTATION = "kubernetes.io/ingress.class"
CONTROLLER_BYTES_MAX = 250

_PATH_TYPES = ["Exact", "ImplementationSpecific", "Prefix"]
_BAD_SEQUENCES = ("//", "/./", "/../", "%2f", "%2F")
_BAD_SUFFIXES = ("/..", "/.")
_SCOPES = ["Cluster", "Namespace"]
_ABSOLUTE = "must be an absolute path"
_NO_ADDRESS = "must be a DNS name, not an IP address"


def validate(obj: Object) -> list[Problem]:
    """Check a new ingress."""
    spec = obj.get("spec") or {}
    found = _spec_problems(spec, allows_bad_secret=False, allows_bad_wildcard=False)
    annotations = (obj.get("metadata") or {}).get("annotations") or {}
    name = annotations.get(CLASS_ANNOTATION)
    if name is not None and spec.get("ingressClassName") not in (None, name):
        text = "must match `ingressClassName` when both are specified"
        found.append(invalid(f"annotations.{CLASS_ANNOTATION}", name, text))
    return found


def validate_update(new: Object, old: Object) -> list[Problem]:
    """Check a changed ingress; what was already wrong in secret names and wildcard rules is let pass."""
    before = old.get("spec") or {}
    return _spec_problems(
        new.get("spec") or {},
        allows_bad_secret=any(
            names.is_dns1123_subdomain(entry["secretName"])
            for entry in before.get("tls") or ()
            if entry.get("secretName")
        ),
        allows_bad_wildcard=any(
            _http_problems(rule, "") for rule in before.get("rules") or () if "*" in (rule.get("host") or "")
        ),
    )


def validate_status(new: Object, _old: Object) -> list[Problem]:
    """Check the addresses at which the ingress is served."""
    found: list[Problem] = []
    balancer = (new.get("status") or {}).get("loadBalancer") or {}
    for index, entry in enumerate(balancer.get("ingress") or ()):
        path = f"status.loadBalancer.ingress[{index}]"
        address = entry.get("ip")
        if address:
            found += [invalid(f"{path}.ip", address, text) for text in names.is_ip(address)]
        found += hostname_problems(entry.get("hostname"), f"{path}.hostname")
    return found


def _spec_problems(spec: Object, *, allows_bad_secret: bool, allows_bad_wildcard: bool) -> list[Problem]:
    found: list[Problem] = []
    rules = spec.get("rules")
    backend = spec.get("defaultBackend")
    if not rules and backend is None:
        found.append(invalid("spec", rules, "either `defaultBackend` or `rules` must be specified"))
    if backend is not None:
        found += _backend_problems(backend, "spec.defaultBackend")
    for index, rule in enumerate(rules or ()):
        path = f"spec.rules[{index}]"
        host = rule.get("host") or ""
        if names.ip_family(host):
            found.append(invalid(f"{path}.host", host, _NO_ADDRESS))
        found += _host_problems(host, f"{path}.host") if host else []
        if not ("*" in host and allows_bad_wildcard):
            found += _http_problems(rule, path)
    for index, entry in enumerate(spec.get("tls") or ()):
        path = f"spec.tls[{index}]"
        for place, host in enumerate(entry.get("hosts") or ()):
            found += _host_problems(host, f"{path}.hosts[{place}]")
        secret = entry.get("secretName")
        if secret and not allows_bad_secret:
            found += [
                invalid(f"{path}.secretName", secret, text) for text in names.is_dns1123_subdomain(secret)
            ]
    name = spec.get("ingressClassName")
    if name is not None:
        found += [invalid("spec.ingressClassName", name, text) for text in names.is_dns1123_subdomain(name)]
    return found


def _host_problems(host: str, path: str) -> list[Problem]:
    check = names.is_wildcard_dns1123_subdomain if "*" in host else names.is_dns1123_subdomain
    return [invalid(path, host, text) for text in check(host)]


def _http_problems(rule: Object, path: str) -> list[Problem]:
    http = rule.get("http")
    if http is None:
        return []
    paths = http.get("paths") or ()
    found = [] if paths else [required(f"{path}.http.paths")]
    for index, entry in enumerate(paths):
        found += _path_problems(entry, f"{path}.http.paths[{index}]")
    return found


def _path_problems(entry: Object, path: str) -> list[Problem]:
    kind = entry.get("pathType")
    text = entry.get("path") or ""
    if kind is None:
        return [required(f"{path}.pathType", "pathType must be specified")]
    found: list[Problem] = []
    if kind in ("Exact", "Prefix"):
        if not text.startswith("/"):
            found.append(invalid(f"{path}.path", text, _ABSOLUTE))
        found += [
            invalid(f"{path}.path", text, f"must not contain '{bad}'")
            for bad in _BAD_SEQUENCES
            if bad in text
        ]
        found += [
            invalid(f"{path}.path", text, f"cannot end with '{bad}'")
            for bad in _BAD_SUFFIXES
            if text.endswith(bad)
        ]
    elif kind == "ImplementationSpecific":
        if text and not text.startswith("/"):
            found.append(invalid(f"{path}.path", text, _ABSOLUTE))
    else:
        found.append(not_supported(f"{path}.pathType", kind, _PATH_TYPES))
    return found + _backend_problems(entry.get("backend") or {}, f"{path}.backend")


def _backend_problems(backend: Object, path: str) -> list[Problem]:
    resource = backend.get("resource")
    service = backend.get("service")
    if resource is not None and service is not None:
        return [invalid(path, "", "cannot set both resource and service backends")]
    if resource is not None:
        return _reference_problems(resource, f"{path}.resource")
    if service is None:
        return [invalid(path, "", "resource or service backend is required")]
    name = service.get("name") or ""
    found = [] if name else [required(f"{path}.service.name")]
    if name:
        found += [invalid(f"{path}.service.name", name, text) for text in names.is_dns1123_label(name)]
    port = service.get("port") or {}
    port_name = port.get("name")
    number = port.get("number")
    if port_name and number:
        found.append(invalid(path, "", "cannot set both port name & port number"))
    elif port_name:
        found += [
            invalid(f"{path}.service.port.name", port_name, text) for text in names.is_port_name(port_name)
        ]
    elif number:
        found += [
            invalid(f"{path}.service.port.number", number, text) for text in names.is_port_number(number)
        ]
    else:
        found.append(required(path, "port name or number is required"))
    return found


def _reference_problems(reference: Object, path: str) -> list[Problem]:
    group = reference.get("apiGroup")
    found: list[Problem] = []
    if group is not None:
        found += [invalid(f"{path}.apiGroup", group, text) for text in names.is_dns1123_subdomain(group)]
    for key in ("kind", "name"):
        value = reference.get(key)
        if value:
            found += [invalid(f"{path}.{key}", value, text) for text in names.is_path_segment_name(value)]
        else:
            found.append(required(f"{path}.{key}"))
    return found


def validate_class(obj: Object) -> list[Problem]:
    """Check an ingress class."""
    spec = obj.get("spec") or {}
    controller = spec.get("controller")
    found: list[Problem] = []
    if not controller:
        found.append(required("spec.controller"))
    else:
        if len(controller.encode()) > CONTROLLER_BYTES_MAX:
            found.append(too_long("spec.controller", CONTROLLER_BYTES_MAX))
        found += [
            invalid("spec.controller", controller, text) for text in names.is_domain_prefixed_path(controller)
        ]
    parameters = spec.get("parameters")
    return found if parameters is None else found + _parameter_problems(parameters, "spec.parameters")


def validate_class_update(new: Object, old: Object) -> list[Problem]:
    """Check a changed ingress class: its controller stays."""
    same = (new.get("spec") or {}).get("controller") == (old.get("spec") or {}).get("controller")
    return ([] if same else [immutable_null("spec.controller")]) + validate_class(new)


def _parameter_problems(parameters: Object, path: str) -> list[Problem]:
    found = _reference_problems(parameters, path)
    scope = parameters.get("scope")
    namespace = parameters.get("namespace")
    if scope is None:
        found.append(required(f"{path}.scope"))
    elif scope not in _SCOPES:
        found.append(not_supported(f"{path}.scope", scope, _SCOPES))
    elif scope == "Namespace":
        if namespace is None:
            found.append(required(f"{path}.namespace", "`parameters.scope` is set to 'Namespace'"))
        else:
            found += [
                invalid(f"{path}.namespace", namespace, text) for text in names.is_dns1123_label(namespace)
            ]
    elif namespace is not None:
        found.append(forbidden(f"{path}.namespace", "`parameters.scope` is set to 'Cluster'"))
    return found
