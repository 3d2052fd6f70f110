"""The catalogue's command: list what there is, show one entry, prove the tasks, write the generated pages.

python -m env_core.catalogue list [SECTION]
python -m env_core.catalogue show NAME
python -m env_core.catalogue check [FAMILY | --all] [--tasks] [--seeds 0-2] [--jobs N]
python -m env_core.catalogue docs
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Final

from env_core.catalogue.checking import check_faults, every_fault, named, one_fault_a_seed
from env_core.catalogue.pages import PAGES
from env_core.catalogue.proving import check
from env_core.catalogue.sections import SECTIONS
from env_core.episode import suites

DOCS: Final = Path(__file__).resolve().parents[2] / "docs"


def listed(wanted: str) -> str:
    """Return the entries of a section, or of all."""
    lines = []
    for section in SECTIONS:
        if wanted in ("", section.name):
            lines.append(f"{section.name}:")
            lines.extend(f"  {entry.name:<40} {entry.summary}".rstrip() for entry in section.entries())
    return "\n".join(lines)


def shown(name: str) -> str:
    """Return everything that declares itself under `name`; tasks and scenarios with their scripts."""
    parts = []
    for section in SECTIONS:
        for entry in section.entries():
            if entry.name.lower() == name.lower() or entry.name.partition(".")[0].lower() == name.lower():
                more = f"\n  not recorded: {entry.unrecorded}" if entry.unrecorded else ""
                parts.append(
                    f"{entry.name} ({section.name})\n  {entry.summary}\n  source: {entry.source or '-'}{more}"
                )
    for suite in suites():
        for task in suite.tasks:
            if task.id == name:
                parts.append(f"scripts of {suite.id}/{task.id}, seed {task.default_seed}")
                for word, scripts in (("repair", suite.reference), ("decoy", suite.decoys)):
                    for number, script in enumerate(scripts(task, task.default_seed), 1):
                        parts.extend([f"{word} {number}:", *(f"  $ {line}" for line in script)])
    return "\n".join(parts)


def _unknown(what: str, name: str, known: Sequence[str], section: str) -> str:
    near = get_close_matches(name, dict.fromkeys(known))
    meant = f"; near it: {', '.join(near)}" if near else ""
    command = f"python -m env_core.catalogue list {section}".rstrip()
    return f"{what} is called {name!r}{meant}; `{command}` has the names\n"


def _say(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def seed_range(text: str) -> range:
    """Return the seeds that "7" or "0-9" means."""
    first, _, last = text.partition("-")
    if not first.isdecimal() or (last and not last.isdecimal()):
        raise argparse.ArgumentTypeError(f"{text!r} is not a seed or a range such as 0-9")
    seeds = range(int(first), int(last or first) + 1)
    if not seeds:
        raise argparse.ArgumentTypeError(f"{text!r} is empty")
    return seeds


def _checked(given: argparse.Namespace) -> int:
    if given.family:
        chosen = named(given.family)
        if not chosen:
            known = [name for entry in named("") for name in (entry.family.id, entry.fault.id)]
            sys.stderr.write(_unknown("no fault family", given.family, known, "faults"))
            return 1
        return check_faults(every_fault(chosen, given.seeds), given.seeds, jobs=given.jobs, say=_say)
    if given.all and not given.tasks:
        return check_faults(one_fault_a_seed(given.seeds), given.seeds, jobs=given.jobs, say=_say)
    return check(given.seeds, is_all=given.all, say=_say)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one sub-command and return its exit code."""
    parser = argparse.ArgumentParser(prog="env_core.catalogue", description="What there is, and its proof.")
    commands = parser.add_subparsers(dest="command", required=True)
    lists = commands.add_parser("list", help="list a section, or all")
    lists.add_argument(
        "section", nargs="?", default="", choices=["", *(section.name for section in SECTIONS)]
    )
    shows = commands.add_parser("show", help="show what is declared under a name")
    shows.add_argument("name")
    checks = commands.add_parser("check", help="play the repairs, the decoys and patience of every task")
    checks.add_argument("--seeds", type=seed_range, default=range(3), help="a seed or a range (default: 0-2)")
    checks.add_argument("family", nargs="?", default="", help="a fault family's id: prove this one only")
    checks.add_argument(
        "--all", action="store_true", help="every fault family, one of its faults for each seed, in turn"
    )
    checks.add_argument(
        "--tasks",
        action="store_true",
        help="the tasks of other suites; with --all, those that are not listed, too",
    )
    checks.add_argument(
        "--jobs",
        type=int,
        default=os.cpu_count() or 1,
        help="processes that prove families (default: all cores)",
    )
    commands.add_parser("docs", help="write the generated pages")
    given = parser.parse_args(arguments)
    if given.command == "check":
        return _checked(given)
    if given.command == "docs":
        for name, page in PAGES.items():
            (DOCS / name).write_text(page(), encoding="utf-8")
        return 0
    text = listed(given.section) if given.command == "list" else shown(given.name)
    if not text:
        known = [entry.name for section in SECTIONS for entry in section.entries()]
        sys.stderr.write(_unknown("nothing", given.name, known, ""))
        return 1
    sys.stdout.write(text + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
