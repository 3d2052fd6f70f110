"""What the server serves, as discovery tells it: one aggregated document, or one for each group and version.

Built-in resources come as recorded, as far as they are served; what a cluster adds (custom resources) is made of its kinds.

Source: tests/golden/l2/facts/discovery; k8s.io/apiextensions-apiserver pkg/apiserver customresource_discovery_controller.go.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Mapping
from functools import lru_cache
from hashlib import sha256, sha512
from typing import Any

from env_core.apiserver.kind import Kind
from env_core.apiserver.registry import Registry
from env_core.apiserver.schema import resources
from env_core.rest.rendering import json_bytes
from env_core.world import Object

AGGREGATED = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
SERVER_ADDRESS = "127.0.0.1:6443"
_CUSTOM_VERBS = ("delete", "deletecollection", "get", "list", "patch", "create", "update", "watch")
_PART_VERBS = ("get", "patch", "update")
_LAST = ("metrics.k8s.io",)
"""Groups of add-ons, whose priority is the lowest."""

Row = Mapping[str, Any]


@lru_cache(maxsize=64)
def rows(registry: Registry) -> tuple[Row, ...]:
    """Return a row for each served resource and version, groups in the order of their priority."""
    known = [
        row for row in resources() if registry.at(row["group"], row["version"], row["plural"]) is not None
    ]
    named = {(row["group"], row["version"], row["plural"]) for row in known}
    added = [
        _custom_row(kind)
        for kind in (*registry.kinds, *registry.others)
        if (kind.group, kind.version, kind.plural) not in named
    ]
    added.sort(key=lambda row: (row["group"] in _LAST, row["group"], row["plural"]))
    return (*known, *added)


def verbs_of(kind: Kind) -> list[str]:
    """Return the verbs of a kind as discovery lists them: in order, but for custom resources."""
    if kind.coerce is None:
        return sorted(kind.verbs)
    return list(_CUSTOM_VERBS if len(kind.verbs) == len(_CUSTOM_VERBS) else kind.verbs)


def _custom_row(kind: Kind) -> Row:
    is_custom = len(kind.verbs) == len(_CUSTOM_VERBS)
    return {
        "group": kind.group,
        "version": kind.version,
        "plural": kind.plural,
        "kind": kind.kind,
        # The metrics server's own library gives its resources no singular; source: tests/golden/l2/kubectl (fmt).
        "singular": "" if kind.group in _LAST else kind.singular or kind.kind.lower(),
        "namespaced": kind.is_namespaced,
        "verbs": list(_CUSTOM_VERBS if is_custom else kind.verbs),
        "shortNames": list(kind.short_names),
        "categories": list(kind.categories),
        "subresources": [_custom_part(kind, name) for name in kind.subresources],
        "own": (kind.group, kind.version),
        "hash": _storage_hash(kind) if is_custom else "",
    }


def _custom_part(kind: Kind, name: str) -> Row:
    if name == "scale":
        return {
            "name": name,
            "group": "autoscaling",
            "version": "v1",
            "kind": "Scale",
            "verbs": list(_PART_VERBS),
        }
    return {
        "name": name,
        "group": kind.group,
        "version": kind.version,
        "kind": kind.kind,
        "verbs": list(_PART_VERBS),
    }


def _storage_hash(kind: Kind) -> str:
    digest = sha256(f"{kind.group}/{kind.version}/{kind.kind}".encode()).digest()
    return b64encode(digest[:8]).decode()


@lru_cache(maxsize=64)
def groups(registry: Registry) -> Mapping[str, tuple[str, ...]]:
    """Return the versions of each group, the preferred one first; the core group is ""."""
    found: dict[str, list[str]] = {}
    for row in rows(registry):
        versions = found.setdefault(row["group"], [])
        if row["version"] not in versions:
            versions.append(row["version"])
    return {group: tuple(versions) for group, versions in found.items()}


Behind = tuple[str, str, bool]
"""A group, its version, and whether the service that has it is available."""


def _by_group(behind: tuple[Behind, ...]) -> dict[str, tuple[str, ...]]:
    found: dict[str, tuple[str, ...]] = {}
    for group, version, _ in behind:
        found[group] = (*found.get(group, ()), version)
    return found


# Aggregated


@lru_cache(maxsize=128)
def aggregated(registry: Registry, *, is_core: bool, behind: tuple[Behind, ...] = ()) -> tuple[bytes, str]:
    """Return the aggregated document of the core group, or of all others, and its ETag.

    What a service behind an APIService serves is not known as long as nobody has asked it: such versions are stale.
    """
    items = []
    for group, versions in groups(registry).items():
        if (group == "") is not is_core:
            continue
        metadata = {"name": group} if group else {}
        items.append(
            {"metadata": metadata, "versions": [_version(registry, group, each) for each in versions]}
        )
    for group, versions in _by_group(behind).items():
        stale = [{"version": version, "freshness": "Stale"} for version in versions]
        items.append({"metadata": {"name": group}, "versions": stale})
    document = {
        "kind": "APIGroupDiscoveryList",
        "apiVersion": "apidiscovery.k8s.io/v2",
        "metadata": {},
        "items": items,
    }
    data = json_bytes(document) + b"\n"
    return data, f'"{sha512(data).hexdigest().upper()}"'


def _version(registry: Registry, group: str, version: str) -> Object:
    found = [_resource(row) for row in rows(registry) if (row["group"], row["version"]) == (group, version)]
    return {"version": version, "resources": found, "freshness": "Current"}


def _resource(row: Row) -> Object:
    own_group, own_version = row.get("own", ("", ""))
    resource: Object = {
        "resource": row["plural"],
        "responseKind": {"group": own_group, "version": own_version, "kind": row["kind"]},
        "scope": "Namespaced" if row["namespaced"] else "Cluster",
        "singularResource": row["singular"],
        "verbs": row["verbs"],
    }
    for name in ("shortNames", "categories"):
        if row.get(name):
            resource[name] = row[name]
    if row.get("subresources"):
        resource["subresources"] = [
            {
                "subresource": part["name"],
                "responseKind": {"group": part["group"], "version": part["version"], "kind": part["kind"]},
                "verbs": part["verbs"],
            }
            for part in row["subresources"]
        ]
    return resource


# One document for each


def core_versions() -> Object:
    """Return what /api tells."""
    return {
        "kind": "APIVersions",
        "versions": ["v1"],
        "serverAddressByClientCIDRs": [{"clientCIDR": "0.0.0.0/0", "serverAddress": SERVER_ADDRESS}],
    }


def group_list(registry: Registry, behind: tuple[Behind, ...] = ()) -> Object:
    """Return what /apis tells; `behind` are the groups that services have."""
    found = [_group(group, versions) for group, versions in groups(registry).items() if group]
    found += [_group(group, versions) for group, versions in _by_group(behind).items()]
    return {"kind": "APIGroupList", "apiVersion": "v1", "groups": found}


def group_document(registry: Registry, group: str) -> Object | None:
    """Return what /apis/GROUP tells, None when there is no such group."""
    versions = groups(registry).get(group) if group else None
    if versions is None:
        return None
    return {"kind": "APIGroup", "apiVersion": "v1", **_group(group, versions)}


def _group(group: str, versions: tuple[str, ...]) -> Object:
    named = [{"groupVersion": f"{group}/{version}", "version": version} for version in versions]
    return {"name": group, "versions": named, "preferredVersion": named[0]}


def resource_list(registry: Registry, group: str, version: str) -> Object | None:
    """Return what /api/v1 or /apis/GROUP/VERSION tells, None when it is not served."""
    if version not in groups(registry).get(group, ()):
        return None
    listed: list[Object] = []
    for row in rows(registry):
        if (row["group"], row["version"]) == (group, version):
            listed += _entries(row)
    # Only the document of the core group leaves out what version of Kubernetes' own API it is in.
    head: Object = {"kind": "APIResourceList"}
    if group:
        head["apiVersion"] = "v1"
    group_version = f"{group}/{version}" if group else version
    return {**head, "groupVersion": group_version, "resources": listed}


def _entries(row: Row) -> list[Object]:
    main: Object = {
        "name": row["plural"],
        "singularName": row["singular"],
        "namespaced": row["namespaced"],
        "kind": row["kind"],
        "verbs": row["verbs"],
    }
    for name in ("shortNames", "categories"):
        if row.get(name):
            main[name] = row[name]
    if row.get("hash"):
        main["storageVersionHash"] = row["hash"]
    entries = [main]
    for part in row.get("subresources") or ():
        entry: Object = {
            "name": f"{row['plural']}/{part['name']}",
            "singularName": "",
            "namespaced": row["namespaced"],
        }
        if part["group"] and (part["group"], part["version"]) != row.get("own"):
            entry |= {"group": part["group"], "version": part["version"]}
        entries.append({**entry, "kind": part["kind"], "verbs": part["verbs"]})
    return entries
