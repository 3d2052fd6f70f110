"""The resources of a build, in order, no two with the same name.

Source: sigs.k8s.io/kustomize/api resmap (reswrangler.go), types (selector.go).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from env_core.kubectl.kustomize.ids import ResId
from env_core.kubectl.kustomize.merging import merge_patch
from env_core.kubectl.kustomize.problem import KustomizeError
from env_core.kubectl.kustomize.resource import Resource
from env_core.kubectl.kustomize.values import copied
from env_core.objects import selectors
from env_core.objects.re2 import Re2Error, Regexp, compiled

Matcher = Callable[[ResId], bool]


class ResMap:
    """An ordered collection of resources."""

    __slots__ = ("resources",)

    def __init__(self, resources: Iterable[Resource] = ()) -> None:
        self.resources: list[Resource] = []
        self.extend(resources)

    def append(self, resource: Resource) -> None:
        """Add a resource.

        Raises:
            KustomizeError: when there is one of that name.
        """
        own = resource.id
        if any(own.equals(other.id) for other in self.resources):
            raise KustomizeError(f"may not add resource with an already registered id: {own}")
        self.resources.append(resource)

    def extend(self, resources: Iterable[Resource]) -> None:
        """Add resources; raises as `append`."""
        for resource in resources:
            self.append(resource)

    def by_current_id(self, matches: Matcher) -> list[Resource]:
        """Return the resources whose names now match."""
        return [resource for resource in self.resources if matches(resource.id)]

    def by_any_id(self, matches: Matcher) -> list[Resource]:
        """Return the resources that match by a name that they have or had."""
        return [
            resource
            for resource in self.resources
            if not resource.is_empty and any(matches(one) for one in resource.all_ids)
        ]

    def get(self, wanted: ResId) -> Resource:
        """Return the only resource of a name.

        Raises:
            KustomizeError: when there is none, or several.
        """
        found = self.by_any_id(wanted.equals)
        if len(found) == 1:
            return found[0]
        what = "multiple matches" if found else "no matches"
        raise KustomizeError(f"{what} for Id {wanted}; failed to find unique target for patch {wanted}")

    def absorb(self, resource: Resource) -> None:
        """Add a generated resource, or put it in the place of the one that it merges into or replaces.

        Raises:
            KustomizeError: when its behaviour does not fit what is there.
        """
        own = resource.id
        found = self.by_any_id(own.equals)
        if not found:
            if resource.behavior in ("merge", "replace"):
                raise KustomizeError(f"id {own.go_text} does not exist; cannot merge or replace")
            self.append(resource)
            return
        if len(found) > 1:
            listed = " ".join(one.as_json() for one in found)
            raise KustomizeError(f"found multiple objects [{listed}] that could accept merge of {own}")
        old = found[0]
        index = next(index for index, one in enumerate(self.resources) if one is old)
        if resource.behavior not in ("merge", "replace"):
            raise KustomizeError(
                f"id {own.go_text} exists; can not use behavior: '{resource.behavior}', "
                "behavior must be merge or replace"
            )
        is_merge = resource.behavior == "merge"
        resource.take_identity(old)
        if is_merge:
            for field in ("data", "binaryData"):
                _merge_data(resource, old, field)
        self.resources[index] = resource

    def select(self, selector: dict[str, Any]) -> list[Resource]:
        """Return the resources that a patch's target means.

        Raises:
            KustomizeError: for a selector that is none.
        """
        wanted = SelectorRegex(selector)
        found = []
        for resource in self.resources:
            first, now = resource.first_id, resource.id
            if not (
                wanted.has_namespace(first.effective_namespace)
                or wanted.has_namespace(now.effective_namespace)
            ):
                continue
            if not (wanted.has_name(first.name) or wanted.has_name(now.name)):
                continue
            if not wanted.has_kind(now):
                continue
            if matches(selector, resource):
                found.append(resource)
        return found

    def apply_patch(self, targets: Iterable[Resource], patch: Resource) -> None:
        """Merge a patch into resources, and drop those that it deletes.

        Raises:
            KustomizeError: when the patch does not fit.
        """
        chosen = {target.id for target in targets}
        kept = []
        for resource in self.resources:
            if resource.id in chosen:
                own = patch.copy()
                own.take_identity(patch)
                own.tree["apiVersion"] = resource.gvk.api_version
                apply_patch(resource, own)
            if not resource.is_empty:
                kept.append(resource)
        self.resources = []
        self.extend(kept)

    def drop_empties(self) -> None:
        """Drop what patches have deleted."""
        self.resources = [resource for resource in self.resources if not resource.is_empty]


def apply_patch(resource: Resource, patch: Resource) -> None:
    """Merge a patch into a resource, whose name and kind stay unless the patch may change them.

    Raises:
        KustomizeError: when the patch does not fit.
    """
    name, namespace, kind = resource.name, resource.namespace, resource.kind
    if patch.may_rename or patch.may_recast:
        resource.remember()
    resource.tree = merge_patch(resource.tree, copied(patch.tree))
    if resource.is_empty:
        return
    if not patch.may_recast:
        resource.tree["kind"] = kind
    if not patch.may_rename:
        resource.rename(name)
    resource.move(namespace)


class SelectorRegex:
    """The regular expressions of a selector; empty ones match everything."""

    __slots__ = ("_parts",)

    def __init__(self, selector: dict[str, Any]) -> None:
        self._parts: dict[str, Regexp | None] = {}
        for name in ("group", "version", "kind", "name", "namespace"):
            pattern = selector.get(name) or ""
            try:
                self._parts[name] = compiled(f"^(?:{pattern})$") if pattern else None
            except Re2Error as error:
                raise KustomizeError(str(error)) from None

    def _matches(self, part: str, text: str) -> bool:
        pattern = self._parts[part]
        return pattern is None or pattern.search(text)

    def has_kind(self, one: ResId) -> bool:
        """Whether group, version and kind match."""
        gvk = one.gvk
        return (
            self._matches("group", gvk.group)
            and self._matches("version", gvk.version)
            and self._matches("kind", gvk.kind)
        )

    def has_name(self, name: str) -> bool:
        """Whether a name matches."""
        return self._matches("name", name)

    def has_namespace(self, namespace: str) -> bool:
        """Whether a namespace matches."""
        return self._matches("namespace", namespace)


def matches(selector: dict[str, Any], resource: Resource) -> bool:
    """Whether labels and annotations are as a selector wants.

    Raises:
        KustomizeError: for a selector that is none.
    """
    try:
        return selectors.parse_labels(selector.get("labelSelector") or "").matches(
            resource.labels
        ) and selectors.parse_labels(selector.get("annotationSelector") or "").matches(resource.annotations)
    except selectors.SelectorError as error:
        raise KustomizeError(str(error)) from None


def _merge_data(resource: Resource, old: Resource, field: str) -> None:
    merged: dict[str, Any] = {}
    for one in (old, resource):
        data = one.tree.get(field)
        if isinstance(data, dict):
            merged.update(data)
    resource.tree.pop(field, None)
    if merged:
        resource.tree[field] = {key: merged[key] for key in sorted(merged)}
