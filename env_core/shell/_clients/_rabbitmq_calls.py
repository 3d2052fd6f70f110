"""How the command line tools of RabbitMQ ask the node, why they fail, and how they print tables.

Source: rabbitmq-server 3.10.8 deps/rabbitmq_cli/lib/rabbitmqctl.ex, rabbitmq/cli/core/exit_codes.ex,
rabbitmq/cli/formatters/table.ex, deps/rabbit_common/src/rabbit_nodes_common.erl. Nothing of it is recorded.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, Final, NamedTuple

OK, USAGE, DATA, NO_USER, UNAVAILABLE, SOFTWARE = 0, 64, 65, 67, 69, 70
TIMEOUT_S: Final = 60


class Call(NamedTuple):
    """A command line, taken apart."""

    command: str
    arguments: list[str]
    options: dict[str, str]
    node: str
    """The node that is asked."""
    ask: Callable[[str, dict[str, str]], dict[str, Any] | None]
    """Asks the node; None when it cannot be reached."""

    @property
    def vhost(self) -> str:
        """The virtual host that is meant."""
        return self.options.get("vhost", "/")

    @property
    def is_quiet(self) -> bool:
        """Whether what is done is not told."""
        return "quiet" in self.options or "silent" in self.options


class Failed(Exception):
    """A command ends with a code and a text on the other stream."""

    def __init__(self, text: str, code: int) -> None:
        super().__init__(text)
        self.text, self.code = text, code


def told(call: Call, command: str, **given: str) -> dict[str, Any]:
    """Return what the node answers.

    Raises `Failed` when it cannot be reached, or has not started yet.
    """
    found = call.ask(command, given)
    if found is None:
        raise Failed(unreachable(call.node), UNAVAILABLE)
    if not found["booted"]:
        text = "Error: this command requires the 'rabbit' app to be running on the target node. Start it with 'rabbitmqctl start_app'."
        raise Failed(f"{text}\nArguments given:\n\t{' '.join([call.command, *call.arguments])}", USAGE)
    if error := found.get("error"):
        raise _problem(*error)
    return found


def _problem(word: str, name: str) -> Failed:
    texts = {
        "no_such_vhost": (f"Virtual host '{name}' does not exist", DATA),
        "no_such_user": (f'Error:\nUser "{name}" does not exist', NO_USER),
        "user_already_exists": (f'Error:\nUser "{name}" already exists', SOFTWARE),
        "not_found": ("Error:\nQueue not found", USAGE),
    }
    return Failed(*texts[word])


def unreachable(node: str) -> str:
    """Return what is said when the node cannot be reached."""
    host = node.partition("@")[2]
    return (
        f"Error: unable to perform an operation on node '{node}'. Please see diagnostics information and suggestions below.\n\n"
        "Most common reasons for this are:\n\n"
        " * Target node is unreachable (e.g. due to hostname resolution, TCP connection or firewall issues)\n"
        " * CLI tool fails to authenticate with the server (e.g. due to CLI tool's Erlang cookie not matching that of the server)\n"
        " * Target node is not running\n\n"
        "In addition to the diagnostics info below:\n\n"
        " * See the CLI, clustering and networking guides on https://rabbitmq.com/documentation.html to learn more\n"
        f" * Consult server logs on node {node}\n"
        " * If target node is configured to use long node names, don't forget to use --longnames with CLI tools\n\n"
        f"DIAGNOSTICS\n===========\n\nattempted to contact: ['{node}']\n\n{node}:\n"
        f"  * unable to connect to epmd (port 4369) on {host}: address (cannot connect to host/port)\n\n"
    )


def table(call: Call, rows: list[dict[str, Any]], names: list[str]) -> str:
    """Return rows as the tools print them."""
    if call.options.get("formatter") == "json":
        return (
            json.dumps([{name: row.get(name) for name in names} for row in rows], separators=(",", ":"))
            + "\n"
        )
    head = (
        "\t".join(names) + "\n"
        if rows and "bare" not in call.options and "silent" not in call.options
        else ""
    )
    return head + "".join("\t".join(_cell(row.get(name)) for name in names) + "\n" for row in rows)


def _cell(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, dict):
        pairs = ",".join(f'{{"{key}",{json.dumps(each)}}}' for key, each in value.items())
        return f"[{pairs}]"
    return str(value)


def columns(call: Call, default: str, known: frozenset[str]) -> list[str]:
    """Return the columns that are asked for.

    Raises `Failed` for one that there is not.
    """
    wanted = [name for word in call.arguments for name in word.split(",") if name] or default.split()
    unknown = [name for name in wanted if name not in known]
    if unknown:
        text = (
            f"Error (argument validation): Bad argument: Info key(s) {', '.join(unknown)} are not supported"
        )
        raise Failed(f"{text}\nArguments given:\n\t{' '.join([call.command, *call.arguments])}", DATA)
    return wanted
