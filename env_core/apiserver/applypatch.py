"""Requests of server-side apply: the configuration read and checked, merged, and written as any other change.

Source: k8s.io/apiserver pkg/endpoints/handlers/patch.go (applyPatcher); k8s.io/apimachinery
pkg/util/managedfields/internal (versioncheck.go, structuredmerge.go, lastappliedupdater.go), scalehandler.go.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from env_core.apiserver import custom, errors, reading
from env_core.apiserver.kind import Kind
from env_core.apiserver.managedfields.applying import (
    KUBECTL,
    LAST_APPLIED,
    Application,
    Applied,
    ConflictError,
    adopted,
    apply,
)
from env_core.apiserver.managedfields.fieldset import difference, has_path, set_of
from env_core.apiserver.managedfields.history import empty_object, ignored, merge_type
from env_core.apiserver.managedfields.managers import APPLY, Held, Managed, Manager, manager_of
from env_core.apiserver.managedfields.mergetypes import MergeType, type_of
from env_core.apiserver.managedfields.merging import problems_text
from env_core.apiserver.managedfields.paths import Path
from env_core.apiserver.request import ApiRequest
from env_core.apiserver.schema import schema_for
from env_core.apiserver.strict import IGNORE, decode
from env_core.apiserver.tracking import managed_now
from env_core.objects.goformat import value_text
from env_core.objects.jsonout import to_compact_json
from env_core.objects.problems import required
from env_core.objects.yamlin import YamlProblem, read_yaml
from env_core.sim.timefmt import rfc3339
from env_core.world import Object

if TYPE_CHECKING:
    from env_core.apiserver.server import ApiServer

_SCALE = ("autoscaling", "v1", "Scale")
_SCALE_VERSION = "autoscaling/v1"
_REPLICAS: Path = ("f:spec", "f:replicas")


def merged_by_apply(
    server: ApiServer, request: ApiRequest, kind: Kind, old: Object | None
) -> tuple[Object, Managed]:
    """Return what an apply makes of the live object (None: of nothing), and the managers then.

    Raises:
        StatusError: when the request or its configuration is wrong, or changes what others manage.
    """
    config = _config(request, kind)
    live = empty_object(kind) if old is None else old
    now = rfc3339(server.loop.now_ms)
    reset = ignored(kind, request.subresource)
    managed: Managed = {} if old is None else managed_now(server, kind, old)
    if not managed and old is not None:
        managed = adopted(merge_type(kind), empty_object(kind), old, kind.api_version, reset, now)
    application = Application(
        merge_type(kind),
        config,
        manager_of(request.options.field_manager, APPLY, kind.api_version, request.subresource),
        kind.api_version,
        reset,
        request.options.force,
    )
    applied = _applied(application, live, managed, now)
    body = live if applied.object is None else _typed(kind, applied.object)
    return with_last_applied(application, body), applied.managed


def scaled_by_apply(
    server: ApiServer, request: ApiRequest, kind: Kind, old: Object
) -> tuple[Object, Managed]:
    """Return the scale that an apply makes of an object's scale, and the managers of the object then.

    Raises:
        StatusError: as `merged_by_apply`.
    """
    assert kind.scale is not None
    _check_options(request)
    config = _read(request)
    problem = config_problem(config, type_of(*_SCALE), *_SCALE)
    if problem is not None:
        raise problem
    path = tuple(f"f:{name}" for name in kind.scale.spec_replicas.split("."))
    managed = managed_now(server, kind, old)
    held = {
        manager: Held(set_of(_REPLICAS), _SCALE_VERSION, each.time)
        for manager, each in managed.items()
        if has_path(each.fields, path)
    }
    manager = manager_of(request.options.field_manager, APPLY, _SCALE_VERSION, "scale")
    application = Application(
        type_of(*_SCALE), config, manager, _SCALE_VERSION, ("f:status",), request.options.force
    )
    scale = reading.scale_of(kind, old)
    applied = _applied(application, scale, held, rfc3339(server.loop.now_ms))
    return applied.object or scale, _parents(kind, managed, applied.managed, path)


def _parents(kind: Kind, managed: Managed, scales: Managed, path: Path) -> Managed:
    """Return the managers of an object after its scale was applied; new ones get no time, as upstream forgets it."""
    after: dict[Manager, Held] = {}
    for manager, held in managed.items():
        if not has_path(held.fields, path) or manager in scales:
            after[manager] = held
            continue
        fields = difference(held.fields, set_of(path))
        if fields:
            after[manager] = held._replace(fields=fields)
    for manager, held in scales.items():
        if manager not in managed and has_path(held.fields, _REPLICAS):
            after[manager] = Held(set_of(path), kind.api_version)
    return after


def _applied(application: Application, live: Object, managed: Managed, now: str) -> Applied:
    try:
        return apply(application, live, managed, now)
    except ConflictError as error:
        raise errors.apply_conflict(str(error), error.causes) from None


def _config(request: ApiRequest, kind: Kind) -> Object:
    _check_options(request)
    config = _read(request)
    asked = type_of(kind.group, kind.version, kind.kind) if kind.struct is None else merge_type(kind)
    problem = config_problem(config, asked, kind.group, kind.version, kind.kind)
    if problem is not None:
        raise problem
    if kind.conversion is not None:
        config = kind.conversion.to_stored(config)
    if request.subresource == "status":
        # What else the configuration says is not the subresource's to write.
        metadata = {
            key: value
            for key, value in (config.get("metadata") or {}).items()
            if key in ("name", "namespace", "annotations", "resourceVersion", "uid")
        }
        return {
            **{key: config[key] for key in ("apiVersion", "kind", "status") if key in config},
            "metadata": metadata,
        }
    return config


def _check_options(request: ApiRequest) -> None:
    if not request.options.field_manager:
        problem = required("fieldManager", "is required for apply patch")
        raise errors.invalid("meta.k8s.io", "PatchOptions", "", [problem])


def _read(request: ApiRequest) -> Object:
    config: Any = request.body
    if isinstance(config, (str, bytes)):
        text = config if isinstance(config, str) else config.decode(errors="replace")
        try:
            config = read_yaml(text)
        except YamlProblem as error:
            raise errors.bad_request(f"error encoding patch: yaml: {error}") from None
    if not isinstance(config, dict):
        raise errors.bad_request(
            "error decoding patch: json: cannot unmarshal into Go value of type map[string]interface {}"
        )
    return config


def config_problem(
    config: Object, type_: MergeType, group: str, version: str, kind: str
) -> errors.StatusError | None:
    """Return the refusal of a configuration that is not of the kind, or does not fit its type."""
    api_version = config.get("apiVersion") or ""
    found_group, _, found_version = str(api_version).rpartition("/")
    found = (found_group, found_version, config.get("kind") or "")
    shown = f"{found_group}/{found_version}, Kind={found[2]}"
    if found != (group, version, kind):
        return errors.bad_request(f"invalid object type: {shown}")
    metadata = config.get("metadata")
    if isinstance(metadata, dict) and metadata.get("managedFields") is not None:
        return errors.bad_request("metadata.managedFields must be nil")
    text = problems_text(type_, config)
    if not text and not isinstance(metadata, dict) and metadata is not None:
        text = f".metadata: expected map, got &{{{value_text(metadata)}}}"  # of a kind without a schema
    if not text:
        return None
    named = metadata if isinstance(metadata, dict) else {}
    where = f"{named.get('namespace') or ''}/{named.get('name') or ''}"
    return errors.plain(f"failed to create typed patch object ({where}; {shown}): {text}")


def _typed(kind: Kind, merged: Object) -> Object:
    if kind.coerce is not None:
        return custom.decode(merged, kind, kind.coerce, IGNORE).object
    group, _, version = kind.api_version.rpartition("/")
    if schema_for(group, version, kind.kind) is None:
        return merged
    return decode(merged, group, version, kind.kind, IGNORE).object


def with_last_applied(application: Application, body: Object) -> Object:
    """Return the object with kubectl's last-applied annotation kept up to date, if it has one."""
    metadata = body.get("metadata") or {}
    annotations = metadata.get("annotations") or {}
    if application.manager.name != KUBECTL or not annotations.get(LAST_APPLIED):
        return body
    text = last_applied_of(application.config)
    if annotations[LAST_APPLIED] == text:
        return body
    return {**body, "metadata": {**metadata, "annotations": {**annotations, LAST_APPLIED: text}}}


def last_applied_of(config: Object) -> str:
    """Return the text of the annotation that stands for a configuration."""
    metadata = config.get("metadata") or {}
    given = metadata.get("annotations")
    if given and LAST_APPLIED in given:
        kept = {key: value for key, value in given.items() if key != LAST_APPLIED}
        config = {**config, "metadata": {**metadata, "annotations": kept}}
    return to_compact_json(config) + "\n"
