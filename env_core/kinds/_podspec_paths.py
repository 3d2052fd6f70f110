"""Rules for file paths and file modes in volumes and mounts.

Source: k8s.io/kubernetes pkg/apis/core/validation; texts in tests/golden/l0/validation.jsonl.gz.
"""

from __future__ import annotations

from typing import Any

from env_core.objects.problems import Problem, invalid

_MODE_MAX = 0o777
_MODE_TEXT = "must be a number between 0 and 0777 (octal), both inclusive"


def without_backsteps(path: str, field: str) -> list[Problem]:
    """Check that no part of a path is ".."."""
    if ".." in path and ".." in path.split("/"):
        return [invalid(field, path, "must not contain '..'")]
    return []


def descending(path: str, field: str) -> list[Problem]:
    """Check a relative path that stays below where it starts."""
    found = [invalid(field, path, "must be a relative path")] if path.startswith("/") else []
    return found + without_backsteps(path, field)


def non_reserved(path: str, field: str) -> list[Problem]:
    """Check a path below a volume, where names starting with ".." belong to the kubelet."""
    found = descending(path, field)
    if path.startswith("..") and not path.startswith("../") and path != "..":
        found.append(invalid(field, path, "must not start with '..'"))
    return found


def file_mode(mode: Any, field: str) -> list[Problem]:
    """Check a file mode, if there is one."""
    return [] if mode is None or 0 <= mode <= _MODE_MAX else [invalid(field, mode, _MODE_TEXT)]
