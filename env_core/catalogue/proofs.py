"""The proof of every fault, generated: each function returns what is wrong with one fault at one seed, nothing if all is well.

Source: FAULTS §1, "Generated tests".
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Final

from env_core.episode import Episode
from env_core.modifiers import all_modifiers
from env_core.suites import ResetOptions
from env_core.suites.repair import SUITE, _bustle
from env_core.suites.repair._case import Incident, again, prepared, unbroken
from env_core.suites.repair.diagnosing import submission_of
from env_core.suites.repair.levels import Variant
from env_core.suites.repair.session import FLOOR, WORKAROUND, RepairIncident, begun
from env_core.verify.judging import Outcome
from env_core.verify.view import View
from env_core.world import Object

PATIENCE_MS: Final = (0, 300_000, 1_800_000)
"""How long the symptoms are watched, one after the other."""
_LOOKS: Final = (
    "kubectl get all -A -o yaml",
    "kubectl get events -A -o yaml",
    "kubectl get nodes,configmaps,services,ingresses -A -o yaml --show-managed-fields",
    "kubectl describe pods -A",
)


def incident_of(variant: Variant, seed: int) -> Incident:
    """Return the incident of a fault and a seed."""
    task = next(task for task in SUITE.tasks if task.id == variant.task_id)
    return prepared(task, seed, ResetOptions())


def played(variant: Variant, seed: int, script: Sequence[str]) -> tuple[Episode, list[Object]]:
    """Run a script, submit, and return the episode with every observation."""
    episode, result = Episode.reset(suite="repair", task=variant.task_id, seed=seed)
    seen = [result.observation]
    for line in (*script, "submit"):
        if not result.is_done:
            result = episode.step(line)
            seen.append(result.observation)
    return episode, seen


def _summary(episode: Episode) -> Object:
    found: Object = episode.state()["oracle_summary"]
    return found


def healthy(variant: Variant, seed: int) -> list[str]:
    """Before injection, the world counts as repaired."""
    incident = incident_of(variant, seed)
    twin = unbroken(incident)
    own = _bustle.baseline(incident.baseline, twin, twin, incident.acts)
    return replace(incident, baseline=own).judge(twin, is_cleared=True).reasons()


def symptoms(variant: Variant, seed: int) -> list[str]:
    """Symptoms show, and go on showing: patience is no repair."""
    incident = incident_of(variant, seed)
    if variant.fault.is_control:
        return _control_symptoms(variant, incident)
    later = incident.untouched.fork()
    problems: list[str] = []
    for wait_ms in PATIENCE_MS:
        later.advance(wait_ms)
        view = View(later)
        for check in variant.fault.symptoms(incident.case):
            why = check.fails(view)
            if why:
                problems.append(f"after {wait_ms // 1_000} s: {why}")
        if incident.judge(later).outcome is Outcome.REPAIRED:
            problems.append(f"after {wait_ms // 1_000} s it counts as repaired")
    return problems


def _control_symptoms(variant: Variant, incident: Incident) -> list[str]:
    """What shows at first, and is gone by itself after a while."""
    problems: list[str] = []
    later = incident.untouched.fork()
    for check in variant.fault.symptoms(incident.case):
        why = check.fails(View(later))
        if why:
            problems.append(f"at first: {why}")
    later.advance(PATIENCE_MS[-1])
    return problems + incident.judge(later, is_cleared=True).reasons()


def evidence(variant: Variant, seed: int) -> list[str]:
    """The cause can be found by reading."""
    problems = []
    for entry in variant.fault.evidence(incident_of(variant, seed).case):
        episode, _ = Episode.reset(suite="repair", task=variant.task_id, seed=seed)
        output = episode.step(entry.command).observation["output"]
        if entry.shows not in output:
            problems.append(f"{entry.command!r} does not show {entry.shows!r} but {output[:200]!r}")
    return problems


def repairs(variant: Variant, seed: int) -> list[str]:
    """Every honest repair is accepted, and so is the truth about it."""
    incident = incident_of(variant, seed)
    ending = submission_of(variant.fault.causes(incident.case))
    problems = []
    for number, repair in enumerate(variant.fault.repairs, 1):
        script = repair(incident.case)
        episode, _ = played(variant, seed, (*script, ending))
        summary = _summary(episode)
        if episode.score() != 1.0:
            problems.append(f"repair {number} is refused: {summary['reasons']}: {script}")
        elif summary["diagnosis"]["precision"] != 1.0:
            problems.append(f"the diagnosis is refused: {summary['diagnosis']}: {ending}")
    return problems


def decoys(variant: Variant, seed: int) -> list[str]:
    """No decoy is accepted, harm is worth nothing, and every goal stops one of them or doing nothing."""
    incident = incident_of(variant, seed)
    problems: list[str] = []
    stopped: list[str] = []
    scripts = [((), False)] + [
        (decoy.script(incident.case), decoy.is_harmful) for decoy in variant.fault.decoys
    ]
    for number, (script, is_harmful) in enumerate(scripts):
        episode, _ = played(variant, seed, script)
        summary = _summary(episode)
        stopped += summary["reasons"]
        most = 0.0 if is_harmful else WORKAROUND if number else FLOOR
        if summary["outcome"] == Outcome.REPAIRED.value or episode.score() > most:
            problems.append(f"decoy {number} passes ({summary['outcome']}, {episode.score()}): {script}")
    goals = () if variant.fault.halves else variant.fault.repaired_when(incident.case)
    return problems + [
        f"goal {goal.name!r} stops no decoy"
        for goal in goals
        if not any(reason.startswith(f"{goal.name} (") for reason in stopped)
    ]


def modified(variant: Variant, seed: int) -> list[str]:
    """With something laid over it, the fault shows, its repair is accepted, and who falls for the rest is refused."""
    names = sorted(all_modifiers())
    turn = (seed + int(variant.task_id[-4:], 16)) % len(names)
    task = next(task for task in SUITE.tasks if task.id == variant.task_id)
    incident = prepared(task, seed, ResetOptions(), (names[turn],))
    ending = submission_of(variant.fault.causes(incident.case))
    repair = variant.fault.repairs[0](incident.case)
    problems = []
    if acted(incident, (*repair, ending)).score() != 1.0:
        problems.append(f"under {names[turn]} the repair is refused: {incident.hint} {incident.brief}")
    for decoy in incident.decoys()[len(variant.fault.decoys) :]:
        script = decoy.script(incident.case)
        if acted(incident, (*script, ending)).score() > (0.0 if decoy.is_harmful else WORKAROUND):
            problems.append(f"under {names[turn]} a decoy passes: {script}")
    return problems


def acted(incident: Incident, script: Sequence[str]) -> RepairIncident:
    """Return an incident after a script."""
    found = begun(incident)
    for line in script:
        if found.act(line).is_terminated:
            break
    return found


def judging(variant: Variant, seed: int) -> list[str]:
    """Judging changes nothing, and the same seed is the same world."""
    incident = incident_of(variant, seed)
    world = incident.untouched.fork()
    before = world.digest()
    incident.judge(world)
    problems = [] if world.digest() == before else ["judging changes the world"]
    if again(incident).digest() != before:
        problems.append("the same seed is another world")
    return problems


def silence(variant: Variant, seed: int) -> list[str]:
    """Nothing that the agent reads tells the answer."""
    incident = incident_of(variant, seed)
    hidden = {f"{variant.family.id}/{variant.fault.id}", f'"{variant.family.id}"', variant.family.summary}
    hidden |= {check.name for check in variant.fault.repaired_when(incident.case)}
    _, seen = played(variant, seed, _LOOKS)
    text = "\n".join(str(observation) for observation in seen[:-1])
    return [f"{word!r} can be read" for word in sorted(hidden) if word in text]


PROOFS: Final[Mapping[str, Callable[[Variant, int], list[str]]]] = {
    "healthy": healthy,
    "symptoms": symptoms,
    "evidence": evidence,
    "repairs": repairs,
    "decoys": decoys,
    "modified": modified,
    "judging": judging,
    "silence": silence,
}
