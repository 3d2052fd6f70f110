"""Data sets: demonstrations that look before they act, successes of a policy, and preferences between a repair and a decoy.

A data set is a folder with `rows.jsonl` and `about.json`; one that exists is never written over. Every row names its incident and
the commands, so that it can be played again; `check` does, and refuses rows from the splits that evaluations draw from.
"""

from __future__ import annotations

import argparse
import hashlib
import itertools
import json
import random
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from env_core.episode import Episode, find_task
from kubedrill.models import KubeObservation
from training import dialect as writing
from training.dialect import Messages, call_of, result_of
from training.errors import UsageError
from training.plan import Plan, load
from training.scripting import refuse_existing, say, script
from training.surface import CASES, KNOWN, READS, RESTART, SUITE, SUSPECTS, WELL, Case
from training.tasks import Incident, draw
from training.views import shortened

APART: Final = ("dev", "test")
"""Splits that no training row may come from."""
LEAVING: Final = "done"
"""What is said at the end by somebody who gives up, or has nothing left to do."""
_EXTRA_LOOKS: Final = 0.15
"""How often something is read that the status does not suggest."""


class DataError(UsageError):
    """Raised for a data set that would be overwritten, does not replay, or holds incidents kept for evaluation."""


@dataclass(frozen=True)
class Row:
    """One conversation and the incident that it comes from."""

    incident: Incident
    kind: str
    messages: Messages
    commands: tuple[str, ...]
    outputs: tuple[str, ...]
    is_solved: bool
    chosen: str = ""
    """In a preference: the command that repairs."""
    rejected: str = ""
    """In a preference: the tempting one that does not."""

    def shown(self) -> dict[str, Any]:
        """Return the row as JSON holds it."""
        pair = {"chosen": self.chosen, "rejected": self.rejected} if self.chosen else {}
        return {
            **self.incident._asdict(),
            "kind": self.kind,
            "is_solved": self.is_solved,
            "commands": list(self.commands),
            "outputs": list(self.outputs),
            "messages": self.messages,
            **pair,
        }

    @classmethod
    def read(cls, given: Mapping[str, Any]) -> Row:
        """Return the row that a line of a data set holds."""
        return cls(
            incident=Incident(given["suite"], given["task"], given["seed"]),
            kind=given["kind"],
            messages=given["messages"],
            commands=tuple(given["commands"]),
            outputs=tuple(given["outputs"]),
            is_solved=given["is_solved"],
            chosen=given.get("chosen", ""),
            rejected=given.get("rejected", ""),
        )


@dataclass
class Player:
    """An incident played in this process, and the conversation about it."""

    incident: Incident
    page: str
    output_chars_max: int
    messages: Messages = field(default_factory=list)
    commands: list[str] = field(default_factory=list)
    outputs: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        suite, task, seed = self.incident
        self._episode, begun = Episode.reset(suite=suite, task=task, seed=seed)
        self.messages = list(writing.PAGES[self.page](KubeObservation(**begun.observation)))

    @property
    def is_over(self) -> bool:
        """Whether the environment has ended the episode."""
        return self._episode.is_done

    def run(self, command: str) -> str:
        """Run a command and return what the model would see of its output."""
        result = self._episode.step(command)
        output = shortened(result.observation["output"], self.output_chars_max).strip()
        self.commands.append(command)
        self.outputs.append(output)
        self.messages.append(call_of(command))
        if not result.is_done:
            self.messages.append(result_of(output))
        return output

    def row(self, kind: str) -> Row:
        """Return what was played; a conversation that nothing has ended ends with a word."""
        messages = list(self.messages)
        if not self.is_over:
            messages.append({"role": "assistant", "content": LEAVING})
        is_solved = self.is_over and self._episode.score() == 1.0
        return Row(self.incident, kind, messages, tuple(self.commands), tuple(self.outputs), is_solved)


class Junior:
    """Somebody new on call, who looks well and then acts by habit: rightly for some kinds of incident, by a restart for the others.

    Looks stop at the first answer that is not as it should be. Which looks, and in which order, is chance.
    """

    def __init__(self, stream: random.Random, habit: float) -> None:
        """Take the source of chance, and how often the habit decides; otherwise it is any of the repairs that are known of."""
        self._stream = stream
        self._habit = habit

    def play(self, player: Player) -> str:
        """Look, act and stop; return "habit" or "chance", whichever decided."""
        self.look(player)
        kind = "habit" if self._stream.random() < self._habit else "chance"
        script = self._habitual(player) if kind == "habit" else self._any_repair(player)
        for command in script:
            if player.is_over:
                break
            player.run(command)
        return kind

    def look(self, player: Player) -> None:
        """Read until something is found, or all that is worth a look has been seen."""
        status = player.run(READS["status"])
        names = list(SUSPECTS.get(status, tuple(WELL)))
        self._stream.shuffle(names)
        if self._stream.random() < _EXTRA_LOOKS:
            names.insert(0, self._stream.choice([name for name in WELL if name not in names]))
        while names:
            name = names.pop(0)
            if player.run(READS[name]) == WELL[name]:
                continue
            if name == "running" and "configured" in names:
                # What runs differs from what should run either because the configuration is wrong, or because it is not.
                player.run(READS["configured"])
            return

    def _habitual(self, player: Player) -> Sequence[str]:
        known = [case for case in CASES[:KNOWN] if case.task == player.incident.task]
        return known[0].script(player.incident.seed) if known else (RESTART,)

    def _any_repair(self, player: Player) -> Sequence[str]:
        case = self._stream.choice(CASES)
        # Names in it are those that were read, if they were; else somebody else's.
        is_own = case.task == player.incident.task
        return case.script(player.incident.seed if is_own else self._stream.randrange(1_000))


def demonstrations(plan: Plan) -> list[Row]:
    """Return what the junior does in the training split: partly right, partly by a wrong habit, partly by chance."""
    data = plan.data
    stream = random.Random(f"demonstrations/{data.seed}")
    junior = Junior(stream, data.habit)
    rows = []
    for incident in _drawn(plan, data.demonstrations, "demonstrations"):
        player = _player(plan, incident)
        rows.append(player.row(junior.play(player)))
    return rows


def references(plan: Plan) -> list[Row]:
    """Return the suite's own repairs, each after a look at what gives the incident away. For warm starts, not for `make learn`."""
    stream = random.Random(f"references/{plan.data.seed}")
    junior = Junior(stream, 1.0)
    rows = []
    for incident in _drawn(plan, plan.data.demonstrations, "references"):
        player = _player(plan, incident)
        junior.look(player)
        for command in _case(incident).script(incident.seed):
            player.run(command)
        rows.append(player.row("reference"))
    return rows


def preferences(plan: Plan) -> list[Row]:
    """Return one-decision pairs: after the same looks, the first line of a repair against a decoy of one line."""
    stream = random.Random(f"preferences/{plan.data.seed}")
    junior = Junior(stream, 1.0)
    rows = []
    for incident in _drawn(plan, plan.data.preferences, "preferences"):
        suite, task = find_task(incident.suite, incident.task)
        scripts = suite.reference(task, incident.seed)
        good = {script[0] for script in scripts}
        decoys = [
            script[0]
            for script in suite.decoys(task, incident.seed)
            if len(script) == 1 and script[0] not in good
        ]
        player = _player(plan, incident)
        junior.look(player)
        chosen = _case(incident).script(incident.seed)[0]
        rows.append(
            Row(
                incident=incident,
                kind="preference",
                messages=player.messages,
                commands=tuple(player.commands),
                outputs=tuple(player.outputs),
                is_solved=False,
                chosen=chosen,
                rejected=stream.choice(decoys),
            )
        )
    return rows


def successes(plan: Plan, played: Iterable[tuple[Incident, Sequence[str], float | None]]) -> list[Row]:
    """Return the solved ones among episodes that a policy has played, each list of commands once an incident.

    Args:
        plan: How rows are written.
        played: Incident, commands and score.
    """
    seen = set()
    rows = []
    for incident, commands, score in played:
        if score != 1.0 or (incident, tuple(commands)) in seen:
            continue
        seen.add((incident, tuple(commands)))
        player = _player(plan, incident)
        for command in commands:
            player.run(command)
        rows.append(player.row("sampled"))
    return rows


def write(folder: Path, rows: Sequence[Row], about: Mapping[str, Any]) -> str:
    """Write a data set and return its digest.

    Raises:
        DataError: if there are no rows, the folder is there already, or a row's incident is kept for evaluation.
    """
    if not rows:
        raise DataError(f"there are no rows to write to {folder}")
    refuse_contamination(rows)
    text = "".join(json.dumps(row.shown(), sort_keys=True) + "\n" for row in rows)
    digest = hashlib.sha256(text.encode()).hexdigest()
    try:
        folder.mkdir(parents=True)
    except FileExistsError:
        raise DataError(f"{folder} is there already; name another, or remove it yourself") from None
    (folder / "rows.jsonl").write_text(text)
    counts = {kind: sum(row.kind == kind for row in rows) for kind in sorted({row.kind for row in rows})}
    solved = sum(row.is_solved for row in rows)
    full = {**about, "rows": len(rows), "kinds": counts, "solved": solved, "digest": digest}
    (folder / "about.json").write_text(json.dumps(full, indent=2) + "\n")
    return digest


def read(folder: Path, *, pairs: bool | None = None) -> list[Row]:
    """Return the rows of a data set.

    Args:
        folder: Where it is.
        pairs: Whether the rows must be preferences, or must not be; either will do if it is None.

    Raises:
        DataError: if there are none, one cannot be read, is of the other kind, or is kept for evaluation.
    """
    file = folder / "rows.jsonl"
    rows = []
    try:
        with file.open() as lines:
            for number, line in enumerate(lines, 1):
                try:
                    rows.append(Row.read(json.loads(line)))
                except (ValueError, KeyError, TypeError) as error:
                    raise DataError(f"{file}, line {number} is no row of a data set: {error!r}") from None
    except OSError as error:
        raise DataError(f"{folder} is no data set: {error.strerror}: {file}") from None
    if not rows:
        raise DataError(f"{file} has no rows")
    for number, row in enumerate(rows, 1):
        if pairs is not None and pairs != bool(row.chosen and row.rejected):
            wanted = "preferences" if pairs else "demonstrations"
            raise DataError(
                f"{file}, line {number} is none of {wanted}, of which `training.data` makes a set"
            )
    refuse_contamination(rows)
    return rows


def refuse_contamination(rows: Iterable[Row]) -> None:
    """Let pass only rows whose incidents no evaluation draws.

    Raises:
        DataError: for the first that one might.
    """
    for row in rows:
        if row.incident.split in APART or not row.incident.split:
            split = row.incident.split or "no split"
            suite, task, seed = row.incident
            raise DataError(f"{suite}/{task} with seed {seed} belongs to {split}: it is not for training")


def check(rows: Iterable[Row], plan: Plan) -> int:
    """Play every row again and return how many there are.

    Raises:
        DataError: if one comes out differently, or is kept for evaluation.
    """
    count = 0
    for row in rows:
        refuse_contamination([row])
        player = _player(plan, row.incident)
        for command in row.commands:
            player.run(command)
        again = player.row(row.kind)
        messages = player.messages if row.chosen else again.messages
        count += 1
        if (again.outputs, messages) != (row.outputs, row.messages) or (
            again.is_solved != row.is_solved and not row.chosen
        ):
            suite, task, seed = row.incident
            raise DataError(
                f"row {count}, {suite}/{task} with seed {seed}, does not come out again as it says"
            )
    return count


def _drawn(plan: Plan, count: int, purpose: str) -> Iterable[Incident]:
    known = {(SUITE, case.task) for case in CASES}
    for suite, task in plan.tasks:
        if (suite, task) not in known:
            raise DataError(
                f"{suite}/{task}: {purpose} are made for the tasks of training/configs/cpu-tiny.yaml alone; "
                "give a data set, such as training.evaluate --collect writes"
            )
    seed = random.Random(f"{purpose}/{plan.data.seed}").randrange(1 << 30)
    # Building an incident costs more than playing it, so each is played several times.
    incidents = draw(plan.tasks, "train", min(count, plan.data.incidents), seed)
    return itertools.islice(itertools.cycle(incidents), count)


def _player(plan: Plan, incident: Incident) -> Player:
    return Player(incident, plan.model.page, plan.environment.output_chars_max)


def _case(incident: Incident) -> Case:
    return next(case for case in CASES if case.task == incident.task)


MAKERS: Final = {"demonstrations": demonstrations, "references": references, "preferences": preferences}


def main(arguments: Sequence[str] | None = None) -> None:
    """Make a data set, or check one."""
    parser = argparse.ArgumentParser(prog="python -m training.data", description=__doc__.partition("\n")[0])
    parser.add_argument("what", choices=(*MAKERS, "check"))
    parser.add_argument("folder", type=Path)
    parser.add_argument("--config", default="training/configs/cpu-tiny.yaml")
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE")
    given = parser.parse_args(arguments)
    plan = load(Path(given.config), given.set)
    if given.what == "check":
        say(f"{check(read(given.folder), plan)} rows come out again")
        return
    refuse_existing(given.folder)
    rows = MAKERS[given.what](plan)
    digest = write(given.folder, rows, {"what": given.what, "config": plan.name, "seed": plan.data.seed})
    say(f"{given.folder}: {len(rows)} rows, digest {digest}")


if __name__ == "__main__":
    script(main)
