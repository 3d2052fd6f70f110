"""l0/drain_filters: which pods `kubectl drain` deletes, and why it refuses."""

import re

from env_core.kubectl.verbs.drain._pods import DrainRules, plan_drain
from tests.golden.comparison import Comparison, Topic
from tests.golden.recordings import Folder, Record

ANSWERS = ("errors", "warnings", "toDelete")
_MISSING = re.compile(r'daemonsets\.apps "([^"]+)" not found')


def _parts(warnings: str) -> list[str]:
    """README: "errors (sorted; kubectl prints them in random order)"; the parts of a warning come from the same map."""
    return sorted(warnings.split("; ")) if warnings else []


def _missing(folder: Folder) -> set[str]:
    """Which daemon sets the recorder's server lacked is told by the recorded texts only."""
    records = folder.with_main("l0/drain_filters.jsonl")
    texts = [" ".join([*(each.get("errors") or ()), each.get("warnings") or ""]) for each in records]
    return {name for text in texts for name in _MISSING.findall(text)}


def _judge(record: Record, folder: Folder) -> Comparison:
    missing = folder.once("missing", lambda: _missing(folder))
    rules = DrainRules(
        force=record["force"],
        ignores_daemon_sets=record["ignoreDaemonsets"],
        deletes_empty_dir_data=record["deleteEmptyDirData"],
    )
    plan = plan_drain(
        record["pods"],
        rules,
        lambda _namespace, name: f'daemonsets.apps "{name}" not found' if name in missing else "",
    )
    names = [f"{pod['metadata']['namespace']}/{pod['metadata']['name']}" for pod in plan.pods]
    to_delete = record.get("toDelete") or []
    errors = record.get("errors") or []
    return Comparison(
        {"errors": errors, "warnings": _parts(record.get("warnings") or ""), "toDelete": sorted(to_delete)},
        {
            "errors": sorted(plan.errors),
            "warnings": _parts(plan.warnings),
            "toDelete": sorted(names),
        },
    )


TOPIC = Topic(name="l0/drain_filters", files=("drain_filters.jsonl",), answers=ANSWERS, judge=_judge)
