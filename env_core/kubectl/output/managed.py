"""Whether a command can show managedFields: only then the API is asked for them, as working them out costs."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from env_core.kubectl.output.customcolumns import CustomColumnsError, parse_columns
from env_core.kubectl.verb import Args

_ACTION: Final = re.compile(r"\{([^{}]*)\}")
_PATH: Final = re.compile(
    r"""\s* (?:range\s+)? [@$]? (?: \.?items (?:\[[^\]]*\])? )? \.?
        (?: metadata\.(?!managedFields)[A-Za-z] | (?!items|metadata)[A-Za-z] ) [^{}]* """,
    re.VERBOSE,
)
_ITEMS: Final = re.compile(r"\s*range\s+[@$]?\.?items(?:\[[^\]]*\])?\s*")
_WORDS: Final = re.compile(r"""\s*(?: end | "[^"]*" | '[^']*' )\s*""", re.VERBOSE)


def sees_managed_fields(args: Args) -> bool:
    """Whether what a command prints may hold managedFields. Says yes where that is hard to tell."""
    if not args.has("output"):
        return _is_shown(args) or bool(args.has("server-side") and args.is_set("server-side"))
    if _is_shown(args) or (args.has("raw") and "raw" in args.given):
        return True
    if args.has("server-side") and args.is_set("server-side"):
        return True  # apply looks for what client-side apply manages
    template = args.text("template") if args.has("template") else ""
    name, _, value = args.text("output").partition("=")
    return _may_show(name, template or value) if name or template else False


def _is_shown(args: Args) -> bool:
    return args.has("show-managed-fields") and args.is_set("show-managed-fields")


@lru_cache(maxsize=512)
def _may_show(name: str, template: str) -> bool:
    if name.startswith("jsonpath") and name != "jsonpath-file":
        return not _is_harmless(template)
    if name == "custom-columns":
        try:
            return not all(_is_harmless(column.template) for column in parse_columns(template))
        except CustomColumnsError:
            return False
    return name not in ("", "wide", "name", "json", "yaml", "kyaml")


def _is_harmless(template: str) -> bool:
    """Whether every action of a JSONPath template goes to a field that is neither managedFields nor above it."""
    if "managedFields" in template or ".." in template or "*" in template.replace("[*]", ""):
        return False
    actions = _ACTION.findall(template) if "{" in template else [template]
    return all(
        _PATH.fullmatch(action) or _ITEMS.fullmatch(action) or _WORDS.fullmatch(action) for action in actions
    )
