"""Label selectors as Go prints them."""

from __future__ import annotations

from env_core.world import Object


def go_text(selector: Object) -> str:
    """Return a LabelSelector as its generated Go String method writes it."""
    labels = selector.get("matchLabels") or {}
    pairs = "".join(f"{key}: {labels[key]}," for key in sorted(labels))
    rows = "".join(
        f"LabelSelectorRequirement{{Key:{row.get('key', '')},Operator:{row.get('operator', '')},"
        f"Values:[{' '.join(row.get('values') or ())}],}},"
        for row in selector.get("matchExpressions") or ()
    )
    return (
        f"&LabelSelector{{MatchLabels:map[string]string{{{pairs}}},"
        f"MatchExpressions:[]LabelSelectorRequirement{{{rows}}},}}"
    )
