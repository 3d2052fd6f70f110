"""Get and list, with selectors, and the reading subresources (status, scale, log)."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final

from env_core.apiserver import errors, paging, podlogs
from env_core.apiserver.kind import DEFAULT_FIELD_LABELS, Kind
from env_core.apiserver.request import ApiRequest, ApiResponse, Options
from env_core.apiserver.version_webhook import converted
from env_core.objects import selectors
from env_core.objects.problems import quoted
from env_core.world import Object

if TYPE_CHECKING:
    from env_core.apiserver.server import ApiServer


def existing(server: ApiServer, request: ApiRequest, kind: Kind) -> Object:
    """Return the object that a request names.

    Raises:
        StatusError: NotFound.
    """
    obj = found(server, request, kind)
    if obj is None:
        raise errors.not_found(kind.group, kind.plural, request.name)
    return obj


def found(server: ApiServer, request: ApiRequest, kind: Kind) -> Object | None:
    """Return the object that a request names, None when there is none."""
    obj = server.store.get(kind.resource, request.namespace if kind.is_namespaced else "", request.name)
    if obj is None and kind.computed is not None:
        return next(
            (each for each in kind.computed(server.store) if each["metadata"]["name"] == request.name), None
        )
    if obj is None or kind.read is None:
        return obj
    return kind.read(converted(server, kind, (obj,))[0])


def get(server: ApiServer, request: ApiRequest, kind: Kind) -> ApiResponse:
    """Answer a get of an object or one of its readable subresources."""
    if kind.deprecation:
        return deprecated(_found, server, request, kind)
    return _found(server, request, kind)


def _found(server: ApiServer, request: ApiRequest, kind: Kind) -> ApiResponse:
    subresource = request.subresource
    if subresource and subresource not in kind.subresources:
        raise no_subresource(request, kind)
    if subresource == "log":
        podlogs.check_options(request)
    if request.options.resource_version:
        paging.check_not_future(server.store, paging.version_of(request.options.resource_version))
    obj = server.view(kind, existing(server, request, kind))
    if subresource in ("", "status", "ephemeralcontainers", "resize"):
        return ApiResponse(200, obj)
    if subresource == "scale":
        return ApiResponse(200, scale_of(kind, obj, is_read=True))
    if subresource == "log":
        return podlogs.answer(server, obj, request)
    raise errors.method_not_supported(kind.group, kind.plural, request.verb)


_LISTED_WORK: Final = 5
"""Units of work that an object of a list counts as."""


def no_subresource(request: ApiRequest, kind: Kind) -> errors.StatusError:
    """Return the refusal of a subresource that a kind does not have; source: tests/golden/l2/facts (cr-status)."""
    if kind.coerce is not None:
        return errors.not_found(kind.group, kind.plural, request.name)
    return errors.resource_unknown()


def collection(server: ApiServer, request: ApiRequest, kind: Kind) -> ApiResponse:
    """Answer a list."""
    if kind.deprecation:
        return deprecated(listed, server, request, kind)
    return listed(server, request, kind)


def deprecated(
    answer: Callable[[ApiServer, ApiRequest, Kind], ApiResponse],
    server: ApiServer,
    request: ApiRequest,
    kind: Kind,
) -> ApiResponse:
    """Return an answer, or the refusal in its place, with the warning that the kind is deprecated.

    Source: k8s.io/apiserver pkg/endpoints/installer.go, which warns before anything is looked at.
    """
    try:
        response = answer(server, request, kind)
    except errors.StatusError as error:
        response = ApiResponse(error.code, error.status)
    return response._replace(warnings=(kind.deprecation, *response.warnings))


def listed(server: ApiServer, request: ApiRequest, kind: Kind) -> ApiResponse:
    """Return the list that a request asks for.

    Raises:
        StatusError: BadRequest, for a selector or a continue token that is none.
    """
    options = request.options
    namespace = request.namespace if kind.is_namespaced else ""
    matches = matcher(kind, options.label_selector, options.field_selector)
    items, revision, page = _as_asked(server, kind, namespace, options)
    server.loop.work.done += _LISTED_WORK * len(items)
    if kind.read is not None:
        items = [kind.read(item) for item in converted(server, kind, items)]
    if matches is not None:
        items = [item for item in items if matches(item)]
    view = server.views.get(kind.resource)
    if view is not None:
        now_ms = server.loop.now_ms
        items = [view(item, now_ms) for item in items]
    metadata: Object = {"resourceVersion": str(revision)}
    if "create" in kind.verbs and (page is not None or options.limit):
        in_namespace = bool(namespace)
        items, left = paging.cut(items, page, options.limit, in_namespace=in_namespace)
        if left:
            last = paging.key_of(items[-1], in_namespace=in_namespace)
            # Events have no watch cache: the storage's own key, within a namespace, has no slash in front.
            # Source: tests/golden/l2/facts/errors.jsonl.gz and l2/kubectl (web).
            start = f"{last}\0" if in_namespace and kind.resource == "events" else f"/{last}\0"
            metadata["continue"] = paging.token(start, revision)
            if matches is None:
                metadata["remainingItemCount"] = left
    return ApiResponse(
        200,
        {
            "apiVersion": kind.api_version,
            "kind": kind.list_kind or f"{kind.kind}List",
            "metadata": metadata,
            "items": items,
        },
    )


def _as_asked(
    server: ApiServer, kind: Kind, namespace: str, options: Options
) -> tuple[list[Object], int, paging.Page | None]:
    """Return the candidates of a list as of the revision that it asks for, that revision, and where it goes on."""
    store = server.store
    if options.continue_token:
        page = paging.read_token(options)
        if page.revision < 0:
            return store.list(kind.resource, namespace), store.revision, page
        paging.check_not_future(store, page.revision)
        items = paging.as_of(store, kind.resource, namespace, page.revision)
        if items is None:
            raise paging.too_old(page)
        return items, page.revision, page
    if options.resource_version:
        version = paging.list_version(store, options)
        if version is not None:
            items = paging.as_of(store, kind.resource, namespace, version)
            if items is None:
                raise errors.gone("The resourceVersion for the provided list is too old.")
            return items, version, None
    return narrowed(server, kind, namespace, options.field_selector), store.revision, None


def narrowed(server: ApiServer, kind: Kind, namespace: str, field_selector: str) -> list[Object]:
    """Return the candidates of a list, through an index where the field selector allows one."""
    if kind.computed is not None:
        stored = {obj["metadata"]["name"]: obj for obj in server.store.list(kind.resource)}
        computed = [obj for obj in kind.computed(server.store) if obj["metadata"]["name"] not in stored]
        return sorted([*computed, *stored.values()], key=_sort_key) if stored else computed
    if not field_selector:
        return server.store.list(kind.resource, namespace)
    wanted = _equalities(field_selector)
    name = wanted.get("metadata.name")
    if name is not None and (namespace or not kind.is_namespaced):
        one = server.store.get(kind.resource, namespace, name)
        return [] if one is None else [one]
    index, value = "", ""
    if kind.resource == "pods":
        index, value = "node", wanted.get("spec.nodeName", "")
    elif kind.resource == "events":
        index, value = "involved", wanted.get("involvedObject.uid", "")
    if value:
        rows = server.store.indexed(index, value)
        if namespace:
            rows = [row for row in rows if row["metadata"]["namespace"] == namespace]
        return sorted(rows, key=_sort_key)
    return server.store.list(kind.resource, namespace)


def _sort_key(obj: Object) -> str:
    return paging.key_of(obj, in_namespace=False)


@lru_cache(maxsize=2048)
def _equalities(field_selector: str) -> dict[str, str]:
    return {
        term.field: term.value for term in selectors.parse_fields(field_selector).terms if not term.negated
    }


def matcher(kind: Kind, label_selector: str, field_selector: str) -> Any:
    """Return a predicate over stored objects, or None when there is nothing to select by.

    Raises:
        StatusError: BadRequest, when a selector does not parse or names a field that is no label.
    """
    if not label_selector and not field_selector:
        return None
    try:
        labels = selectors.parse_labels(label_selector) if label_selector else None
        fields = selectors.parse_fields(field_selector) if field_selector else None
    except selectors.SelectorError as error:
        raise errors.bad_request(str(error)) from None
    if fields is not None:
        for term in fields.terms:
            if term.field not in kind.field_labels:
                raise errors.bad_request(_unknown_label(kind, term.field))

    shown = None if kind.conversion is None else kind.conversion.from_stored

    def matches(obj: Object) -> bool:
        if labels is not None and not labels.matches(obj["metadata"].get("labels") or {}):
            return False
        if shown is not None and fields is not None:
            obj = shown(obj)
        return fields is None or all(
            (field_value(kind, obj, term.field) == term.value) is not term.negated for term in fields.terms
        )

    return matches


def _unknown_label(kind: Kind, label: str) -> str:
    # Resources without conversion functions of their own know two labels; source: tests/golden/l2/facts/errors.
    if kind.field_labels == DEFAULT_FIELD_LABELS and kind.coerce is None:
        return f'{quoted(label)} is not a known field selector: only "metadata.name", "metadata.namespace"'
    return f"field label not supported: {label}"


def field_value(kind: Kind, obj: Object, path: str) -> str:
    """Return the value of a field label as field selectors compare it; "" when unset."""
    own = kind.field_values.get(path)
    if own is not None:
        return own(obj)
    value: Any = obj
    for part in path.split("."):
        if not isinstance(value, dict):
            return ""
        value = value.get(part)
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)


UNSET_REPLICAS = -(2**31)
"""What a patch of a scale starts from when the object has no replicas: a patch must set them.

Source: k8s.io/apiextensions-apiserver pkg/registry/customresource etcd.go.
"""


def scale_of(kind: Kind, obj: Object, *, is_read: bool = False) -> Object:
    """Return the autoscaling/v1 Scale of an object.

    Raises:
        StatusError: 500 when a scale is read whose declared replicas are not there.
    """
    scale = kind.scale
    assert scale is not None
    metadata = obj["metadata"]
    kept = {
        key: metadata[key]
        for key in ("name", "namespace", "uid", "resourceVersion", "creationTimestamp")
        if key in metadata
    }
    replicas = value_at(obj, scale.spec_replicas)
    if replicas is None and scale.is_declared:
        if is_read:
            path = quoted(f".{scale.spec_replicas}")
            raise errors.internal(f"the spec replicas field {path} does not exist")
        replicas = UNSET_REPLICAS
    current = value_at(obj, scale.status_replicas)
    selector = value_at(obj, scale.label_selector)
    status: Object = {"replicas": current if isinstance(current, int) else 0}
    if selector:
        status["selector"] = selector if isinstance(selector, str) else _selector_text(selector)
    spec = {"replicas": replicas} if replicas and isinstance(replicas, int) else {}
    return {"apiVersion": "autoscaling/v1", "kind": "Scale", "metadata": kept, "spec": spec, "status": status}


def _selector_text(selector: Object) -> str:
    is_structured = "matchLabels" in selector or "matchExpressions" in selector
    return selectors.format_label_selector(selector if is_structured else {"matchLabels": selector})


def value_at(obj: Object, path: str) -> Any:
    """Return the value at a dotted path, None when there is none."""
    value: Any = obj
    for part in path.split("."):
        value = value.get(part) if isinstance(value, dict) else None
    return value
