"""What a command costs: a price for every verb that changes something, nothing for looking.

Source: the seed document's table (TR-25) and its completion for the verbs that it leaves open (TR-26).
"""

from __future__ import annotations

from collections.abc import Mapping

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
        "help", "logs", "options", "top", "version", "wait", "completion",
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
_GLOBAL_FLAGS_WITH_VALUE = frozenset(
    {
        "-n", "--namespace", "--context", "--cluster", "--user", "--request-timeout", "-v", "--v", "--cache-dir", "--kubeconfig",
        "-s", "--server", "--token", "--as", "--as-group", "--as-uid", "--certificate-authority", "--client-certificate",
        "--client-key", "--tls-server-name", "--password", "--username", "--profile", "--profile-output", "--log-flush-frequency",
        "--vmodule", "--kuberc", "--as-user-extra",
    }
)  # fmt: skip


def verb_of(argv: list[str]) -> tuple[str, str]:
    """Return a kubectl command line's verb and the word after it, global flags left out; "" where there is none."""
    words: list[str] = []
    skip = False
    for word in argv[1:]:
        if skip:
            skip = False
            continue
        if word.startswith("-"):
            skip = word in _GLOBAL_FLAGS_WITH_VALUE
            continue
        words.append(word)
        if len(words) == 2:
            break
    words += ["", ""]
    return words[0], words[1]


def is_mutating(argv: list[str]) -> bool:
    """Whether a kubectl command line may change the cluster (an exec may, too)."""
    verb, sub = verb_of(argv)
    if verb == "rollout":
        return sub not in _ROLLOUT_READS and sub != ""
    return verb != "" and verb not in _READS


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
