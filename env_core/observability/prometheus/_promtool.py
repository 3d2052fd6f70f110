"""What promtool says of rule files and expositions.

Source: https://prometheus.io/docs/prometheus/latest/command-line/promtool/; tests/golden/promql/promtool.jsonl.gz.
"""

from __future__ import annotations

from typing import Final

from env_core.observability.exposition import ExpositionError, lint, parse_text
from env_core.observability.prometheus._rulefiles import RuleFileError, duplicates_of, load
from env_core.world import Output

_MANY: Final = "Multiple document yaml rules files are not supported, only the first document is processed"
_LINT_FOUND: Final = 3


def check_rules(text: str, file: str, time: str) -> Output:
    """Check one rule file; `time` stands in log lines."""
    head = f"Checking {file}\n"
    try:
        groups = load(text, file)
    except RuleFileError as error:
        log = f'time={time} level=WARN source=rulefmt.go:369 msg="{_MANY}"\n' if error.is_no_yaml else ""
        return Output(head, f"{log}  FAILED:\n" + "".join(f"{line}\n" for line in error.problems), 1)
    duplicates = duplicates_of(groups)
    if duplicates:
        shown = "".join(
            f"Metric: {name}\nLabel(s):\n" + "".join(f"\t{key}: {value}\n" for key, value in labels)
            for name, labels in duplicates
        )
        count = sum(duplicates.values())
        text = f"lint error {count} duplicate rule(s) found.\n{shown}"
        return Output(
            f"{head}\n", f"  FAILED:\n{text}Might cause inconsistency while recording expressions\n"
        )
    count = sum(len(group.rules) for group in groups)
    return Output(f"{head}  SUCCESS: {count} rules found\n\n")


def check_metrics(text: str) -> Output:
    """Check metrics in the text format."""
    try:
        problems = lint(parse_text(text))
    except ExpositionError as error:
        return Output("", f"error while linting: {error}\n", 1)
    lines = "".join(f"{name} {problem}\n" for name, problem in problems)
    return Output("", lines, _LINT_FOUND if lines else 0)
