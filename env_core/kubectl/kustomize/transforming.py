"""What a kustomization does to all resources: namespace, name affixes, labels, annotations, replicas, images.

Source: sigs.k8s.io/kustomize/api internal/builtins, filters (namespace, prefix, suffix, labels, annotations, replicacount,
imagetag), internal/image.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from env_core.kubectl.kustomize.defaults import Config
from env_core.kubectl.kustomize.fieldspecs import (
    MAPPING,
    SCALAR,
    FieldSpec,
    apply_spec,
    merge_specs,
    set_entry,
    set_scalar,
)
from env_core.kubectl.kustomize.ids import Gvk
from env_core.kubectl.kustomize.merging import wrong_kind
from env_core.kubectl.kustomize.problem import KustomizeError
from env_core.kubectl.kustomize.resmap import ResMap
from env_core.kubectl.kustomize.resource import Resource
from env_core.kubectl.kustomize.values import is_null, is_scalar, text_of
from env_core.objects.re2 import Re2Error, compiled

_UNPREFIXED: Final = (
    Gvk(kind="CustomResourceDefinition"),
    Gvk(group="apiregistration.k8s.io", kind="APIService"),
    Gvk(kind="Namespace"),
)
_BINDINGS: Final = ("RoleBinding", "ClusterRoleBinding")
_TAG: Final = "(:[a-zA-Z0-9_.{}-]*)?(@sha256:[a-zA-Z0-9_.{}-]*)?$"


def set_namespace(resources: ResMap, namespace: str, specs: Iterable[FieldSpec]) -> None:
    """Put everything that has a namespace into this one.

    Raises:
        KustomizeError: when two resources become the same.
    """
    specs = list(specs)
    for resource in resources.resources:
        if resource.is_empty:
            continue
        resource.remember()
        _move(resource, namespace, specs)
        own = resource.id
        same = resources.by_current_id(own.equals)
        if len(same) != 1:
            listed = " ".join(one.as_json() for one in same)
            raise KustomizeError(f"namespace transformation produces ID conflict: [{listed}]")


def _move(resource: Resource, namespace: str, specs: list[FieldSpec]) -> None:
    setter = set_scalar(namespace)
    gvk = resource.gvk
    if not gvk.is_cluster_wide:
        apply_spec(resource, FieldSpec("metadata/namespace", creates=True), setter, SCALAR)
    if gvk.kind in _BINDINGS:
        _move_subjects(resource, namespace)
    for spec in specs:
        if spec.path == "metadata/namespace" or (spec.path == "metadata/name" and gvk.api_version != "v1"):
            continue
        if spec.gvk.kind in _BINDINGS and spec.path == "subjects/namespace":
            continue
        try:
            apply_spec(resource, spec, setter, SCALAR)
        except KustomizeError as error:
            if "wrong node kind" in error.text:
                raise error.within("namespace field specs must target scalar nodes") from None
            raise error.within("namespace transformation failed") from None


def _move_subjects(resource: Resource, namespace: str) -> None:
    subjects = resource.tree.get("subjects")
    if is_null(subjects):
        return
    if not isinstance(subjects, list):
        raise KustomizeError(wrong_kind("SequenceNode", subjects)).within(
            "setting namespace on (cluster)role binding subjects"
        )
    for subject in subjects:
        if isinstance(subject, dict) and text_of(subject.get("name")) == "default":
            subject["namespace"] = namespace


def add_affixes(resources: ResMap, specs: Iterable[FieldSpec], *, prefix: str = "", suffix: str = "") -> None:
    """Put a prefix or a suffix on the names; raises `KustomizeError`."""
    specs = list(specs)
    for resource in resources.resources:
        first = resource.first_id
        if any(first.gvk.is_selected(gvk) for gvk in _UNPREFIXED):
            continue
        for spec in specs:
            if not first.gvk.is_selected(spec.gvk):
                continue
            if spec.path == "metadata/name":
                resource.add_prefix(prefix)
                resource.add_suffix(suffix)
                resource.remember()

            def affix(container: Any, key: Any) -> None:
                node = container[key]
                if not is_scalar(node):
                    raise KustomizeError(wrong_kind("ScalarNode", node))
                container[key] = f"{prefix}{text_of(node)}{suffix}"

            apply_spec(resource, spec, affix, SCALAR)


def add_labels(resources: ResMap, fields: dict[str, Any], config: Config) -> None:
    """Add `labels` and `commonLabels`.

    Raises:
        KustomizeError: when field specs do not go together, or fields are no maps.
    """
    rows = [(label.get("pairs") or {}, _label_specs(label, config)) for label in fields.get("labels") or ()]
    rows.append((fields.get("commonLabels") or {}, config.of("commonLabels")))
    for pairs, specs in rows:
        add_pairs(resources, pairs, specs)


def _label_specs(label: dict[str, Any], config: Config) -> list[FieldSpec]:
    own = [
        FieldSpec(
            row.get("path") or "",
            Gvk(row.get("group") or "", row.get("version") or "", row.get("kind") or ""),
            bool(row.get("create")),
        )
        for row in label.get("fields") or ()
    ]
    try:
        specs = merge_specs(own, config.of("labels"))
        if label.get("includeSelectors"):
            return merge_specs(specs, config.of("commonLabels"))
        if label.get("includeTemplates"):
            try:
                specs = merge_specs(specs, config.of("templateLabels"))
            except KustomizeError as error:
                raise error.within("failed to merge template fieldSpec") from None
        return merge_specs(specs, [FieldSpec("metadata/labels", creates=True)])
    except KustomizeError as error:
        raise error if error.text.startswith("failed") else error.within("failed to merge labels") from None


def add_pairs(resources: ResMap, pairs: dict[str, str], specs: Iterable[FieldSpec]) -> None:
    """Add labels or annotations where field specs say; raises `KustomizeError`."""
    specs = list(specs)
    for resource in resources.resources if pairs else ():
        for key in sorted(pairs):
            for spec in specs:
                apply_spec(resource, spec, set_entry(key, pairs[key]), MAPPING)


def set_replicas(resources: ResMap, replica: dict[str, Any], specs: Iterable[FieldSpec]) -> None:
    """Set how many replicas a workload has.

    Raises:
        KustomizeError: when there is none of that name.
    """
    name, count = replica.get("name") or "", replica.get("count") or 0
    specs = list(specs)
    is_found = False
    for spec in specs:
        for resource in resources.by_any_id(
            lambda one, spec=spec: one.name == name and one.gvk.is_selected(spec.gvk)  # type: ignore[misc]
        ):
            is_found = True
            apply_spec(resource, spec, set_scalar(count), SCALAR)
    if not is_found:
        listed = " ".join(str(spec.gvk) for spec in specs)
        raise KustomizeError(
            f"resource with name {name} does not match a config with the following GVK [{listed}]"
        )


def set_image(resources: ResMap, image: dict[str, str], specs: Iterable[FieldSpec]) -> None:
    """Change an image's name, tag or digest wherever containers have it; raises `KustomizeError`."""
    specs = list(specs)
    name = image.get("name") or ""

    def setter(container: Any, key: Any) -> None:
        node = container[key]
        if is_null(node):
            return
        if not is_scalar(node):
            raise KustomizeError(wrong_kind("ScalarNode", node))
        value = text_of(node)
        if _is_image(value, name):
            container[key] = _changed(value, image)

    for resource in resources.resources:
        if resource.kind == "CustomResourceDefinition":
            continue
        _walk_containers(resource.tree, setter)
    for resource in resources.resources:
        if resource.kind == "CustomResourceDefinition":
            continue
        for spec in specs:
            apply_spec(resource, spec, setter)


def _walk_containers(node: Any, setter: Any) -> None:
    """Change images in whatever is called containers or initContainers."""
    if isinstance(node, dict):
        for key, value in node.items():
            _walk_containers(value, setter)
            if key in ("containers", "initContainers") and isinstance(value, list):
                for item in value:
                    if isinstance(item, dict) and "image" in item:
                        setter(item, "image")
                    elif not isinstance(item, dict) and not is_null(item):
                        raise KustomizeError(wrong_kind("MappingNode", item))
    elif isinstance(node, list):
        for item in node:
            _walk_containers(item, setter)


def _is_image(value: str, name: str) -> bool:
    try:
        return compiled(f"^{name}{_TAG}").search(value)
    except Re2Error:
        return False


def split_image(value: str) -> tuple[str, str, str]:
    """Return the name, tag and digest of an image reference."""
    slash = value.find("/")
    slash = max(slash, 0)
    rest = value[slash:]
    at, colon = rest.find("@"), rest.find(":")
    if at < 0 and colon < 0:
        return value, "", ""
    if at >= 0 and (at < colon or colon < 0):
        return value[: slash + at], "", value[slash + at :].removeprefix("@")
    if at >= 0:
        return value[: slash + colon], value[slash + colon + 1 : slash + at], value[slash + at + 1 :]
    return value[: slash + colon], value[slash + colon + 1 :], ""


def _changed(value: str, image: dict[str, str]) -> str:
    name, tag, digest = split_image(value)
    name = image.get("newName") or name
    new_tag, new_digest = image.get("newTag") or "", image.get("digest") or ""
    if new_tag or new_digest:
        tag, digest = new_tag, new_digest
    elif image.get("tagSuffix"):
        tag, digest = tag + image["tagSuffix"], ""
    return name + (f":{tag}" if tag else "") + (f"@{digest}" if digest else "")
