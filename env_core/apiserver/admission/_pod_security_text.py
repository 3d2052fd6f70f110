"""Shared by the Pod Security checks: walking containers and wording violations."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from env_core.world import Object


class Violation(NamedTuple):
    """What one check found: its reason, and in detail who broke it."""

    reason: str
    detail: str


Check = Callable[[Object, Object], Violation | None]
"""From a pod's metadata and spec to what is wrong, None when nothing is."""

_GROUPS = ("initContainers", "containers", "ephemeralContainers")


def containers_of(spec: Object) -> Iterator[Object]:
    """Yield init, plain and ephemeral containers, as the checks visit them."""
    for group in _GROUPS:
        yield from spec.get(group) or ()


def context_of(container: Object) -> Object:
    """Return the security context of a container, or of a pod's spec."""
    found: Object = container.get("securityContext") or {}
    return found


def failing(spec: Object, is_bad: Callable[[Object], bool]) -> list[str]:
    """Return the names of the containers that are bad."""
    return [container["name"] for container in containers_of(spec) if is_bad(container)]


def quoted(names: Iterable[str]) -> str:
    """Return `"a", "b"`."""
    return ", ".join(f'"{name}"' for name in names)


def plural(count: int, one: str, many: str) -> str:
    """Return the form that goes with `count`."""
    return one if count == 1 else many


def titled(names: list[str]) -> str:
    """Return `container "a"` or `containers "a", "b"`."""
    return f"{plural(len(names), 'container', 'containers')} {quoted(names)}"


def setters(is_pod_bad: bool, names: list[str]) -> list[str]:
    """Return those who set something explicitly: the pod, then the containers in one phrase."""
    found = ["pod"] if is_pod_bad else []
    return [*found, titled(names)] if names else found


def is_windows(spec: Object) -> bool:
    """Whether the pod says that it runs on Windows."""
    return (spec.get("os") or {}).get("name") == "windows"
