"""Help texts: the real usage lines and flag names, in our own few words."""

from __future__ import annotations

from collections.abc import Mapping

from env_core.kubectl.parser import GLOBAL_FLAGS
from env_core.kubectl.verb import Array, Duration, Flag, Int32, Slice, Verb

_FOOTER = 'Use "kubectl options" for a list of global command-line options (applies to all commands).\n'


Groups = Mapping[str, tuple[str, ...]]
"""Sub-commands by the heading that they stand under."""


def help_text(verb: Verb, path: str, groups: Groups | None = None) -> str:
    """Return what --help prints for `verb`, nothing for `options`.

    Source: k8s.io/kubectl pkg/util/templates.
    """
    if not verb.helps:
        return ""
    parts = [f"{verb.summary or verb.name}\n"]
    if verb.aliases:
        parts.append("Aliases:\n" + ", ".join((verb.name, *verb.aliases)) + "\n")
    shown = [sub for sub in verb.subverbs.values() if not sub.is_hidden]
    if shown:
        width = max(len(sub.name) for sub in verb.subverbs.values()) + 3
        by_name = {sub.name: sub for sub in shown}
        for heading, names in (groups or {"Available Commands:": tuple(sorted(by_name))}).items():
            lines = [
                f"  {name:<{width}}{by_name[name].summary}".rstrip() for name in names if name in by_name
            ]
            parts.append("\n".join((heading, *lines)) + "\n")
    flags = [flag for flag in verb.flags if not (flag.is_hidden or flag.deprecated)]
    if flags:
        parts.append(
            "Options:\n" + "\n".join(_flag_lines(flag) for flag in sorted(flags, key=lambda flag: flag.name))
        )
    options = "" if "[options]" in verb.usage else " [options]"
    parts.append(f"Usage:\n  kubectl {verb.usage}{options}\n".replace("kubectl  ", "kubectl "))
    footer = f'Use "{path} <command> --help" for more information about a given command.\n' if shown else ""
    parts.append(footer + _FOOTER)
    return "\n".join(parts)


def options_text() -> str:
    """Return what `kubectl options` prints: the flags of every command."""
    head = "The following options can be passed to any command:\n\n"
    return head + "\n".join(_flag_lines(flag) for flag in GLOBAL_FLAGS)


def _flag_lines(flag: Flag) -> str:
    letter = f"-{flag.shorthand}, " if flag.shorthand else ""
    return f"    {letter}--{flag.name}={_default_text(flag)}:\n\t{flag.words}\n"


def _default_text(flag: Flag) -> str:
    if flag.shown is not None:
        return flag.shown
    if flag.type in (Slice, Array):
        return f"[{','.join(flag.default or ())}]"
    if flag.type is bool:
        return "true" if flag.default else "false"
    if flag.type in (int, Int32):
        return str(flag.default or 0)
    if flag.type is Duration:
        return str(flag.default or "0s")
    return f"'{flag.default or ''}'"
