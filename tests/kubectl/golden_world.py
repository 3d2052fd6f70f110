"""A tiny API over given objects, to replay recorded kubectl commands: reads and access reviews, no controllers."""

from __future__ import annotations

import gzip
import importlib
import json
import pkgutil
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from env_core import kinds
from env_core.apiserver import errors, virtual
from env_core.apiserver.client import ApiClient
from env_core.apiserver.kind import Kind
from env_core.apiserver.registry import Registry
from env_core.apiserver.request import ApiRequest, ApiResponse, Identity
from env_core.kubectl.command import run
from env_core.kubectl.context import Context
from env_core.objects import selectors
from env_core.sim.timefmt import parse_ms
from env_core.world import Object, Output
from tests.kubectl.memory_files import MemoryFiles

GOLDEN = Path(__file__).parents[1] / "golden"
_REVIEWS = ("selfsubjectaccessreviews.authorization.k8s.io", "selfsubjectreviews.authentication.k8s.io")


def read_json(name: str) -> Any:
    """Return a whole recording (`l2/kubectl/web.json`)."""
    return json.loads(gzip.decompress((GOLDEN / f"{name}.gz").read_bytes()))


def read_lines(name: str) -> list[Any]:
    """Return the records of a recording (`l0/top.jsonl`)."""
    return [json.loads(line) for line in gzip.decompress((GOLDEN / f"{name}.gz").read_bytes()).splitlines()]


@cache
def declared_kinds() -> dict[tuple[str, str, str], Kind]:
    """Return the kinds that env_core declares, by (group, version, plural)."""
    found = {}
    for info in pkgutil.iter_modules(kinds.__path__):
        if info.name.startswith("_"):
            continue
        kind = importlib.import_module(f"{kinds.__name__}.{info.name}").KIND
        found[(kind.group, kind.version, kind.plural)] = kind
    return found


def declared_plurals() -> frozenset[str]:
    """Return the plurals of the declared kinds."""
    return frozenset(plural for _, _, plural in declared_kinds())


def registry(
    extra: Iterable[Kind] = (), groups: Iterable[str] = (), resources: Iterable[str] = ()
) -> Registry:
    """Return every built-in kind; `groups` and `resources` (group-qualified plurals) restrict them."""
    wanted, served = tuple(groups), frozenset(resources)
    found = [
        kind
        for kind in (*declared_kinds().values(), *virtual.KINDS)
        if (not wanted or kind.group in wanted)
        and (not served or f"{kind.plural}.{kind.group}".rstrip(".") in served)
        and kind.group != "metrics.k8s.io"
    ]
    return Registry((*found, *extra))


class TinyApi:
    """Answers get, list and access reviews over a fixed set of objects; writes are refused."""

    def __init__(
        self, found: Registry, objects: Iterable[Object], *, rank: Callable[[str, str], int] | None = None
    ) -> None:
        self.registry = found
        self.requests: list[ApiRequest] = []
        self._objects: dict[str, list[Object]] = {}
        self.metrics: dict[str, list[Object]] = {}
        self.allows: Callable[[ApiRequest], bool] = lambda _request: True
        self.logs: Callable[[ApiRequest], Output] = lambda _request: Output()
        self.execs: Callable[[ApiRequest], Output] = lambda _request: Output()
        self.warnings: dict[str, str] = {
            "endpoints": "v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice",
            "componentstatuses": "v1 ComponentStatus is deprecated in v1.19+",
        }
        for obj in objects:
            kind = found.by_gvk(obj["apiVersion"], obj["kind"])
            if kind is not None:
                self._objects.setdefault(kind.resource, []).append(obj)
        for resource, rows in self._objects.items():
            rows.sort(key=lambda row: (row["metadata"].get("namespace", ""), row["metadata"]["name"]))
            if rank is not None:
                plural = resource.partition(".")[0]
                rows.sort(key=lambda row: rank(plural, row["metadata"]["name"]))

    def put(self, obj: Object) -> None:
        """Create or replace an object."""
        kind = self.registry.by_gvk(obj["apiVersion"], obj["kind"])
        assert kind is not None
        metadata = obj["metadata"]
        self.drop(kind.resource, metadata.get("namespace", ""), metadata["name"])
        self._objects.setdefault(kind.resource, []).append(obj)

    def drop(self, resource: str, namespace: str, name: str) -> None:
        """Remove an object, if it is there."""
        rows = self._objects.get(resource, [])
        rows[:] = [
            row
            for row in rows
            if (row["metadata"].get("namespace", ""), row["metadata"]["name"]) != (namespace, name)
        ]

    def handle(self, request: ApiRequest) -> ApiResponse:
        self.requests.append(request)
        try:
            return self._answer(request)
        except errors.StatusError as error:
            return ApiResponse(error.code, error.status)

    def _answer(self, request: ApiRequest) -> ApiResponse:
        resource = request.resource
        if resource in _REVIEWS:
            return ApiResponse(201, {**request.body, "status": self._review(request)})
        if resource.endswith(".metrics.k8s.io"):
            return self._metric(request)
        kind = self.registry.by_resource(resource)
        if kind is None:
            raise errors.resource_unknown()
        if not self.allows(request):
            raise errors.forbidden(kind.group, kind.plural, request.name, self._why(request, kind))
        warnings = (self.warnings[kind.plural],) if kind.plural in self.warnings else ()
        namespace = request.namespace if kind.is_namespaced else ""
        rows = [
            obj
            for obj in self._objects.get(kind.resource, ())
            if not namespace or obj["metadata"].get("namespace", "") == namespace
        ]
        if request.verb == "list":
            rows = self._selected(kind, rows, request)
            listed = {
                "apiVersion": kind.api_version,
                "kind": f"{kind.kind}List",
                "metadata": {},
                "items": rows,
            }
            return ApiResponse(200, listed, warnings)
        if request.verb == "get" or request.subresource in ("exec",):
            obj = next((row for row in rows if row["metadata"]["name"] == request.name), None)
            if request.subresource and request.subresource not in ("status", "scale", "log", "exec"):
                raise errors.resource_unknown()
            if obj is None:
                raise errors.not_found(kind.group, kind.plural, request.name)
            if request.subresource == "log":
                return ApiResponse(200, {}, output=self.logs(request))
            if request.subresource == "exec":
                return ApiResponse(200, {}, output=self.execs(request))
            return ApiResponse(200, obj, warnings)
        raise errors.method_not_supported(kind.group, kind.plural, request.verb)

    def _review(self, request: ApiRequest) -> Object:
        who = request.identity
        if request.resource == _REVIEWS[1]:
            info = {"username": who.name, "groups": list(who.groups)}
            return {"userInfo": {**info, "uid": who.uid} if who.uid else info}
        spec = request.body["spec"]
        attributes = spec.get("resourceAttributes")
        if attributes is None:
            path = ApiRequest(verb="get", resource="", identity=who)
            return {"allowed": self.allows(path)}
        plural, group = attributes["resource"], attributes.get("group", "")
        asked = ApiRequest(
            verb=attributes["verb"],
            resource=f"{plural}.{group}" if group else plural,
            namespace=attributes.get("namespace", ""),
            name=attributes.get("name", ""),
            identity=who,
        )
        return {"allowed": self.allows(asked)}

    def _metric(self, request: ApiRequest) -> ApiResponse:
        if not self.metrics:
            raise errors.resource_unknown()
        kind = "PodMetrics" if request.resource.startswith("pods") else "NodeMetrics"
        rows = [
            row
            for row in self.metrics.get(kind, ())
            if not request.namespace or row["metadata"].get("namespace") == request.namespace
        ]
        if request.verb == "get":
            for row in rows:
                if row["metadata"]["name"] == request.name:
                    return ApiResponse(200, row)
            name = f"{request.namespace}/{request.name}" if request.namespace else request.name
            raise errors.not_found("metrics.k8s.io", kind.lower(), name)
        if request.options.label_selector:
            wanted = selectors.parse_labels(request.options.label_selector)
            rows = [row for row in rows if wanted.matches(row["metadata"].get("labels") or {})]
        return ApiResponse(200, {"items": rows})

    def _selected(self, kind: Kind, rows: list[Object], request: ApiRequest) -> list[Object]:
        options = request.options
        try:
            labels = selectors.parse_labels(options.label_selector)
            fields = selectors.parse_fields(options.field_selector)
        except selectors.SelectorError as error:
            raise errors.bad_request(str(error)) from None
        for term in fields.terms:
            if term.field not in kind.field_labels and kind.plural in declared_plurals():
                raise errors.bad_request(_unsupported(kind, term.field))
        return [
            row
            for row in rows
            if labels.matches(row["metadata"].get("labels") or {})
            and fields.matches({term.field: _value(row, term.field) for term in fields.terms})
        ]

    def _why(self, request: ApiRequest, kind: Kind) -> str:
        where = f'in the namespace "{request.namespace}"' if request.namespace else "at the cluster scope"
        resource = f"{kind.plural}/{request.subresource}" if request.subresource else kind.plural
        return (
            f'User "{request.identity.name}" cannot {request.verb} resource "{resource}" '
            f'in API group "{kind.group}" {where}'
        )


def _unsupported(kind: Kind, name: str) -> str:
    if kind.group:
        return f'"{name}" is not a known field selector: only "metadata.name", "metadata.namespace"'
    return f"field label not supported: {name}"


def _value(obj: Object, path: str) -> str:
    value: Any = obj
    for part in path.split("."):
        value = value.get(part) if isinstance(value, dict) else None
    return "" if value is None else str(value).lower() if isinstance(value, bool) else str(value)


@dataclass
class StillClock:
    """A clock on which nothing happens."""

    now_ms: int

    def advance(self, duration_ms: int) -> None:
        self.now_ms += duration_ms

    def advance_until(self, is_met: Callable[[], bool], timeout_ms: int) -> bool:
        if is_met():
            return True
        self.now_ms += timeout_ms
        return is_met()


def context(
    api: TinyApi,
    now_ms: int,
    namespace: str,
    *,
    files: dict[str, str] | None = None,
    stdin: str = "",
    identity: Identity | None = None,
) -> Context:
    """Return the context of one command."""
    who = identity or Identity("kubernetes-admin", ("system:masters", "system:authenticated"), "1")
    return Context(
        api=ApiClient(api, who),
        clock=StillClock(now_ms),
        files=MemoryFiles(dict(files or {})),
        discovery=api.registry,
        namespace=namespace,
        stdin=stdin,
        user="admin",
        cluster="l2",
        server="https://127.0.0.1:6443",
        kubeconfig_path=f"/tmp/w/{namespace}.admin.kubeconfig",
    )


_VERSION = "4242424242"
_MANAGED_TIME = re.compile(r'\n +time: "[^"\n]*"(?=\n)|,? ?"time":"2026[^"\n]*"')
_KLOG = re.compile(r"([IWEF])\d{4} \d\d:\d\d:\d\d\.\d{6} +\d+ (\S+\.go:\d+\])")


def normalized(output: Output) -> tuple[int, str, str]:
    """Return exit code, standard output and error with log headers masked as the recordings mask them."""
    stderr = _KLOG.sub(r"\1<klog> \2", output.stderr).replace(_VERSION, "RV")
    return output.exit_code, output.stdout.replace(_VERSION, "RV"), stderr


def _without_times(result: tuple[int, str, str]) -> tuple[int, str, str]:
    """Drop the times of managedFields: the recorded objects have lost them, the recorded outputs not."""
    exit_code, stdout, stderr = result
    return exit_code, _MANAGED_TIME.sub("", stdout), _MANAGED_TIME.sub("", stderr)


class State:
    """One recorded state of tests/golden/l2/kubectl with its commands."""

    def __init__(self, name: str) -> None:
        self.record = read_json(f"l2/kubectl/{name}.json")
        self.start_ms = parse_ms(self.record["start"])
        self.registry = registry()
        self.objects = [_with_version(obj) for rows in self.record["state"].values() for obj in rows]
        self._ranks = {
            (plural, row["name"]): index
            for plural, table in self.record["tables"].items()
            for index, row in enumerate(table["rows"] or ())
        }

    def rank(self, plural: str, name: str) -> int:
        """Return the place of a name in the recorded server's list, which is sorted by names before aliasing."""
        return self._ranks.get((plural, name), len(self._ranks))

    def api(self) -> TinyApi:
        """Return a fresh API over the state's objects."""
        return TinyApi(self.registry, self.objects, rank=self.rank)

    def cases(self) -> list[tuple[dict[str, Any], list[int]]]:
        """Return the commands, each with the moments at which its requests may have been sent."""
        found = []
        cases = self.record["cases"]
        for index, case in enumerate(cases):
            start = case["t_ms"]
            end = cases[index + 1]["t_ms"] if index + 1 < len(cases) else start + 500
            # The start of a recording is cut to whole seconds, so everything may have happened a second later.
            moments = [start, *range(start + 40, min(end, start + 4000) + 1001, 40)]
            found.append((case, [self.start_ms + moment for moment in moments]))
        return found

    def replay(
        self, case: dict[str, Any], moments: list[int], configure: Callable[[TinyApi], None] | None = None
    ) -> tuple[bool, tuple[int, str, str]]:
        """Run a command at each possible moment; return whether one equals the recording, and the last result."""
        expected = _without_times((case["rc"], case["stdout"], case["stderr"]))
        result = (0, "", "")
        for moment in moments:
            api = self.api()
            if configure is not None:
                configure(api)
            ctx = context(api, moment, self.record["namespace"], stdin=case.get("stdin") or "")
            result = normalized(run(list(case["argv"]), ctx))
            if _without_times(result) == expected:
                return True, result
        return False, result


def _with_version(obj: Object) -> Object:
    """Give back the resourceVersions that the recording leaves out."""
    obj = {**obj, "metadata": {**obj["metadata"], "resourceVersion": _VERSION}}
    if "involvedObject" in obj:
        obj["involvedObject"] = {**obj["involvedObject"], "resourceVersion": _VERSION}
    return obj


def states() -> list[str]:
    """Return the names of the recorded states."""
    return sorted(path.name.removesuffix(".json.gz") for path in (GOLDEN / "l2/kubectl").glob("*.json.gz"))
