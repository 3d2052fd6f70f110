"""Replacements: a value of one resource, or a fixed one, put into fields of others.

Source: sigs.k8s.io/kustomize/api filters/replacement, internal/builtins (ReplacementTransformer.go), types
(replacement.go); kyaml yaml (match.go, fns.go), utils (pathsplitter.go).
"""

from __future__ import annotations

from typing import Any

from env_core.kubectl.kustomize.definition import typed
from env_core.kubectl.kustomize.fieldspecs import split_path
from env_core.kubectl.kustomize.ids import Gvk, ResId
from env_core.kubectl.kustomize.loading import Loader
from env_core.kubectl.kustomize.paths import Slot, looked_up, matched
from env_core.kubectl.kustomize.problem import KustomizeError
from env_core.kubectl.kustomize.reading import read_tree
from env_core.kubectl.kustomize.resmap import ResMap, SelectorRegex, matches
from env_core.kubectl.kustomize.resource import Resource
from env_core.kubectl.kustomize.values import Misfit, copied, is_nothing, is_scalar, plain, tag_of, text_of

_DEFAULT_PATH = "metadata.name"


def field_path(path: str) -> list[str]:
    """Return the parts of a path of fields; brackets keep their dots, those of plain keys go."""
    found: list[str] = []
    parts = split_path(path, ".")
    index = 0
    while index < len(parts):
        part = parts[index]
        index += 1
        if not part.startswith("[") or part.endswith("]"):
            found.append(part)
            continue
        inside = [part]
        while index < len(parts):
            inside.append(parts[index])
            index += 1
            if inside[-1].endswith("]"):
                break
        joined = ".".join(inside)
        found.append(joined if "=" in joined else joined.strip("[]"))
    return found


def read_replacements(loader: Loader, rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return replacements, those of files among them.

    Raises:
        KustomizeError: when a file cannot be read.
    """
    found: list[dict[str, Any]] = []
    for row in rows:
        path = row.get("path") or ""
        if path and (row.get("source") is not None or row.get("targets")):
            raise KustomizeError("cannot specify both path and inline replacement")
        if not path:
            found.append(row)
            continue
        value = plain(read_tree(loader.load(path)).tree)
        if isinstance(value, list):
            found.extend(typed(one, "ReplacementField") for one in value)
        elif isinstance(value, dict):
            found.append(typed(value, "ReplacementField"))
        else:
            kind = "string" if isinstance(value, str) else "invalid"
            raise KustomizeError(f"unsupported replacement type encountered within replacement path: {kind}")
    return found


def apply_replacements(resources: ResMap, replacements: list[dict[str, Any]]) -> None:
    """Put values into fields.

    Raises:
        KustomizeError: when a source or target is not there.
    """
    for replacement in replacements:
        source, fixed = replacement.get("source"), replacement.get("sourceValue")
        if (fixed is None and source is None) or replacement.get("targets") is None:
            raise KustomizeError("replacements must specify a source and at least one target")
        if fixed is not None and source is not None:
            raise KustomizeError("value and resource selectors are mutually exclusive")
        value = fixed if source is None else _source_value(resources, source)
        for target in replacement["targets"]:
            _apply(resources, value, target)


def _source_value(resources: ResMap, source: dict[str, Any]) -> Any:
    resource = _source(resources, source)
    path = source.get("fieldPath") or _DEFAULT_PATH
    try:
        slot = looked_up(resource.tree, field_path(path))
    except KustomizeError as error:
        raise error.within("error looking up replacement source") from None
    if slot is None or is_nothing(slot.value):
        raise KustomizeError(f"fieldPath `{path}` is missing for replacement source {_res_id(source)}")
    options = source.get("options") or {}
    delimiter = options.get("delimiter") or ""
    if not delimiter:
        return slot.value
    if not is_scalar(slot.value):
        raise KustomizeError("delimiter option can only be used with scalar nodes")
    parts, index = text_of(slot.value).split(delimiter), options.get("index") or 0
    if not 0 <= index < len(parts):
        raise KustomizeError(f"options.index {index} is out of bounds for value {text_of(slot.value)}")
    return parts[index]


def _res_id(source: dict[str, Any]) -> ResId:
    gvk = Gvk(*(source.get(name) or "" for name in ("group", "version", "kind")))
    return ResId(gvk, source.get("name") or "", source.get("namespace") or "")


def _source(resources: ResMap, source: dict[str, Any]) -> Resource:
    wanted = _res_id(source)
    found = [
        one
        for one in resources.resources
        if any(id_.is_selected_by(wanted) for id_ in (one.id, *one.previous_ids))
    ]
    if len(found) == 1:
        return found[0]
    options = source.get("options") or {}
    shown = [str(wanted)]
    if source.get("fieldPath"):
        shown.append(source["fieldPath"])
    if options.get("delimiter") or options.get("create"):
        creates = str(bool(options.get("create"))).lower()
        shown.append(f"{options.get('delimiter') or ''}({options.get('index') or 0}), create={creates}")
    text = ":".join(shown)
    raise KustomizeError(f"multiple matches for selector {text}" if found else f"nothing selected by {text}")


def _apply(resources: ResMap, value: Any, target: dict[str, Any]) -> None:
    select = target.get("select")
    if select is None:
        raise KustomizeError("target must specify resources to select")
    rejects = target.get("reject") or []
    wanted, refused = SelectorRegex(select), [(SelectorRegex(one), one) for one in rejects]
    for resource in resources.resources:
        if not matches(select, resource):
            continue
        if any(
            (one.get("annotationSelector") or one.get("labelSelector")) and matches(one, resource)
            for one in rejects
        ):
            continue
        ids = [resource.id, *resource.previous_ids]
        if any(_has_id(one) and any(_selects(regex, id_) for id_ in ids) for regex, one in refused):
            continue
        if any(_selects(wanted, id_) for id_ in ids):
            _copy(resource, value, target)


def _has_id(selector: dict[str, Any]) -> bool:
    return any(selector.get(name) for name in ("group", "version", "kind", "name", "namespace"))


def _selects(regex: SelectorRegex, one: ResId) -> bool:
    return regex.has_kind(one) and regex.has_name(one.name) and regex.has_namespace(one.namespace)


def _copy(resource: Resource, value: Any, target: dict[str, Any]) -> None:
    options = target.get("options") or {}
    creates = bool(options.get("create"))
    for path in target.get("fieldPaths") or [_DEFAULT_PATH]:
        verb = "find or create" if creates else "find"
        missing = f'unable to {verb} field "{path}" in replacement target'
        try:
            slots = matched(resource.tree, field_path(path), copied(value) if creates else None)
        except KustomizeError as error:
            raise error.within(missing) from None
        if not slots:
            raise KustomizeError(missing)
        for slot in slots:
            _set(slot, value, options)


def _set(slot: Slot, value: Any, options: dict[str, Any]) -> None:
    delimiter, index = options.get("delimiter") or "", options.get("index") or 0
    here = slot.value
    if delimiter:
        if not is_scalar(here):
            raise KustomizeError("delimiter option can only be used with scalar nodes")
        parts = text_of(here).split(delimiter)
        if index < 0:
            parts.insert(0, text_of(value))
        elif index >= len(parts):
            parts.append(text_of(value))
        else:
            parts[index] = text_of(value)
        value = delimiter.join(parts)
    if is_scalar(here) and is_scalar(value):
        slot.set(_in_the_type_of(here, text_of(value)))
    else:
        slot.set(copied(value))


def _in_the_type_of(here: Any, text: str) -> Any:
    """Return a text as the scalar that it replaces: a number stays one if the text is a number."""
    if isinstance(here, str):
        return text
    found = plain(read_tree(text).tree)
    if isinstance(found, (dict, list)):
        found = text
    wanted, own = tag_of(here), tag_of(found)
    if own == wanted or (wanted, own) == ("float", "int"):
        return found
    return Misfit(text, own, wanted)
