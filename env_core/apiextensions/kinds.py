"""From a CustomResourceDefinition to the kinds that it adds to an API server.

Source: k8s.io/apiextensions-apiserver pkg/apiserver (customresource_handler.go, customresource_discovery_controller.go).
"""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from typing import Final

import orjson

from env_core.apiextensions.columns import columns_of
from env_core.apiextensions.definitions import (
    TERMINATING,
    is_established,
    served_versions,
    storage_version,
    version_key,
)
from env_core.apiextensions.fields import struct_of
from env_core.apiextensions.rule_engine import ENGINE
from env_core.apiextensions.strategy import (
    Strategy,
    finalizer_warnings,
    keep_metadata,
)
from env_core.apiextensions.structural import compile_schema
from env_core.apiserver.kind import ALL_VERBS, Kind, Scale, unchanged_update
from env_core.objects import conditions
from env_core.objects.jsonout import to_compact_json
from env_core.world import Object

_TERMINATING_VERBS: Final = ("delete", "deletecollection", "get", "list", "watch")
_REFUSAL: Final = "create not allowed while custom resource definition is terminating"


def kinds_of(definition: Object) -> tuple[Kind, ...]:
    """Return the kinds of a definition, one for each version that is served; none before it is established.

    Definitions that say the same give the same kinds.
    """
    if not is_established(definition):
        return ()
    said = {
        "group": definition["spec"]["group"],
        "scope": definition["spec"]["scope"],
        "versions": definition["spec"]["versions"],
        "names": definition["status"]["acceptedNames"],
        "conversion": _webhook_of(definition["spec"].get("conversion")),
        "isTerminating": conditions.is_true(definition, TERMINATING)
        or "deletionTimestamp" in definition["metadata"],
    }
    return _kinds(to_compact_json(said))


def _webhook_of(conversion: Object | None) -> Object | None:
    return conversion.get("webhook") if conversion and conversion.get("strategy") == "Webhook" else None


@lru_cache(maxsize=256)
def _kinds(said_json: str) -> tuple[Kind, ...]:
    said: Object = orjson.loads(said_json)
    definition = {"spec": said}
    versions = served_versions(definition)
    storage = _strategy(said, storage_version(definition))
    made = []
    for index, version in enumerate(versions):
        strategy = _strategy(said, version)
        if strategy.api_version != storage.api_version:
            strategy = replace(strategy, storage=storage)
        made.append(_kind(said, version, strategy, is_preferred=index == 0))
    return tuple(made)


def _strategy(said: Object, version: Object) -> Strategy:
    subresources = version.get("subresources") or {}
    return Strategy(
        api_version=f"{said['group']}/{version['name']}",
        kind=said["names"]["kind"],
        schema=compile_schema((version.get("schema") or {}).get("openAPIV3Schema")),
        scale=_scale(subresources.get("scale")),
        has_status=subresources.get("status") is not None,
        engine=ENGINE,
    )


def _scale(declared: Object | None) -> Scale | None:
    if declared is None:
        return None
    return Scale(
        declared["specReplicasPath"].removeprefix("."),
        declared["statusReplicasPath"].removeprefix("."),
        (declared.get("labelSelectorPath") or "").removeprefix("."),
        is_declared=True,
    )


def _kind(said: Object, version: Object, strategy: Strategy, *, is_preferred: bool) -> Kind:
    given = said["names"]
    is_namespaced = said["scope"] == "Namespaced"
    labels = ["metadata.name", *(["metadata.namespace"] if is_namespaced else [])]
    labels += [each["jsonPath"].removeprefix(".") for each in version.get("selectableFields") or ()]
    kind = Kind(
        group=said["group"],
        version=version["name"],
        kind=given["kind"],
        plural=given["plural"],
        singular=given["singular"],
        short_names=tuple(given.get("shortNames") or ()),
        categories=tuple(given.get("categories") or ()),
        is_namespaced=is_namespaced,
        subresources=(*(("status",) if strategy.has_status else ()), *(("scale",) if strategy.scale else ())),
        has_status=strategy.has_status,
        has_generation=True,
        has_free_finalizers=True,
        scale=strategy.scale,
        default=strategy.default,
        prepare_status=keep_metadata if strategy.has_status else unchanged_update,
        validate=strategy.validate,
        validate_update=strategy.validate_update,
        validate_status=strategy.validate_status,
        warnings=finalizer_warnings,
        update_warnings=strategy.update_warnings,
        field_labels=tuple(labels),
        columns=columns_of(version.get("additionalPrinterColumns")),
        deprecation=_deprecation(said, version),
        list_kind=given["listKind"],
        struct=struct_of(strategy.schema, f"{strategy.api_version}.{strategy.kind}"),
        coerce=strategy.coerce,
        read=strategy.read,
        to_storage=strategy.to_storage if strategy.storage is not None else None,
        conversion_client=said["conversion"],
        storage_version="" if strategy.storage is None else strategy.storage.api_version,
        refuses_create=_REFUSAL if said["isTerminating"] else "",
        source="the CustomResourceDefinition in the store",
    )
    verbs = _TERMINATING_VERBS if said["isTerminating"] else ALL_VERBS
    if is_preferred and verbs == kind.verbs:
        return kind
    return replace(kind, verbs=verbs, is_other_version=not is_preferred, served_by=kind)


def _deprecation(said: Object, version: Object) -> str:
    if not version.get("deprecated"):
        return ""
    if version.get("deprecationWarning") is not None:
        return str(version["deprecationWarning"])
    name, group, kind = version["name"], said["group"], said["names"]["kind"]
    newer = [
        each["name"]
        for each in served_versions({"spec": said})
        if not each.get("deprecated") and version_key(each["name"]) < version_key(name)
    ]
    text = f"{group}/{name} {kind} is deprecated"
    return f"{text}; use {group}/{newer[0]} {kind}" if newer else text
