"""Rules for the metadata of any object.

Source: k8s.io/apimachinery pkg/api/validation and k8s.io/kubernetes pkg/apis/core/validation; texts in
tests/golden/l0/validation.jsonl.gz.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import orjson

from env_core.objects import names
from env_core.objects.label_rules import annotation_problems, invalid_each, label_problems
from env_core.objects.problems import INVALID, Problem, forbidden, invalid, quoted, required, shown
from env_core.world import Object

NameRule = Callable[[str, bool], list[str]]

_IMMUTABLE = "field is immutable"
_IMMUTABLE_FIELDS = (
    "name",
    "namespace",
    "uid",
    "creationTimestamp",
    "deletionTimestamp",
    "deletionGracePeriodSeconds",
)
_STANDARD_FINALIZERS = frozenset({"kubernetes", "orphan", "foregroundDeletion"})
_BANNED_OWNERS = frozenset({("v1", "Event")})
_OWNER_FIELDS = ("apiVersion", "kind", "name", "uid", "controller", "blockOwnerDeletion")


GENERATED_NAME_LENGTH_MAX = 63 - 5
_SUFFIX_LENGTH = 5


def is_name_generated(metadata: Object) -> bool:
    """Whether the server made the name up from `generateName`."""
    name = metadata.get("name") or ""
    base = (metadata.get("generateName") or "")[:GENERATED_NAME_LENGTH_MAX]
    return bool(base) and len(name) == len(base) + _SUFFIX_LENGTH and name.startswith(base)


def without_dashes(name: str, is_prefix: bool) -> str:
    """Return the text that name rules look at: a generateName may end in dashes."""
    if is_prefix and len(name) > 1 and name.endswith("-"):
        return name[:-1].rstrip("-") + "a"
    return name


def name_is_subdomain(name: str, is_prefix: bool) -> list[str]:
    """Check a name by the usual rule, a DNS subdomain."""
    return names.is_dns1123_subdomain(without_dashes(name, is_prefix))


def name_is_label(name: str, is_prefix: bool) -> list[str]:
    """Check a name that must be one DNS label (namespaces, services, stateful sets)."""
    return names.is_dns1123_label(without_dashes(name, is_prefix))


def name_is_path_segment(name: str, is_prefix: bool) -> list[str]:
    """Check a name that only has to fit in a URL path (RBAC objects)."""
    if is_prefix:
        return [f"may not contain '{char}'" for char in "/%" if char in name]
    return names.is_path_segment_name(name)


def validate_object_meta(
    meta: Object,
    is_namespaced: bool,
    name_rule: NameRule | None = None,
    field: str = "metadata",
    *,
    has_free_finalizers: bool = False,
) -> list[Problem]:
    """Check the metadata of a new object, whose name has been generated already.

    `name_rule` gets a name and whether it is a prefix to generate from; None means a DNS subdomain.
    `has_free_finalizers` lets finalizers be that have no domain.
    """
    rule = name_rule or name_is_subdomain
    found: list[Problem] = []
    prefix = meta.get("generateName")
    if prefix:
        found += invalid_each(f"{field}.generateName", prefix, rule(prefix, True))
    name = meta.get("name")
    if not name:
        found.append(required(f"{field}.name", "name or generateName is required"))
    else:
        found += invalid_each(f"{field}.name", name, rule(name, False))
    namespace = meta.get("namespace")
    if is_namespaced:
        if not namespace:
            found.append(required(f"{field}.namespace"))
        else:
            found += invalid_each(f"{field}.namespace", namespace, names.is_dns1123_label(namespace))
    elif namespace:
        found.append(forbidden(f"{field}.namespace", "not allowed on this type"))
    generation = meta.get("generation")
    if generation is not None and generation < 0:
        found.append(invalid(f"{field}.generation", generation, names.NOT_NEGATIVE))
    found += _common_problems(meta, field, has_free_finalizers)
    return found


def validate_object_meta_update(
    new: Object, old: Object, field: str = "metadata", *, has_free_finalizers: bool = False
) -> list[Problem]:
    """Check how the metadata of an existing object changes."""
    found: list[Problem] = []
    if old.get("deletionTimestamp"):
        before = old.get("finalizers") or []
        added = sorted({finalizer for finalizer in new.get("finalizers") or [] if finalizer not in before})
        if added:
            shown_list = "[]string{" + ", ".join(quoted(finalizer) for finalizer in added) + "}"
            text = f"no new finalizers can be added if the object is being deleted, found new finalizers {shown_list}"
            found.append(forbidden(f"{field}.finalizers", text))
    if not new.get("resourceVersion"):
        found.append(invalid(f"{field}.resourceVersion", "", "must be specified for an update"))
    if new.get("generation", 0) < old.get("generation", 0):
        found.append(invalid(f"{field}.generation", new.get("generation", 0), "must not be decremented"))
    for key in _IMMUTABLE_FIELDS:
        if new.get(key) != old.get(key):
            value = new.get(key)
            if value is None and key in ("name", "namespace", "uid"):
                value = ""
            found.append(invalid(f"{field}.{key}", value, _IMMUTABLE))
    if any(new.get(key) is not old.get(key) for key in _CHECKED):
        found += _common_problems(new, field, has_free_finalizers)
    return found


_CHECKED = ("labels", "annotations", "ownerReferences", "finalizers")


def _common_problems(meta: Object, field: str, has_free_finalizers: bool) -> list[Problem]:
    found = label_problems(meta.get("labels"), f"{field}.labels")
    found += annotation_problems(meta.get("annotations"), f"{field}.annotations")
    owners = meta.get("ownerReferences")
    if owners:
        found += _owner_problems(owners, f"{field}.ownerReferences")
    finalizers = meta.get("finalizers")
    if finalizers:
        found += _finalizer_problems(finalizers, f"{field}.finalizers")
        if not has_free_finalizers:
            found += _domain_problems(finalizers, f"{field}.finalizers")
    return found


def _owner_problems(owners: Sequence[Object], field: str) -> list[Problem]:
    found: list[Problem] = []
    controller = ""
    for index, owner in enumerate(owners):
        path = f"{field}[{index}]"
        version = owner.get("apiVersion") or ""
        group, _, short = version.rpartition("/")
        if not version:
            found.append(required(f"{path}.apiVersion", "must not be empty"))
        elif not short or version.count("/") > 1:
            found.append(invalid(f"{path}.apiVersion", version, "version must not be empty"))
        found += [
            required(f"{path}.{key}", "must not be empty")
            for key in ("kind", "name", "uid")
            if not owner.get(key)
        ]
        if (version, owner.get("kind")) in _BANNED_OWNERS:
            detail = f"{group}/{short}, Kind={owner['kind']} is disallowed from being an owner"
            found.append(Problem(INVALID, path, _owner_text(owner), detail))
        if owner.get("controller"):
            name = f"{owner.get('kind')}/{owner.get('name')}"
            if controller:
                detail = (
                    'Only one reference can have Controller set to true. Found "true" in references for '
                    f"{controller} and {name}"
                )
                text = "[" + ",".join(_owner_text(owner) for owner in owners) + "]"
                found.append(Problem(INVALID, field, text, detail))
            else:
                controller = name
    return found


def _owner_text(owner: Object) -> str:
    # Go prints the fields in the order of the struct.
    shown_owner = {
        key: owner.get(key, "") for key in _OWNER_FIELDS if key in owner or key in _OWNER_FIELDS[:4]
    }
    return orjson.dumps(shown_owner).decode()


def _finalizer_problems(finalizers: Sequence[str], field: str) -> list[Problem]:
    found: list[Problem] = []
    for finalizer in finalizers:
        found += invalid_each(field, finalizer, names.is_qualified_name(finalizer))
    if "orphan" in finalizers and "foregroundDeletion" in finalizers:
        text = "finalizer orphan and foregroundDeletion cannot be both set"
        found.append(Problem(INVALID, field, shown(list(finalizers)), text))
    return found


def _domain_problems(finalizers: Sequence[str], field: str) -> list[Problem]:
    found: list[Problem] = []
    for index, finalizer in enumerate(finalizers):
        if "/" not in finalizer and finalizer not in _STANDARD_FINALIZERS:
            text = "name is neither a standard finalizer name nor is it fully qualified"
            found.append(invalid(f"{field}[{index}]", finalizer, text))
    return found
