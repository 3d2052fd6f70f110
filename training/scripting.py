"""What every script has: its arguments, its words, and one line for a mistake of whoever runs it."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from kubedrill.client import EpisodeError
from training.errors import UsageError
from training.replicas import ReplicaError


def parser(program: str, summary: str) -> argparse.ArgumentParser:
    """Return the parser that every script begins with."""
    made = argparse.ArgumentParser(prog=f"python -m training.{program}", description=summary)
    made.add_argument("config", type=Path, help="a plan, such as training/configs/cpu-tiny.yaml")
    made.add_argument(
        "--set", action="append", default=[], metavar="KEY=VALUE", help="change a key of the plan"
    )
    made.add_argument(
        "--out", type=Path, default=Path("outputs/training"), help="the folder for what is made"
    )
    made.add_argument("--dry-run", action="store_true", help="print the resolved plan and stop")
    return made


def refuse_existing(folder: Path) -> None:
    """Raise before anything is done if its result would take the place of an earlier one, or could not be written.

    Raises:
        UsageError: if the folder is there, or cannot be made.
    """
    if folder.exists():
        raise UsageError(f"{folder} is there already; name another, or remove it yourself")
    parent = next(parent for parent in folder.absolute().parents if parent.exists())
    if not parent.is_dir() or not os.access(parent, os.W_OK):
        raise UsageError(f"{folder} cannot be made: {parent} is no folder that can be written to")


def script(main: Callable[[], Any]) -> None:
    """Run a script: what its user can put right is said in one line, without a traceback; an interrupt likewise."""
    try:
        main()
    except (UsageError, ReplicaError, EpisodeError) as error:
        sys.stderr.write(f"error: {error}\n")
        sys.exit(2)
    except KeyboardInterrupt:
        sys.stderr.write("interrupted\n")
        sys.exit(130)


def say(text: object) -> None:
    """Write a line for whoever runs a script."""
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()
