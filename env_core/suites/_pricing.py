"""What a command costs: a price for every verb that changes something, nothing for looking.

Source: the seed document's table (TR-25) and its completion for the verbs that it leaves open (TR-26).
"""

from __future__ import annotations

from collections.abc import Mapping

from env_core.kubectl import command
from env_core.kubectl.parser import find_verb

READ = 0.0
EXEC = -0.02
CHANGE = -0.05
EDIT = -0.08
ROLL = -0.10
SCALE = -0.15
DESTROY = -0.30
REFUSED = CHANGE
STEP_COST_MIN = -0.30
"""One step never costs more, however many commands its line strings together."""

_READS = frozenset(
    {
        "api-resources", "api-versions", "auth", "cluster-info", "config", "describe", "diff", "events", "explain", "get",
        "help", "kustomize", "logs", "options", "plugin", "top", "version", "wait", "completion",
    }
)  # fmt: skip
_PRICES: Mapping[str, float] = {
    "exec": EXEC,
    "edit": EDIT,
    "scale": SCALE,
    "delete": DESTROY,
    "drain": DESTROY,
    "cordon": ROLL,
    "uncordon": ROLL,
    "taint": ROLL,
}
_ROLLOUT_READS = frozenset({"status", "history"})


def verb_of(argv: list[str]) -> tuple[str, str]:
    """Return the verb that kubectl finds in a command line, and the verb below it; "" where there is none.

    The real look-up decides, not the first word: flags and their values may stand in front of the verb.
    """
    verb, path, rest = find_verb(command.root(), argv[1:])
    names = path.split(" ")[1:]
    if verb is command.root():
        names = [word for word in rest if not word.startswith("-")][:1]
    names += ["", ""]
    return names[0], names[1]


def is_mutating(argv: list[str]) -> bool:
    """Whether a kubectl command line may change the cluster (an exec may, too)."""
    verb, sub = verb_of(argv)
    if verb == "rollout":
        return sub not in _ROLLOUT_READS and sub != ""
    return verb != "" and verb not in _READS and not _only_tries(argv)


def _only_tries(argv: list[str]) -> bool:
    """Whether the flags, as kubectl reads them, make a changing verb show what it would do or what there is."""
    args = command.parsed(tuple(argv[1:]))
    if args is None:
        return False
    return args.values.get("dry-run", "none") in ("client", "server") or args.values.get("list") is True


_OBJECT_READS = frozenset(
    {
        "api-resources",
        "api-versions",
        "auth",
        "cluster-info",
        "config",
        "describe",
        "events",
        "explain",
        "get",
        "help",
        "options",
        "version",
    }
)
_TEXT_TOOLS = frozenset(
    {
        "awk",
        "cat",
        "cut",
        "echo",
        "egrep",
        "fgrep",
        "grep",
        "head",
        "jq",
        "printf",
        "sed",
        "sort",
        "tail",
        "tr",
        "uniq",
        "wc",
    }
)
_WATCHING = frozenset({"-w", "--watch", "--watch-only"})


def only_reads_objects(argv: list[str]) -> bool:
    """Whether a command can tell nothing of what requests leave behind (logs, usage) and lets no time pass."""
    if not argv or argv[0] in _TEXT_TOOLS:
        return True
    if argv[0] != "kubectl":
        return False
    verb, sub = verb_of(argv)
    if verb == "rollout":
        return sub == "history"
    return verb in _OBJECT_READS and not _WATCHING.intersection(argv)


def price(argv: list[str]) -> float:
    """Return the (non-positive) price of one command: 0 for curl and text tools."""
    if not argv or argv[0] != "kubectl":
        return READ
    verb, _sub = verb_of(argv)
    if verb == "rollout":
        return ROLL if is_mutating(argv) else READ
    if verb in _PRICES:
        return _PRICES[verb]
    return CHANGE if is_mutating(argv) else READ
