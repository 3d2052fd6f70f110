"""Writes rbac.json.gz: the roles and bindings of a fresh cluster, aggregated rules filled in.

Run `python -m env_core.apiserver.data._generate_rbac GOLDEN_DIRECTORY` after the recordings changed.
"""

from __future__ import annotations

import gzip
import json
import sys
from pathlib import Path
from typing import Any

_LISTS = ("clusterroles", "clusterrolebindings", "roles", "rolebindings")
_PATH = "/apis/rbac.authorization.k8s.io/v1/"
_SERVERS_OWN = ("uid", "creationTimestamp", "managedFields", "resourceVersion")


def build(golden: Path) -> bytes:
    """Return the compressed table: {list name: [object without server fields]}, sorted by namespace and name.

    Source: l2/facts/default_objects.json.gz (what a 1.37 server holds after start-up); the names are
    checked against l0/rbac_bootstrap.json.gz (what its code declares).

    Raises:
        ValueError: if the two recordings do not name the same roles and bindings.
    """
    recorded = _load(golden / "l2" / "facts" / "default_objects.json.gz")
    table = {name: [_stripped(obj) for obj in recorded[_PATH + name]] for name in _LISTS}
    for objects in table.values():
        objects.sort(key=_place)
    declared = _declared(_load(golden / "l0" / "rbac_bootstrap.json.gz"))
    for name in _LISTS:
        found = [_place(obj) for obj in table[name]]
        if not set(declared[name]) <= set(found):
            raise ValueError(f"{name}: declared but not recorded: {sorted(set(declared[name]) - set(found))}")
    text = json.dumps(table, sort_keys=True, separators=(",", ":"))
    return gzip.compress(text.encode(), compresslevel=9, mtime=0)


def _load(path: Path) -> Any:
    return json.loads(gzip.decompress(path.read_bytes()))


def _place(obj: Any) -> tuple[str, str]:
    return obj["metadata"].get("namespace", ""), obj["metadata"]["name"]


def _stripped(obj: Any) -> Any:
    metadata = {key: value for key, value in obj["metadata"].items() if key not in _SERVERS_OWN}
    return {**obj, "metadata": metadata}


def _declared(bootstrap: Any) -> dict[str, list[tuple[str, str]]]:
    flat = {
        "clusterroles": bootstrap["clusterRoles"] + bootstrap["controllerRoles"],
        "clusterrolebindings": bootstrap["clusterRoleBindings"] + bootstrap["controllerRoleBindings"],
        "roles": [role for roles in bootstrap["namespaceRoles"].values() for role in roles],
        "rolebindings": [
            each for bindings in bootstrap["namespaceRoleBindings"].values() for each in bindings
        ],
    }
    return {name: [_place(obj) for obj in objects] for name, objects in flat.items()}


if __name__ == "__main__":
    Path(__file__).with_name("rbac.json.gz").write_bytes(build(Path(sys.argv[1])))
