"""Validation of probes, lifecycle handlers and container restart policies.

Source: k8s.io/kubernetes pkg/apis/core/validation; texts in tests/golden/l0/validation.jsonl.gz.
"""

from __future__ import annotations

from typing import Any

from env_core.kinds._field_rules import non_negative, unsupported
from env_core.objects import names
from env_core.objects.label_rules import invalid_each
from env_core.objects.problems import Problem, forbidden, invalid, required
from env_core.world import Object

_COUNTS = ("initialDelaySeconds", "timeoutSeconds", "periodSeconds", "successThreshold", "failureThreshold")
_HANDLERS = ("exec", "httpGet", "tcpSocket", "grpc", "sleep")


def probe_problems(container: Object, grace: int, field: str) -> list[Problem]:
    """Check a container's three probes."""
    found: list[Problem] = []
    for key in ("livenessProbe", "readinessProbe", "startupProbe"):
        probe = container.get(key)
        if probe is None:
            continue
        path = f"{field}.{key}"
        found += _handler_problems(probe, grace, path)
        found += non_negative(probe, _COUNTS, path)
        seconds = probe.get("terminationGracePeriodSeconds")
        if seconds is not None and seconds <= 0:
            found.append(invalid(f"{path}.terminationGracePeriodSeconds", seconds, "must be greater than 0"))
        if key == "readinessProbe":
            if seconds is not None:
                text = "must not be set for readinessProbes"
                found.append(invalid(f"{path}.terminationGracePeriodSeconds", seconds, text))
        elif probe.get("successThreshold") != 1:
            found.append(invalid(f"{path}.successThreshold", probe.get("successThreshold") or 0, "must be 1"))
    return found


def lifecycle_problems(lifecycle: Object, grace: int, field: str) -> list[Problem]:
    """Check the hooks around a container's life."""
    found: list[Problem] = []
    for key in ("postStart", "preStop"):
        handler = lifecycle.get(key)
        if handler is not None:
            found += _handler_problems(handler, grace, f"{field}.{key}")
    return found


def _handler_problems(handler: Object, grace: int, field: str) -> list[Problem]:
    found: list[Problem] = []
    count = 0
    for key in _HANDLERS:
        action = handler.get(key)
        if action is None:
            continue
        count += 1
        if count > 1:
            found.append(forbidden(f"{field}.{key}", "may not specify more than 1 handler type"))
        else:
            found += _action_problems(key, action, grace, f"{field}.{key}")
    if count == 0:
        found.append(required(field, "must specify a handler type"))
    return found


def _action_problems(kind: str, action: Object, grace: int, field: str) -> list[Problem]:
    if kind == "exec":
        return [] if action.get("command") else [required(f"{field}.command")]
    if kind == "sleep":
        seconds = action.get("seconds") or 0
        if 0 <= seconds <= grace:
            return []
        text = f"must be non-negative and less than terminationGracePeriodSeconds ({grace})"
        return [invalid(field, seconds, text)]
    if kind == "grpc":
        port = action.get("port") or 0
        return invalid_each(f"{field}.port", port, names.is_port_number(port))
    if kind == "tcpSocket":
        return port_problems(action.get("port"), f"{field}.port")
    found: list[Problem] = []
    if not action.get("path"):
        found.append(required(f"{field}.path"))
    found += port_problems(action.get("port"), f"{field}.port")
    scheme = action.get("scheme") or ""
    if scheme not in ("HTTP", "HTTPS"):
        found.append(unsupported(f"{field}.scheme", scheme, ("HTTP", "HTTPS")))
    for header in action.get("httpHeaders") or ():
        name = header.get("name") or ""
        found += invalid_each(f"{field}.httpHeaders", name, names.is_http_header_name(name))
    return found


def port_problems(port: Any, field: str) -> list[Problem]:
    """Check a port given by number or name."""
    if isinstance(port, str):
        return invalid_each(field, port, names.is_port_name(port))
    return invalid_each(field, port or 0, names.is_port_number(port or 0))
