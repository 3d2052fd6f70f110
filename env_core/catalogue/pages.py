"""The generated pages: the catalogue, what is known to differ from Kubernetes, and the names of the seed documents."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any, Final

from env_core import controllers
from env_core.apiserver import schema
from env_core.apiserver.boot import boot_objects
from env_core.catalogue.sections import SECTIONS
from env_core.catalogue.seed_names import ALIASES, FILES
from env_core.cluster import registry
from env_core.controllers import Controller
from env_core.discovery import discover
from env_core.kubectl import command as kubectl
from env_core.sim.rng import Streams

_BASELINES: Final = Path(__file__).resolve().parents[2] / "docs" / "baselines.json"
_REMAINING: Final = Path(__file__).resolve().parents[2] / "tests" / "golden" / "remaining.json"

FIDELITY_HEAD: Final = """\
The target is Kubernetes 1.37.2 with the default feature gates. Texts and rules come from recorded answers of the real code (`tests/golden/`,
where every file names its version); the tests replay them and state how many match. What follows is known to differ.

## By design

- **A simulator, not a cluster.** Pod status is computed from declared programs, not observed of processes. There is one control plane,
  without etcd, HA or leader election; its certificates are made up from seeds and signed by nobody's key. There is one clock in
  milliseconds, which a node may be declared to show wrong.
- **Identities are drawn from the seed**: uids, name suffixes, pod and cluster addresses, container ids. Event names end in the virtual
  nanosecond plus a count, as the virtual clock ticks in milliseconds.
- **Latencies are modelled.** A controller looks some ten milliseconds after a change, without queue contention; image pulls, starts and
  stops take the times that the recordings show.
- **Heartbeats are computed when read.** Lease renewals and node heartbeats never raise a resourceVersion while the node is well.
- **Images are declarations.** What the simulated registries hold is in the catalogue; any other image fails to pull.
- **Prose is our own.** Help texts and `explain` have the real usage lines, flags, fields and types, with few words of ours between them.
- **No terminal in the native kubectl.** `edit` opens what `KUBE_EDITOR` or `EDITOR` names, as a program of the shell; `attach` shows
  what is printed and takes no keys; `exec -i` hands over what is piped in; `port-forward` and `proxy` are refused with a text that
  says what to use. Clients of the REST interface have them all.
- **What the real binary answers otherwise**, by `python -m tests.golden.live_kubectl`: several broken documents or list items of one file
  (which are told of, and in which order: `describe`, `label`, `annotate`, `diff`, `get`), `scale` of kinds that have no scale, and
  `logs --all-pods` of a ReplicaSet without pods, which the real one waits for.
- **Expressions are bounded.** `grep`, `sed`, `awk` and `jq` refuse an expression that could divide a text in too many ways.
- **Bounds.** A shell line, its output and its virtual time are bounded; a watch ends at its time limit.

## Not simulated

- Server-side apply works on objects, their status and scale, not on `resize` and `ephemeralcontainers`; managers in another API
  version than the one served are compared in that one.
- Calls of webhooks (admission and conversion) take no time; only their time-outs count. `namespaceSelector`s and match
  conditions act, side effects of backends do not exist.
- The cost of CEL is counted while expressions run; what a validation rule of a CustomResourceDefinition may cost at most is not
  estimated when the definition is created. Schemas of custom resources do not reach the mutations of admission policies beyond how
  their lists and maps merge.
- Built-in groups are served in the versions of the catalogue; of these only events, autoscalers and custom resources have
  several, which are converted.
- Old versions of objects are kept for a bounded number of writes, not for a time: a continue token or a watch from before them is
  told 410, whatever etcd's compaction and the watch cache of a real server would still have.
- Pod Security looks at the newest version of its levels, whatever version a namespace's labels pin.
- Status writes pass no mutating admission plugin.
- RBAC authorises, the node authorizer only by the objects that a node's pods name; tokens are not signed.
- Proxied requests (services, pods, nodes) are answered at once, without the latency of what answers; protocols other than HTTP are
  not upgraded. Of a kubelet's own API, health, pods and container logs are there.
- Groups that an APIService puts behind a service are passed on; discovery lists them as stale, as nobody asks their backends.
- Kubernetes walks some Go maps in random order; wherever that shows, the order here is alphabetical.
"""

_GENERATED: Final = "<!-- Generated by `python -m env_core.catalogue docs`; do not edit. -->\n"


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


def _table(head: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> str:
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    lines.extend("| " + " | ".join(_cell(cell) for cell in row) + " |" for row in rows)
    return "\n".join(lines) + "\n"


def catalogue_page() -> str:
    """Return docs/catalogue.md: everything that discovery finds."""
    parts = [
        "# Catalogue\n",
        _GENERATED,
        "Everything that one module declares with one constant (`docs/adding.md`). Every task also exists for every seed.\n",
    ]
    for section in SECTIONS:
        entries = section.entries()
        parts.append(f"## {section.title} ({len(entries)})\n")
        parts.append(_table(("name", "what"), [(f"`{entry.name}`", entry.summary) for entry in entries]))
    parts.append(_baselines())
    return "\n".join(parts)


def _baselines() -> str:
    """Return the table of what simple policies reach, as `python -m tests.baselines` wrote it down."""
    rows: list[dict[str, Any]] = json.loads(_BASELINES.read_text(encoding="utf-8"))
    if not rows:
        return "## What simple policies reach\n\nNot measured yet (`make baselines`).\n"
    policies = [name for name in rows[0] if name not in ("task", "level", "is_control", "seeds")]
    controls = [row for row in rows if row["is_control"]]
    faults = [row for row in rows if "/" in row["task"] and not row["is_control"]]
    levels = [(f"level {level}", [row for row in faults if row["level"] == level]) for level in range(1, 6)]
    groups = [("all faults", faults), *levels, ("controls", controls)]
    ordered = sorted((*faults, *controls), key=lambda row: str(row["task"]))
    families = [
        (f"`{name}`", list(own))
        for name, own in groupby(ordered, key=lambda row: str(row["task"]).partition("/")[0])
    ]
    drawn = [(f"`{row['task']}`", [row]) for row in rows if "/" not in row["task"]]
    return "\n".join(
        (
            "## What simple policies reach\n",
            "The share of episodes that end repaired, measured by `make baselines`: `no-op` submits at once, `random` does ordinary things "
            "to drawn workloads, `static` reads manifests only, `heuristic` looks at what runs, too, and `reference` plays an honest "
            "repair. A control is repaired by saying that nothing is wrong.\n",
            _rates("", groups, policies),
            "The same faults by family:\n",
            _rates("family", families, policies),
            "The tasks of the levels, where a seed draws the fault, modifiers and now and then a control:\n",
            _rates("task", drawn, policies),
        )
    )


def _rates(what: str, groups: Sequence[tuple[str, list[dict[str, Any]]]], policies: Sequence[str]) -> str:
    """Return a table of success rates, one row for each group that has a member."""
    table = [
        (
            name,
            ", ".join(sorted({str(row["level"]) for row in own})),
            str(sum(row["seeds"] for row in own)),
            *(_share(own, policy) for policy in policies),
        )
        for name, own in groups
        if own
    ]
    return _table((what, "levels", "episodes", *policies), table)


def _share(rows: Sequence[Mapping[str, Any]], policy: str) -> str:
    return f"{sum(row[policy] for row in rows) / sum(row['seeds'] for row in rows):.0%}"


def fidelity_page() -> str:
    """Return docs/fidelity.md: what is known to differ, what is missing, and the source of every declaration."""
    parts = [
        "# Fidelity\n",
        _GENERATED,
        FIDELITY_HEAD,
        "## Missing, by comparison with recorded lists\n",
        _missing(),
    ]
    marked = [
        (section.title, f"`{entry.name}`", entry.unrecorded)
        for section in SECTIONS
        for entry in section.entries()
        if entry.unrecorded
    ]
    parts.append(f"## Not vouched for by a recording ({len(marked)})\n")
    parts.append(_table(("what", "name", "which part"), marked))
    parts.append("## What remains different in the replay of recordings\n")
    parts.append(_remaining())
    parts.append("## Sources\n")
    for section in SECTIONS:
        entries = [entry for entry in section.entries() if entry.source]
        if section.name not in ("tasks", "scenarios") and entries:
            parts.append(f"### {section.title}\n")
            parts.append(_table(("name", "source"), [(f"`{entry.name}`", entry.source) for entry in entries]))
    return "\n".join(parts)


def _remaining() -> str:
    """Return one line for each recorded unit that differs, as `tests.golden.replay --accept` wrote them down."""
    by_topic: dict[str, list[str]] = json.loads(_REMAINING.read_text(encoding="utf-8"))
    parts = ["Units are named as the recordings name them; a topic in brackets is counted apart.\n"]
    for topic, units in by_topic.items():
        if not units:
            parts.append(f"- {topic}: not simulated\n")
        parts += [f"- {topic}: `{unit}`" for unit in units]
    return "\n".join(parts) + "\n"


def _missing() -> str:
    served = {kind.resource: kind for kind in registry().all()}
    absent: dict[str, list[str]] = {}
    parts: list[str] = []
    for row in schema.resources():
        plural = f"{row['plural']}.{row['group']}" if row["group"] else row["plural"]
        if plural not in served:
            group_version = f"{row['group']}/{row['version']}" if row["group"] else row["version"]
            absent.setdefault(group_version, []).append(row["plural"])
            continue
        lacking = [
            entry["name"]
            for entry in row.get("subresources", ())
            if entry["name"] not in served[plural].subresources
        ]
        parts.extend(f"{row['plural']}/{name}" for name in lacking)
    lines = [f"- Resources of {key}: {', '.join(sorted(names))}." for key, names in sorted(absent.items())]
    if parts:
        lines.append(f"- Subresources: {', '.join(sorted(parts))}.")
    commands = [name for name in kubectl.COMMAND_ORDER if name not in kubectl.root().subverbs]
    if commands:
        lines.append(f"- kubectl commands: {', '.join(commands)}.")
    prefix = "system:controller:"
    roles = {
        obj["metadata"]["name"].removeprefix(prefix)
        for resource, obj in boot_objects(Streams(0), 0)
        if resource.startswith("clusterroles.") and obj["metadata"]["name"].startswith(prefix)
    }
    here = {
        controller.actor().name.rpartition(":")[2]
        for controller in discover(controllers, "CONTROLLER", Controller).values()
    }
    lines.append(f"- Controllers, by their recorded roles: {', '.join(sorted(roles - here))}.")
    return "\n".join(lines) + "\n"


def seed_names_page() -> str:
    """Return docs/seed_names.md: what the seed documents call things, and where they are here."""
    parts = [
        "# Names of the seed documents\n",
        _GENERATED,
        "Where a seed document names a file, command, field or variable, that name is accepted; this is what it became.\n",
        "## Files\n",
        _table(("the seed's path", "here"), FILES),
        "## Flags, fields and variables\n",
        _table(("the seed's name", "ours", "read by"), ALIASES),
    ]
    return "\n".join(parts)


PAGES: dict[str, Callable[[], str]] = {
    "catalogue.md": catalogue_page,
    "fidelity.md": fidelity_page,
    "seed_names.md": seed_names_page,
}
