"""The paths of one group and version as OpenAPI: operations with their parameters, bodies and answers; no descriptions.

Source: k8s.io/apiserver pkg/endpoints/installer.go; the recorded documents are the comparison in tests/rest/test_openapi.py.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping
from typing import Any, Final

from env_core.apiserver.request import APPLY_PATCH, JSON_PATCH, MERGE_PATCH, STRATEGIC_PATCH
from env_core.rest._openapi_schemas import REFERENCE
from env_core.rest.message import JSON, PROTOBUF, YAML
from env_core.world import Object

META: Final = "io.k8s.apimachinery.pkg.apis.meta.v1."
_BOOLEANS = frozenset(
    {
        "allowWatchBookmarks", "follow", "force", "ignoreStoreReadErrorWithClusterBreakingPotential",
        "insecureSkipTLSVerifyBackend", "orphanDependents", "previous", "sendInitialEvents", "stderr", "stdin", "stdout",
        "timestamps", "tty", "watch",
    }
)  # fmt: skip
_INTEGERS = frozenset(
    {"gracePeriodSeconds", "limit", "limitBytes", "ports", "sinceSeconds", "tailLines", "timeoutSeconds"}
)
_SELECT = (
    "continue", "fieldSelector", "labelSelector", "limit", "resourceVersion", "resourceVersionMatch", "sendInitialEvents",
    "shardSelector", "timeoutSeconds",
)  # fmt: skip
_DELETE = (
    "dryRun", "gracePeriodSeconds", "ignoreStoreReadErrorWithClusterBreakingPotential", "orphanDependents",
    "propagationPolicy",
)  # fmt: skip
_WRITE = ("dryRun", "fieldManager", "fieldValidation")
_CONNECTED: Mapping[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "attach": (("get", "post"), ("container", "stderr", "stdin", "stdout", "tty")),
    "exec": (("get", "post"), ("command", "container", "stderr", "stdin", "stdout", "tty")),
    "portforward": (("get", "post"), ("ports",)),
    "proxy": (("get", "put", "post", "delete", "options", "head", "patch"), ("path",)),
}
_LOG = (
    "container", "follow", "insecureSkipTLSVerifyBackend", "limitBytes", "pretty", "previous", "sinceSeconds", "stream",
    "tailLines", "timestamps",
)  # fmt: skip
_STREAMS = (JSON, f"{JSON};stream=watch", PROTOBUF, f"{PROTOBUF};stream=watch", YAML)
_BODIES = (JSON, PROTOBUF, YAML)
_METHODS = {"get": "get", "update": "put", "patch": "patch", "create": "post"}
_READS = {"get": "read", "update": "replace", "patch": "patch", "create": "create"}


class Paths:
    """Builds the paths of one group and version; `schema_names` has the schema of each kind in it and its list."""

    def __init__(
        self, group: str, version: str, schema_names: Mapping[str, str], returns_deleted: Container[str]
    ) -> None:
        self._group = group
        self._version = version
        self._names = schema_names
        self._returns_deleted = returns_deleted
        self._tag = f"{group_tag(group)}_{version}"
        self._id = camel(self._tag)
        self._root = f"/apis/{group}/{version}" if group else f"/api/{version}"

    def build(self, rows: Iterable[Mapping[str, Any]]) -> Object:
        """Return the paths of these discovery rows, sorted."""
        listed = self._answer(REFERENCE + META + "APIResourceList", _BODIES)
        found: Object = {
            f"{self._root}/": {
                "get": {
                    "tags": [self._tag],
                    "operationId": f"get{self._id}APIResources",
                    "responses": {"200": listed, "401": {}},
                }
            }
        }
        for row in rows:
            self._resource(found, row)
        return dict(sorted(found.items()))

    def _resource(self, found: Object, row: Mapping[str, Any]) -> None:
        kind, verbs, is_namespaced = row["kind"], row["verbs"], row["namespaced"]
        home = (
            f"{self._root}/namespaces/{{namespace}}/{row['plural']}"
            if is_namespaced
            else f"{self._root}/{row['plural']}"
        )
        place = ["namespace"] if is_namespaced else []
        word = f"Namespaced{kind}" if is_namespaced else kind
        gvk = self._gvk(self._group, self._version, kind)
        single, many = REFERENCE + self._names[kind], REFERENCE + self._names.get(f"{kind}List", "")
        collection: Object = {}
        if "list" in verbs:
            collection["get"] = self._operation(
                f"list{self._id}{word}",
                "list",
                gvk,
                many,
                ("allowWatchBookmarks", *_SELECT, "watch"),
                types=_STREAMS,
            )
        if "create" in verbs:
            collection["post"] = self._operation(
                f"create{self._id}{word}",
                "post",
                gvk,
                single,
                _WRITE,
                codes=("200", "201", "202"),
                body=single,
            )
        if "deletecollection" in verbs:
            names = tuple(sorted((*_SELECT, *_DELETE)))
            collection["delete"] = self._operation(
                f"delete{self._id}Collection{word}",
                "deletecollection",
                gvk,
                _status(),
                names,
                body=REFERENCE + META + "DeleteOptions",
                is_body_needed=False,
            )
        if collection:
            found[home] = _with_shared(collection, place)
        if is_namespaced and "list" in verbs:
            everywhere = self._operation(
                f"list{self._id}{kind}ForAllNamespaces", "list", gvk, many, (), types=_STREAMS
            )
            names = tuple(sorted(("allowWatchBookmarks", "pretty", *_SELECT, "watch")))
            found[f"{self._root}/{row['plural']}"] = {"get": everywhere, "parameters": _parameters([], names)}
        item = {
            _METHODS[verb]: self._written(verb, f"{_READS[verb]}{self._id}{word}", gvk, single)
            for verb in ("get", "update", "patch")
            if verb in verbs
        }
        if "delete" in verbs:
            answer = single if row["plural"] in self._returns_deleted else _status()
            item["delete"] = self._operation(
                f"delete{self._id}{word}",
                "delete",
                gvk,
                answer,
                _DELETE,
                codes=("200", "202"),
                body=REFERENCE + META + "DeleteOptions",
                is_body_needed=False,
            )
        if item:
            found[f"{home}/{{name}}"] = {**item, "parameters": _parameters(["name", *place], ("pretty",))}
        for part in row.get("subresources") or ():
            self._part(found, f"{home}/{{name}}/{part['name']}", ["name", *place], word, part, single)

    def _part(
        self, found: Object, path: str, place: list[str], word: str, part: Mapping[str, Any], single: str
    ) -> None:
        name = part["name"]
        gvk = self._gvk(part["group"] or self._group, part["version"] or self._version, part["kind"])
        title = f"{word}{name.capitalize()}"
        if name in _CONNECTED:
            methods, names = _CONNECTED[name]
            found[path] = {**self._connected(methods, title, gvk), "parameters": _parameters(place, names)}
            if name == "proxy":
                found[f"{path}/{{path}}"] = {
                    **self._connected(methods, f"{title}WithPath", gvk),
                    "parameters": _parameters([*place, "path"], names),
                }
        elif name == "log":
            text = {"content": {kind: {"schema": {"type": "string"}} for kind in (*_BODIES, "text/plain")}}
            operation = self._head(f"read{self._id}{title}", "get", gvk, {"200": text, "401": {}})
            found[path] = {"get": operation, "parameters": _parameters(place, _LOG)}
        else:
            schema = REFERENCE + self._names[part["kind"]] if part["kind"] in self._names else single
            operations = {
                _METHODS[verb]: self._written(verb, f"{_READS[verb]}{self._id}{title}", gvk, schema)
                for verb in ("get", "create", "update", "patch")
                if verb in part["verbs"]
            }
            found[path] = _with_shared(operations, place)

    def _connected(self, methods: tuple[str, ...], title: str, gvk: Object) -> Object:
        text = {"content": {"*/*": {"schema": {"type": "string"}}}}
        return {
            method: self._head(
                f"connect{self._id}{method.capitalize()}{title}", "connect", gvk, {"200": text, "401": {}}
            )
            for method in methods
        }

    def _written(self, verb: str, name: str, gvk: Object, schema: str) -> Object:
        if verb == "get":
            return self._operation(name, "get", gvk, schema, ())
        if verb == "create":
            return self._operation(
                name, "post", gvk, schema, _WRITE, codes=("200", "201", "202"), body=schema
            )
        if verb == "update":
            return self._operation(name, "put", gvk, schema, _WRITE, codes=("200", "201"), body=schema)
        operation = self._operation(name, "patch", gvk, schema, (*_WRITE, "force"), codes=("200", "201"))
        types = (APPLY_PATCH, JSON_PATCH, MERGE_PATCH, STRATEGIC_PATCH)
        patch = {"schema": {"$ref": REFERENCE + META + "Patch"}}
        return {**operation, "requestBody": {"content": dict.fromkeys(types, patch), "required": True}}

    def _operation(
        self,
        name: str,
        action: str,
        gvk: Object,
        schema: str,
        names: tuple[str, ...],
        *,
        codes: tuple[str, ...] = ("200",),
        types: tuple[str, ...] = _BODIES,
        body: str = "",
        is_body_needed: bool = True,
    ) -> Object:
        answer = self._answer(schema, types)
        operation = self._head(name, action, gvk, {**dict.fromkeys(codes, answer), "401": {}})
        if names:
            operation["parameters"] = _parameters([], names)
        if body:
            operation["requestBody"] = {"content": {"*/*": {"schema": {"$ref": body}}}}
            if is_body_needed:
                operation["requestBody"]["required"] = True
        return operation

    def _head(self, name: str, action: str, gvk: Object, responses: Object) -> Object:
        return {
            "tags": [self._tag],
            "operationId": name,
            "responses": responses,
            "x-kubernetes-action": action,
            "x-kubernetes-group-version-kind": gvk,
        }

    @staticmethod
    def _answer(schema: str, types: tuple[str, ...]) -> Object:
        return {"content": {kind: {"schema": {"$ref": schema}} for kind in types}}

    @staticmethod
    def _gvk(group: str, version: str, kind: str) -> Object:
        return {"group": group, "version": version, "kind": kind}


def _status() -> str:
    return REFERENCE + META + "Status"


def _with_shared(operations: Object, place: list[str]) -> Object:
    """Return the operations of a path with what they have in common; a lone operation has everything in common."""
    shared = _parameters(place, ("pretty",))
    if len(operations) == 1:
        ((method, operation),) = operations.items()
        own = operation.get("parameters", [])
        plain = {key: value for key, value in operation.items() if key != "parameters"}
        return {method: plain, "parameters": sorted([*own, *shared], key=lambda row: row["name"])}
    return {**operations, "parameters": shared}


def _parameters(place: list[str], names: tuple[str, ...]) -> list[Object]:
    rows = [_parameter(name, "path") for name in place] + [_parameter(name, "query") for name in names]
    return sorted(rows, key=lambda row: (row["name"], row["in"]))


def _parameter(name: str, where: str) -> Object:
    kind = "boolean" if name in _BOOLEANS else "integer" if name in _INTEGERS else "string"
    needed = {"required": True} if where == "path" else {}
    return {"name": name, "in": where, **needed, "schema": {"type": kind, "uniqueItems": True}}


def group_tag(group: str) -> str:
    """Return what tags and operation ids call a group: "core", "apps", "rbacAuthorization"."""
    if not group:
        return "core"
    parts = group.removesuffix(".k8s.io").split(".")
    return parts[0] + "".join(part.capitalize() for part in parts[1:])


def camel(tag: str) -> str:
    """Return a tag as operation ids spell it: "apps_v1" is "AppsV1"."""
    return "".join(part[:1].upper() + part[1:] for part in tag.split("_"))
