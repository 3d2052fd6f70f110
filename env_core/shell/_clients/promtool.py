"""promtool: checks rule files and metrics.

Source: https://prometheus.io/docs/prometheus/latest/command-line/promtool/; tests/golden/promql/promtool.jsonl.gz.
"""

from __future__ import annotations

from typing import Final

from env_core.observability.prometheus import check_metrics, check_rules
from env_core.shell.context import Process
from env_core.shell.filesystem import ShellFileError
from env_core.sim.timefmt import rfc3339
from env_core.world import Output

_USAGE: Final = """\
usage: promtool [<flags>] <command> [<args> ...]

Tooling for the Prometheus monitoring system.

Commands:
  check rules [<rule-files>...]
  check metrics
"""


def run(process: Process, argv: list[str]) -> Output:
    """Run promtool with an argv (its name first)."""
    if argv[1:3] == ["check", "metrics"]:
        return check_metrics(process.stdin)
    if argv[1:3] != ["check", "rules"]:
        if any(word in ("-h", "--help") for word in argv[1:]):
            return Output(_USAGE)
        wrong = f"expected command but got {argv[1]!r}" if len(argv) > 1 else "command not specified"
        return Output("", f"promtool: error: {wrong}, try --help\n", 1)
    out, err, code = "", "", 0
    for name in argv[3:]:
        try:
            text = process.fs.read(process.path(name))
        except ShellFileError:
            shown = f"{name}: open {name}: no such file or directory"
            result = Output(f"Checking {name}\n", f"  FAILED:\n{shown}\n", 1)
        else:
            result = check_rules(text, name, rfc3339(process.now_ms()))
        out, err, code = out + result.stdout, err + result.stderr, code or result.exit_code
    return Output(out, err, code)
