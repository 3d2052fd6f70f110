"""Patches of a kustomization: which kind they are, what they mean, and applying them.

Source: sigs.k8s.io/kustomize/api internal/builtins (PatchTransformer.go, PatchStrategicMergeTransformer.go,
PatchJson6902Transformer.go), filters/patchjson6902; gopkg.in/evanphx/json-patch.v4.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from env_core.kubectl.kustomize.jsonpatching import patched
from env_core.kubectl.kustomize.loading import Loader
from env_core.kubectl.kustomize.problem import KustomizeError
from env_core.kubectl.kustomize.reading import read_resources
from env_core.kubectl.kustomize.resmap import ResMap, apply_patch
from env_core.kubectl.kustomize.resource import Resource
from env_core.kubectl.kustomize.values import plain
from env_core.objects import gojson
from env_core.objects.jsonout import quote, to_compact_json
from env_core.objects.yamlin import YamlProblem, read_yaml
from env_core.objects.yamlout import to_yaml


@dataclass(frozen=True, slots=True)
class Patch:
    """One entry of `patches`: resources that are merged, or the operations of a JSON patch."""

    source: str
    target: dict[str, Any] | None
    merges: list[Resource]
    operations: list[Any] | None

    def apply(self, resources: ResMap) -> None:
        """Patch what it means.

        Raises:
            KustomizeError: when it means nothing, or does not fit.
        """
        if self.operations is None:
            self._merge(resources)
            return
        if self.target is None:
            raise KustomizeError(f"must specify a target for JSON patch {self.source}")
        for resource in resources.select(self.target):
            resource.remember()
            apply_operations(resource, self.operations)

    def _merge(self, resources: ResMap) -> None:
        if self.target is not None:
            if len(self.merges) > 1:
                raise KustomizeError(
                    "Multiple Strategic-Merge Patches in one `patches` entry is not allowed to set `patches.target` "
                    f"field: {self.source}"
                )
            for patch in self.merges:
                try:
                    targets = resources.select(self.target)
                except KustomizeError as error:
                    raise error.within(
                        f"unable to find patch target {quote(_selector_text(self.target))} in `resources`"
                    ) from None
                resources.apply_patch(targets, patch)
            return
        for patch in self.merges:
            wanted = patch.first_id
            try:
                target = resources.get(wanted)
            except KustomizeError as error:
                raise error.within(f'no resource matches strategic merge patch "{wanted}"') from None
            apply_patch(target, patch.copy())


def read_patch(loader: Loader, fields: dict[str, Any]) -> Patch:
    """Return a patch as an entry of `patches` has it.

    Raises:
        KustomizeError: when there is no patch, or it is of neither kind.
    """
    try:
        return _read_patch(loader, fields)
    except KustomizeError as error:
        raise configuring(
            "PatchTransformer", _config(fields, "path", "patch", "target", "options"), error
        ) from None


def _read_patch(loader: Loader, fields: dict[str, Any]) -> Patch:
    path = fields.get("path") or ""
    text = (fields.get("patch") or "").strip()
    config = _config({**fields, "patch": fields.get("patch") or ""}, "path", "patch", "target", "options")
    if not text and not path:
        raise KustomizeError(f"must specify one of patch and path in\n{config}")
    if text and path:
        raise KustomizeError(f"patch and path can't be set at the same time\n{config}")
    source = f"[patch: {quote(text)}]"
    if path:
        try:
            text = loader.load(path)
        except KustomizeError as error:
            raise KustomizeError(f"failed to get the patch file from path({path}): {error.text}") from None
        source = f'[path: "{path}"]'
    merges, operations = _merges(text), _operations(text)
    if merges and operations:
        raise KustomizeError(f"illegally qualifies as both an SM and JSON patch: {source}")
    if merges is None and operations is None:
        raise KustomizeError(f"unable to parse SM or JSON patch from {source}")
    options = fields.get("options") or {}
    for patch in merges or ():
        patch.allow(
            name_change=bool(options.get("allowNameChange")), kind_change=bool(options.get("allowKindChange"))
        )
    return Patch(source, fields.get("target"), merges or [], operations if merges is None else None)


def _merges(text: str) -> list[Resource] | None:
    """Return a text as resources, None when it holds none."""
    try:
        return [Resource(document.tree, document.repeats) for document in read_resources(text)]
    except KustomizeError:
        return None


def _operations(text: str) -> list[Any] | None:
    """Return a text as the operations of a JSON patch, None when it holds none."""
    try:
        found = gojson.loads(text) if text.startswith("[") else read_yaml(text)
    except (ValueError, YamlProblem):
        return None
    if found is None:
        return []
    if not isinstance(found, list) or not all(item is None or isinstance(item, dict) for item in found):
        return None
    return found


def apply_operations(resource: Resource, operations: list[Any]) -> None:
    """Apply a JSON patch to a resource.

    Raises:
        KustomizeError: in the words of the JSON patch library.
    """
    kept = resource.internal_annotations()
    changed = patched(plain(resource.tree), operations)
    resource.tree = changed if isinstance(changed, dict) else {}
    resource.set_in_metadata("annotations", {**resource.annotations, **kept})


def read_strategic(loader: Loader, paths: list[str]) -> list[Resource]:
    """Return the patches that are written out, or stand in files.

    Raises:
        KustomizeError: when one cannot be read.
    """
    found: list[Resource] = []
    try:
        for path in paths:
            merges = _merges(path)
            if merges is None:
                text = loader.load(path)
                try:
                    documents = read_resources(text)
                except KustomizeError as error:
                    if "MalformedYAMLError" in error.text:
                        raise KustomizeError(f"{error.text} in File: {path}") from None
                    raise
                merges = [Resource(document.tree, document.repeats) for document in documents]
            found.extend(merges)
        if not found:
            raise KustomizeError(f"patch appears to be empty; files=[{' '.join(paths)}], Patch=")
    except KustomizeError as error:
        raise configuring("PatchStrategicMergeTransformer", to_yaml({"paths": paths}), error) from None
    return found


def read_json6902(loader: Loader, fields: dict[str, Any]) -> Patch:
    """Return a patch as an entry of `patchesJson6902` has it.

    Raises:
        KustomizeError: when it has no target or operations.
    """
    path, text = fields.get("path") or "", fields.get("patch") or ""
    config = _config({**fields, "jsonOp": text}, "target", "path", "jsonOp")
    try:
        return _read_json6902(loader, fields.get("target"), path, text)
    except KustomizeError as error:
        raise configuring("PatchJson6902Transformer", config, error) from None


def _read_json6902(loader: Loader, target: dict[str, Any] | None, path: str, text: str) -> Patch:
    if not target or not target.get("name"):
        raise KustomizeError("must specify the target name")
    if not path and not text:
        raise KustomizeError("empty file path and empty jsonOp")
    if path:
        if text:
            raise KustomizeError("must specify a file path or jsonOp, not both")
        text = loader.load(path)
        if not text:
            raise KustomizeError(f"patch file '{path}' empty seems to be empty")
    if not text.startswith("["):
        try:
            text = to_compact_json(read_yaml(text))
        except YamlProblem as problem:
            raise KustomizeError(f"yaml: {problem}") from None
    operations = _operations(text)
    if operations is None:
        raise KustomizeError(
            f"decoding {text}: json: cannot unmarshal {_word(text)} into Go value of type jsonpatch.Patch"
        )
    if not operations:
        raise KustomizeError(f"patch appears to be empty; file={path}, JsonOp={text}")
    return Patch(text, target, [], operations)


def _word(text: str) -> str:
    return "object" if text.startswith("{") else "string" if text.startswith('"') else "number"


def configuring(plugin: str, config: str, error: KustomizeError) -> KustomizeError:
    """Return the error of a transformer that does not take its part of the kustomization."""
    return KustomizeError(f"trouble configuring builtin {plugin} with config: `\n{config}`: {error.text}")


def _config(fields: dict[str, Any], *names: str) -> str:
    """Return the part of a kustomization that a transformer gets, as YAML."""
    kept = {name: fields[name] for name in names if fields.get(name) not in (None, "")}
    return to_yaml(kept)


def _selector_text(selector: dict[str, Any]) -> str:
    names = ("kind", "version", "group")
    kind, version, group = (selector.get(name) or "" for name in names)
    gvk = f"{kind or '[noKind]'}.{version or '[noVer]'}.{group or '[noGrp]'}"
    name, namespace = selector.get("name") or "[noName]", selector.get("namespace") or "[noNs]"
    annotations, labels = selector.get("annotationSelector") or "", selector.get("labelSelector") or ""
    return f"{gvk}/{name}.{namespace}:a={annotations}:l={labels}"
