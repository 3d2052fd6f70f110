"""Names in resources that follow the resources which they name, when these get other names.

Source: sigs.k8s.io/kustomize/api filters/nameref, internal/accumulator (namereferencetransformer.go), resmap
(SubsetThatCouldBeReferencedByResource).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from env_core.kubectl.kustomize.defaults import BackReference
from env_core.kubectl.kustomize.fieldspecs import FieldSpec, apply_spec
from env_core.kubectl.kustomize.ids import Gvk, ResId
from env_core.kubectl.kustomize.problem import KustomizeError
from env_core.kubectl.kustomize.resource import Resource
from env_core.kubectl.kustomize.values import is_null, text_of

_ACCOUNT = "ServiceAccount"


def fix_references(resources: list[Resource], references: tuple[BackReference, ...]) -> None:
    """Update the names that resources hold of each other.

    Raises:
        KustomizeError: when a name may mean several resources, or its field is no name.
    """
    firsts = [resource.first_id for resource in resources]
    for resource, first in zip(resources, firsts, strict=True):
        candidates: list[Resource] | None = None
        for reference in references:
            for spec in reference.referrers:
                if not first.gvk.is_selected(spec.gvk):
                    continue
                if candidates is None:
                    candidates = _referable(resource, resources)
                _Reference(resource, spec, reference.gvk, candidates).update()


def _referable(referrer: Resource, resources: list[Resource]) -> list[Resource]:
    own = referrer.id
    if own.gvk.is_cluster_wide:
        return resources
    others = _subject_namespaces(referrer)
    return [
        one
        for one in resources
        if one.gvk.is_cluster_wide
        or one.id.effective_namespace == own.effective_namespace
        or one.namespace in others
    ]


def _subject_namespaces(resource: Resource) -> set[str]:
    subjects = resource.tree.get("subjects") if resource.kind == "RoleBinding" else None
    return {
        text_of(subject["namespace"])
        for subject in (subjects if isinstance(subjects, list) else ())
        if isinstance(subject, dict) and "namespace" in subject and subject.get("kind") == _ACCOUNT
    }


@dataclass(frozen=True, slots=True)
class _Reference:
    """One field of one resource that may name one of some kind."""

    referrer: Resource
    spec: FieldSpec
    target: Gvk
    candidates: list[Resource]

    def update(self) -> None:
        spec = FieldSpec(self.spec.path, self.referrer.gvk, self.spec.creates)
        try:
            apply_spec(self.referrer, spec, self._set)
        except KustomizeError as error:
            raise error.within(
                f"updating name reference in '{self.spec.path}' field of '{self.referrer.id}'"
            ) from None

    def _set(self, container: Any, key: Any) -> None:
        node = container[key]
        if is_null(node):
            return
        if isinstance(node, dict):
            self._set_mapping(node)
        elif isinstance(node, list):
            for index, item in enumerate(node):
                if is_null(item):
                    continue
                if isinstance(item, dict):
                    self._set_mapping(item)
                elif isinstance(item, list):
                    raise KustomizeError(f"{item} is expected to be either a string or a map of string")
                else:
                    self._set_scalar(node, index)
        else:
            self._set_scalar(container, key)

    def _set_scalar(self, container: Any, key: Any) -> None:
        name = text_of(container[key])
        found = self._referral(name, self.candidates, lambda one: one.name)
        if found is None:
            return
        found.add_referrer(self.referrer.id)
        if found.name != name:
            container[key] = found.name

    def _set_mapping(self, node: dict[str, Any]) -> None:
        if "name" not in node:
            raise KustomizeError("path config error; no 'name' field in node")
        name = text_of(node["name"])
        found = self._referral(name, self._in_namespace(node), lambda one: (one.name, one.namespace))
        if found is None:
            return
        found.add_referrer(self.referrer.id)
        if found.name == name and not found.namespace:
            return
        node["name"] = found.name
        if found.namespace:
            node["namespace"] = found.namespace

    def _in_namespace(self, node: dict[str, Any]) -> list[Resource]:
        if "namespace" not in node:
            return self.candidates
        namespace = text_of(node["namespace"])
        return _located(self.candidates, namespace, lambda one: one.first_id) or _located(
            self.candidates, namespace, lambda one: one.id
        )

    def _referral(
        self, name: str, candidates: list[Resource], identity: Callable[[Resource], Any]
    ) -> Resource | None:
        """Return the resource that a name means, None when it means none here.

        Raises:
            KustomizeError: when it may mean several.
        """
        role = self._role()
        found = []
        for one in candidates:
            before = one.previous_ids
            if (
                any(id_.name == name for id_ in before)
                and any(id_.gvk.is_selected(self.target) for id_ in before)
                and (role is None or any(id_.gvk.is_selected(role) for id_ in before))
                and self._is_near(one)
            ):
                found.append(one)
        if len(found) == 1:
            return found[0]
        found = [one for one in found if one.has_affixes_of(self.referrer, allows_none=True)]
        if len(found) > 1:
            found = [one for one in found if one.has_affixes_of(self.referrer, allows_none=False)]
        if not found:
            return None
        if len({identity(one) for one in found}) == 1:
            return found[0]
        raise KustomizeError(self._too_many(found))

    def _is_near(self, one: Resource) -> bool:
        own, other = self.referrer.id, one.id
        return (
            own.gvk.is_cluster_wide
            or other.gvk.is_cluster_wide
            or one.kind == _ACCOUNT
            or own.effective_namespace == other.effective_namespace
        )

    def _role(self) -> Gvk | None:
        role = self.referrer.tree.get("roleRef")
        if not self.spec.path.endswith("roleRef/name") or not isinstance(role, dict):
            return None
        if "apiGroup" not in role or "kind" not in role:
            return None
        return Gvk(group=text_of(role["apiGroup"]), kind=text_of(role["kind"]))

    def _too_many(self, found: list[Resource]) -> str:
        ids: list[ResId] = [one.id for one in found]
        text = f"\n**** Too many possible referral targets to referrer:\n{self.referrer.as_yaml()}\n"
        for index, one in enumerate(found):
            text += f"--- possible referral {index}:\n{one.as_yaml()}\n"
        return f"found multiple possible referrals: {', '.join(map(str, ids))}\n{text}"


def _located(resources: list[Resource], namespace: str, named: Callable[[Resource], ResId]) -> list[Resource]:
    """Return the resources of a namespace, by the name that `named` gives them."""
    return [
        one
        for one in resources
        if not one.gvk.is_cluster_wide and named(one).effective_namespace == namespace
    ]
