"""One resource of a build, with what is remembered of it in annotations until the end.

Source: sigs.k8s.io/kustomize/api resource (resource.go), internal/utils (annotations.go, makeResIds.go).
"""

from __future__ import annotations

import math
from typing import Any, Final

from env_core.kubectl.kustomize.ids import Gvk, ResId, gvk_of
from env_core.kubectl.kustomize.problem import KustomizeError
from env_core.kubectl.kustomize.values import Misfit, copied, go_syntax, is_nothing, plain, text_of
from env_core.objects.jsonout import to_compact_json
from env_core.objects.yamlout import to_yaml

_DOMAIN: Final = "internal.config.kubernetes.io"
_KINDS: Final = f"{_DOMAIN}/previousKinds"
_NAMES: Final = f"{_DOMAIN}/previousNames"
_NAMESPACES: Final = f"{_DOMAIN}/previousNamespaces"
_PREFIXES: Final = f"{_DOMAIN}/prefixes"
_SUFFIXES: Final = f"{_DOMAIN}/suffixes"
_REFERRED: Final = f"{_DOMAIN}/refBy"
_BEHAVIOR: Final = f"{_DOMAIN}/generatorBehavior"
_HASHED: Final = f"{_DOMAIN}/needsHashSuffix"
_RENAMES: Final = f"{_DOMAIN}/allowNameChange"
_RECASTS: Final = f"{_DOMAIN}/allowKindChange"
_PATHS: Final = ("path", "index", "seqindent", "id", "annotations-migration-resource-id")
_BUILD: Final = (
    _KINDS, _NAMES, _PREFIXES, _SUFFIXES, _NAMESPACES, _RENAMES, _RECASTS, _REFERRED, _BEHAVIOR, _HASHED,
    *(f"{_DOMAIN}/{name}" for name in _PATHS), "config.kubernetes.io/path", "config.kubernetes.io/index",
    "config.k8s.io/id", "kustomize.toolkit.fluxcd.io/helm-generated",
)  # fmt: skip
"""What is taken off at the end."""
ORIGIN: Final = "config.kubernetes.io/origin"
TRANSFORMATIONS: Final = "alpha.config.kubernetes.io/transformations"
LOCAL: Final = "config.kubernetes.io/local-config"
_ENABLED: Final = "enabled"


class Resource:
    """A tree with a kind and a name; the tree is changed in place."""

    __slots__ = ("repeats", "tree", "variables")

    def __init__(self, tree: Any, repeats: list[str] | None = None) -> None:
        self.tree: dict[str, Any] = tree if isinstance(tree, dict) else {}
        self.repeats = repeats or []
        self.variables: list[str] = []

    @property
    def is_empty(self) -> bool:
        """Whether a patch has deleted it."""
        return is_nothing(self.tree)

    @property
    def kind(self) -> str:
        """The kind."""
        return text_of(self.tree.get("kind"))

    @property
    def gvk(self) -> Gvk:
        """Group, version and kind."""
        return gvk_of(text_of(self.tree.get("apiVersion")), self.kind)

    @property
    def metadata(self) -> dict[str, Any]:
        """The metadata, or an empty map that belongs to nothing."""
        found = self.tree.get("metadata")
        return found if isinstance(found, dict) else {}

    @property
    def name(self) -> str:
        """The name, as it is now."""
        return text_of(self.metadata.get("name"))

    @property
    def namespace(self) -> str:
        """The namespace as written, as it is now."""
        return text_of(self.metadata.get("namespace"))

    @property
    def annotations(self) -> dict[str, str]:
        """A copy of the annotations."""
        return _texts(self.metadata.get("annotations"))

    @property
    def labels(self) -> dict[str, str]:
        """A copy of the labels."""
        return _texts(self.metadata.get("labels"))

    def set_in_metadata(self, field: str, pairs: dict[str, str]) -> None:
        """Replace a map of the metadata; without pairs there is none."""
        metadata = self.tree.get("metadata")
        if not isinstance(metadata, dict):
            metadata = self.tree["metadata"] = {}
        metadata.pop(field, None)
        if pairs:
            metadata[field] = {key: pairs[key] for key in sorted(pairs)}

    def annotate(self, key: str, value: str) -> None:
        """Set one annotation."""
        self.set_in_metadata("annotations", {**self.annotations, key: value})

    def rename(self, name: str) -> None:
        """Set the name."""
        self._set("name", name)

    def move(self, namespace: str) -> None:
        """Set the namespace, or take it away."""
        if namespace:
            self._set("namespace", namespace)
        else:
            self.metadata.pop("namespace", None)

    def _set(self, field: str, value: str) -> None:
        if not isinstance(self.tree.get("metadata"), dict):
            self.tree["metadata"] = {}
        if text_of(self.metadata.get(field)) != value or field not in self.metadata:
            self.metadata[field] = value

    @property
    def id(self) -> ResId:
        """What it is called now."""
        return ResId(self.gvk, self.name, self.namespace)

    @property
    def previous_ids(self) -> list[ResId]:
        """What it was called before, the first name first."""
        annotations = self.annotations
        if _NAMES not in annotations:
            return []
        gvk = self.gvk
        lists = (annotations.get(key, "").split(",") for key in (_NAMES, _NAMESPACES, _KINDS))
        return [
            ResId(Gvk(gvk.group, gvk.version, kind), name, namespace)
            for name, namespace, kind in zip(*lists, strict=False)
        ]

    @property
    def first_id(self) -> ResId:
        """What it was called in its file."""
        return next(iter(self.previous_ids), self.id)

    @property
    def all_ids(self) -> list[ResId]:
        """What it was called before, and is now."""
        return [*self.previous_ids, self.id]

    def remember(self) -> None:
        """Add what it is called now to what it was called before."""
        now = self.id
        for key, value in (
            (_NAMES, now.name),
            (_NAMESPACES, now.effective_namespace),
            (_KINDS, now.gvk.kind),
        ):
            self._append(key, value)

    def _append(self, key: str, value: str) -> None:
        if value:
            before = self.annotations.get(key)
            self.annotate(key, value if before is None else f"{before},{value}")

    def add_prefix(self, prefix: str) -> None:
        """Remember a prefix."""
        self._append(_PREFIXES, prefix)

    def add_suffix(self, suffix: str) -> None:
        """Remember a suffix."""
        self._append(_SUFFIXES, suffix)

    def add_referrer(self, referrer: ResId) -> None:
        """Remember who refers to it."""
        self._append(_REFERRED, str(referrer))

    def has_affixes_of(self, other: Resource, *, allows_none: bool) -> bool:
        """Whether prefixes and suffixes end alike; `allows_none` lets a side without any pass."""
        for key in (_PREFIXES, _SUFFIXES):
            mine, theirs = self._listed(key), other._listed(key)
            if allows_none and not (mine and theirs):
                continue
            if not _same_ending(mine, theirs):
                return False
        return True

    def _listed(self, key: str) -> list[str]:
        found = self.annotations.get(key)
        return [] if found is None else found.split(",")

    @property
    def behavior(self) -> str:
        """How it goes with one of the same name: create, merge, replace, or unspecified."""
        found = self.annotations.get(_BEHAVIOR, "")
        return found if found in ("create", "merge", "replace") else "unspecified"

    @behavior.setter
    def behavior(self, value: str) -> None:
        self.annotate(_BEHAVIOR, value if value in ("create", "merge", "replace") else "unspecified")

    @property
    def needs_hash(self) -> bool:
        """Whether its name gets a hash of its content."""
        return self.annotations.get(_HASHED) == _ENABLED

    def wants_hash(self) -> None:
        """Let its name get a hash."""
        self.annotate(_HASHED, _ENABLED)

    def allow(self, *, name_change: bool, kind_change: bool) -> None:
        """Say what a patch may change of its target."""
        if name_change:
            self.annotate(_RENAMES, _ENABLED)
        if kind_change:
            self.annotate(_RECASTS, _ENABLED)

    @property
    def may_rename(self) -> bool:
        """Whether this patch may change names."""
        return self.annotations.get(_RENAMES) == _ENABLED

    @property
    def may_recast(self) -> bool:
        """Whether this patch may change kinds."""
        return self.annotations.get(_RECASTS) == _ENABLED

    def internal_annotations(self) -> dict[str, str]:
        """Return the annotations that a build remembers things in."""
        return {key: value for key, value in self.annotations.items() if key.startswith(f"{_DOMAIN}/")}

    def take_identity(self, other: Resource) -> None:
        """Take over labels, annotations, name and namespace of the one that this one replaces."""
        self.set_in_metadata("labels", {**other.labels, **self.labels})
        mine, theirs = self.annotations, other.annotations
        merged = {key: value for key, value in {**theirs, **mine}.items() if key not in _BUILD}
        merged |= {key: theirs[key] for key in _BUILD if key in theirs}
        if _HASHED not in mine:
            merged.pop(_HASHED, None)
        self.set_in_metadata("annotations", merged)
        self.rename(other.name)
        self.move(other.namespace)
        self.variables = list(other.variables)

    def forget(self) -> None:
        """Take off what was remembered in annotations."""
        annotations = self.annotations
        if annotations:
            kept = {key: value for key, value in annotations.items() if key not in _BUILD}
            self.set_in_metadata("annotations", kept)

    def drop_annotation(self, key: str) -> None:
        """Take an annotation off, and write the others as texts."""
        self.set_in_metadata(
            "annotations", {name: text for name, text in self.annotations.items() if name != key}
        )

    def copy(self) -> Resource:
        """Return a deep copy."""
        twin = Resource(copied(self.tree), list(self.repeats))
        twin.variables = list(self.variables)
        return twin

    def as_yaml(self) -> str:
        """Return it as a build prints it.

        Raises:
            KustomizeError: when JSON cannot have it.
        """
        if self.repeats:
            listed = "".join(f"\n  {one}" for one in self.repeats)
            raise KustomizeError(f"map[string]interface {{}}(nil): yaml: unmarshal errors:{listed}")
        misfit = _misfit(self.tree)
        if misfit:
            raise KustomizeError(f"map[string]interface {{}}(nil): {misfit}")
        wrong = _not_json(self.tree)
        if wrong:
            raise KustomizeError(f"{go_syntax(self.tree)}: json: {wrong}")
        return to_yaml(plain(self.tree))

    def as_json(self) -> str:
        """Return it as compact JSON."""
        return to_compact_json(plain(self.tree))


def _texts(pairs: Any) -> dict[str, str]:
    return {text_of(key): text_of(value) for key, value in pairs.items()} if isinstance(pairs, dict) else {}


def _same_ending(left: list[str], right: list[str]) -> bool:
    shorter, longer = sorted((left, right), key=len)
    if not shorter:
        return not longer
    return longer[-len(shorter) :] == shorter


def _misfit(value: Any) -> str:
    if isinstance(value, Misfit):
        return value.problem
    inside = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return next((problem for item in inside if (problem := _misfit(item))), "")


def _not_json(value: Any) -> str:
    if isinstance(value, dict):
        if any(not isinstance(key, str) for key in value):
            return "unsupported type: map[interface {}]interface {}"
        return next((wrong for key in sorted(value) if (wrong := _not_json(value[key]))), "")
    if isinstance(value, list):
        return next((wrong for item in value if (wrong := _not_json(item))), "")
    if isinstance(value, float) and not math.isfinite(value):
        return f"unsupported value: {text_of(value)}"
    return ""
