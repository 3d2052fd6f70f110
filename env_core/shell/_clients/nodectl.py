"""nodectl: what a platform team offers to those who look after nodes, for the machines under them. A tool of our own."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from env_core.apiserver.client import ApiClient
from env_core.node.machines import RUNNING, Machines, Refused
from env_core.shell.context import Process, Program
from env_core.world import Object, Output

USAGE: Final = """\
usage: nodectl COMMAND [NODE]

Looks after the machines under the cluster's nodes.

  list          the machines: zone, size, whether they take pods, what goes on with them
  check NODE    run a machine's health checks now
  repair NODE   switch a machine off, set it right and bring it back as the same node; takes about two minutes
  replace NODE  retire a machine and start another like it under a new name; takes about three minutes

A machine is taken out of service only when its node is cordoned and drained. After repair the node stays cordoned.
"""
_CHECK_MS: Final = 8_000
_PROBES: Final = 64
_COLUMNS: Final = ("NODE", "ZONE", "CPU", "MEMORY", "PODS", "MACHINE")


def bound(machines: Machines, api: ApiClient) -> Program:
    """Return the program for one cluster's machines; it sees nodes by the rights of who runs it."""

    def run(process: Process, argv: list[str]) -> Output:
        words = argv[1:]
        if not words or words[0] in ("-h", "--help", "help"):
            return Output(USAGE)
        command, names = words[0], words[1:]
        if command == "list" and not names:
            return Output(_listed(machines, api.list("nodes", "")))
        if command not in ("check", "repair", "replace") or len(names) != 1 or names[0].startswith("-"):
            return Output("", f"nodectl: cannot make sense of {' '.join(words)!r}, try nodectl --help\n", 2)
        node = names[0]
        try:
            if command == "check":
                return _checked(
                    machines, {each["metadata"]["name"] for each in api.list("nodes", "")}, node, process
                )
            if command == "repair":
                machines.repair(node)
                return Output(f"{node}: repair has begun\n")
            return Output(f"{node}: retired; {machines.replace(node)} will take its place\n")
        except Refused as problem:
            return Output("", f"nodectl: {problem}\n", 1)

    return run


def _listed(machines: Machines, nodes: list[Object]) -> str:
    rows: list[tuple[str, ...]] = [_COLUMNS]
    for node in nodes:
        metadata, capacity = node["metadata"], node["status"]["capacity"]
        zone = (metadata.get("labels") or {}).get("topology.kubernetes.io/zone", "-")
        takes = "no" if node["spec"].get("unschedulable") else "yes"
        rows.append(
            (
                metadata["name"],
                zone,
                capacity["cpu"],
                capacity["memory"],
                takes,
                machines.state(metadata["name"]),
            )
        )
    widths = [max(len(row[index]) for row in rows) for index in range(len(_COLUMNS))]
    return "".join(
        "   ".join(text.ljust(width) for text, width in zip(row, widths, strict=True)).rstrip() + "\n"
        for row in rows
    )


def _checked(machines: Machines, known: set[str], node: str, process: Process) -> Output:
    if node not in known:
        raise Refused(f"no machine has the node {node}")
    if machines.state(node) != RUNNING:
        raise Refused(f"{node} is {machines.state(node)}")
    process.advance(_CHECK_MS)
    answered = 0 if machines.loses_packets(node) else _PROBES
    found: Mapping[str, str] = {
        "disk": "ok", "memory": "ok", "clock": "ok", "uplink": "ok",
        "pod network": f"{'ok' if answered else 'FAILED'}: {answered} of {_PROBES} packets from other nodes came through",
    }  # fmt: skip
    lines = "".join(f"{node}  {name:<12} {text}\n" for name, text in found.items())
    return Output(lines, "", 0 if answered else 1)
