"""What a CustomResourceDefinition says: its versions in order of preference, and its conditions.

Source: k8s.io/apimachinery pkg/version helpers.go; k8s.io/apiextensions-apiserver pkg/apihelpers helpers.go.
"""

from __future__ import annotations

import re
from typing import Final

from env_core.objects import conditions
from env_core.world import Object, Objects

RESOURCE: Final = "customresourcedefinitions.apiextensions.k8s.io"
CLEANUP_FINALIZER: Final = "customresourcecleanup.apiextensions.k8s.io"
ESTABLISHED: Final = "Established"
NAMES_ACCEPTED: Final = "NamesAccepted"
TERMINATING: Final = "Terminating"
_VERSION: Final = re.compile(r"v([1-9][0-9]*)(?:(alpha|beta)([1-9][0-9]*))?")
_STABILITY: Final = {"alpha": 0, "beta": 1, None: 2}


def version_key(name: str) -> tuple[int, tuple[int, int, int], str]:
    """Return what versions sort by: stable ones first, newest first, those of other forms last, by name."""
    found = _VERSION.fullmatch(name)
    if found is None:
        return 1, (0, 0, 0), name
    return 0, (-_STABILITY[found[2]], -int(found[1]), -int(found[3] or 0)), ""


def served_versions(definition: Object) -> Objects:
    """Return the versions that are served, the preferred one first."""
    versions = [each for each in definition["spec"].get("versions") or () if each.get("served")]
    return sorted(versions, key=lambda each: version_key(each["name"]))


def storage_version(definition: Object) -> Object:
    """Return the version in which objects are stored."""
    versions: Objects = definition["spec"]["versions"]
    return next(each for each in versions if each.get("storage"))


def is_established(definition: Object) -> bool:
    """Whether the API server serves the resource."""
    return conditions.is_true(definition, ESTABLISHED)


def resource_of(definition: Object) -> str:
    """Return the group-qualified plural under which instances are stored."""
    plural = definition["status"]["acceptedNames"]["plural"]
    return f"{plural}.{definition['spec']['group']}"
