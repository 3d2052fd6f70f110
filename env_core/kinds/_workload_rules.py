"""Rules that workloads share: their selector and template, replica counts, fields that stay as they are.

Source: k8s.io/kubernetes pkg/apis/apps/validation; texts in tests/golden/l0/validation.jsonl.gz.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from env_core.kinds._field_rules import unsupported
from env_core.kinds._internal_types import selector_text
from env_core.kinds._podspec_validation import validate_pod_template
from env_core.objects import selectors
from env_core.objects.label_rules import is_empty_selector, is_usable_selector, selector_problems
from env_core.objects.problems import INVALID, Problem, forbidden, invalid, required, shown
from env_core.world import Object

IMMUTABLE = "field is immutable"
MISMATCH = "`selector` does not match template `labels`"


def selector_and_template(spec: Object, noun: str, limited: str, claims: Sequence[str] = ()) -> list[Problem]:
    """Check selector and template of a workload that must have a selector.

    `noun` names the workload in the complaint about an empty selector, `limited` in the one about deadlines;
    `claims` names the volumes that come from claim templates.
    """
    selector = spec.get("selector")
    found: list[Problem] = []
    if selector is None:
        found.append(required("spec.selector"))
    else:
        found += selector_problems(selector, "spec.selector")
        if is_empty_selector(selector):
            text = f"empty selector is invalid for {noun}"
            found.append(Problem(INVALID, "spec.selector", selector_text(selector), text))
    if not is_usable_selector(selector):
        found.append(Problem(INVALID, "spec.selector", selector_text(selector), "invalid label selector"))
        return found
    found += template_problems(spec, selector, claims)
    return found + always_running(spec, limited)


def template_problems(spec: Object, selector: Object | None, claims: Sequence[str] = ()) -> list[Problem]:
    """Check the template, and that the selector (nothing, when None) selects its pods."""
    template = spec.get("template") or {}
    found: list[Problem] = []
    labels = (template.get("metadata") or {}).get("labels")
    if not selectors.from_object(selector).matches(labels):
        found.append(invalid("spec.template.metadata.labels", labels, MISMATCH))
    return found + validate_pod_template(template, "spec.template", claims)


def always_running(spec: Object, limited: str) -> list[Problem]:
    """Check that the template's pods run without end."""
    pod_spec = (spec.get("template") or {}).get("spec") or {}
    found: list[Problem] = []
    policy = pod_spec.get("restartPolicy")
    if policy != "Always":
        found.append(unsupported("spec.template.spec.restartPolicy", policy or "", ("Always",)))
    if pod_spec.get("activeDeadlineSeconds") is not None:
        text = f"activeDeadlineSeconds in {limited} is not Supported"
        found.append(forbidden("spec.template.spec.activeDeadlineSeconds", text))
    return found


def unchanged_field(new: Object, old: Object, key: str, *, shown_as: str | None = None) -> list[Problem]:
    """Check that the field `key` of the spec stays as it is."""
    if new.get(key) == old.get(key):
        return []
    text = _shown(new.get(key)) if shown_as is None else shown_as
    return [Problem(INVALID, f"spec.{key}", text, IMMUTABLE)]


def _shown(value: Any) -> str:
    return selector_text(value) if isinstance(value, dict) else shown(value)


def not_above(status: Object, keys: tuple[str, ...], limit: str, text: str) -> list[Problem]:
    """Check that the counts `keys` of a status do not exceed its count `limit`."""
    most = status.get(limit) or 0
    return [
        invalid(f"status.{key}", status.get(key) or 0, text) for key in keys if (status.get(key) or 0) > most
    ]


def collision_count_kept(new: Object, old: Object) -> list[Problem]:
    """Check that a status does not forget hash collisions."""
    before = (old.get("status") or {}).get("collisionCount")
    after = (new.get("status") or {}).get("collisionCount")
    if before is not None and (after is None or after < before):
        return [invalid("status.collisionCount", after or 0, "cannot be decremented")]
    return []
