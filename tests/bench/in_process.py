"""Resets, steps, verdicts and growth, in this process."""

from __future__ import annotations

import copy
import gc
import statistics
from collections import Counter, defaultdict
from functools import partial
from time import perf_counter, process_time

from env_core.episode import Episode
from env_core.suites.tron import SUITE, observing
from env_core.suites.tron.session import TronIncident
from env_core.suites.tron.world import VARIANTS, healthy
from tests.bench import mix
from tests.bench.measuring import Profile, collected, rounded, spread, timed_ms
from tests.bench.report import Row

RESET_SEEDS = 60
_FIRST_SEED = 10_000
"""No other row begins here, so that the seeds of the first row are new."""
_STEPS_A_SESSION = 2


def warm() -> None:
    """Build what every episode shares: the base worlds, the parsed texts, the imported verbs."""
    for variant in range(VARIANTS):
        healthy(variant)
    for task in mix.TASKS:
        episode = mix.begin(task, 1)
        for at in range(mix.STEPS):
            mix.step(episode, mix.command(at))
    # As the server does before it answers its first client.
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 20, 100)


def incident_of(episode: Episode) -> TronIncident:
    """Return the incident inside an episode: the bench looks at the parts."""
    incident = episode._incident
    assert isinstance(incident, TronIncident)
    return incident


def _deepcopy_ms() -> float:
    """Return what a reset by copying would cost: a deep copy of every object of the base world."""
    store = healthy(0).store
    objects = [store.list(resource) for resource in store.resources()]
    return statistics.median(timed_ms(lambda: copy.deepcopy(objects)) for _ in range(5))


def reset_new(profile: Profile, *, is_quick: bool) -> list[Row]:
    """Row 1: a reset whose task and seed nobody has seen."""
    seeds = range(_FIRST_SEED, _FIRST_SEED + (4 if is_quick else RESET_SEEDS))
    by_task: dict[str, list[float]] = {}
    with collected(), profile.of("1"):
        for task in mix.TASKS:
            by_task[task] = [
                timed_ms(partial(Episode.reset, suite="tron", task=task, seed=seed)) for seed in seeds
            ]
    pooled = spread([value for values in by_task.values() for value in values])
    return [
        Row(
            id="1",
            what="reset, (task, seed) not seen before, in process, p50",
            unit="ms",
            budget=10.0,
            measured=pooled["p50"],
            peer="deepcopy of the base world",
            peer_measured=rounded(_deepcopy_ms()),
            details={"pooled": pooled, "by_task": {task: spread(values) for task, values in by_task.items()}},
        )
    ]


def reset_again(profile: Profile, *, is_quick: bool) -> list[Row]:
    """Row 2: the same reset again, as the rollouts of a group ask for it."""
    for task in mix.TASKS:
        Episode.reset(suite="tron", task=task, seed=7)
    values: list[float] = []
    with collected(), profile.of("2"):
        for _ in range(20 if is_quick else 400):
            values += [
                timed_ms(partial(Episode.reset, suite="tron", task=task, seed=7)) for task in mix.TASKS
            ]
    found = spread(values)
    return [
        Row(
            id="2",
            what="reset, (task, seed) built before, in process, p50",
            unit="ms",
            budget=1.0,
            measured=found["p50"],
            peer="deepcopy of the base world",
            peer_measured=rounded(_deepcopy_ms()),
            details=found,
        )
    ]


def steps(profile: Profile, *, is_quick: bool) -> list[Row]:
    """Row 3: the mixed agent step at full fidelity, with the observation."""
    episodes = 2 if is_quick else 120
    by_command: dict[str, list[float]] = defaultdict(list)
    exits: Counter[str] = Counter()
    virtual_ms = 0
    begun = [mix.begin(mix.TASKS[number % 3], 20_000 + number) for number in range(episodes)]
    total = 0.0
    with collected(), profile.of("3"):
        cpu_from = process_time()
        for number, episode in enumerate(begun):
            cluster = incident_of(episode).cluster
            before = cluster.now_ms
            for at in range(mix.STEPS):
                line = mix.command(at, number)
                started = perf_counter()
                result = mix.step(episode, line)
                spent = perf_counter() - started
                total += spent
                name = "rollout" if mix.is_rollout(line) else line
                by_command[name].append(spent * 1_000)
                if result.info["return_code"]:
                    exits[name] += 1
            virtual_ms += cluster.now_ms - before
        cpu = process_time() - cpu_from
    count = episodes * mix.STEPS
    parts = {
        name: {**spread(values), "share": round(sum(values) / (total * 1_000), 3), "exits_not_0": exits[name]}
        for name, values in sorted(by_command.items(), key=lambda entry: -sum(entry[1]))
    }
    deepcopy_ms = _deepcopy_ms()
    return [
        Row(
            id="3",
            what="mixed agent step, in process, full fidelity",
            unit="steps/s",
            budget=1_000.0,
            is_higher_better=True,
            measured=rounded(count / total),
            peer="deepcopies of the base world",
            peer_measured=rounded(1_000 / deepcopy_ms),
            details={
                "steps": count,
                "steps_a_second_of_cpu": rounded(count / cpu),
                "virtual_s_a_step": round(virtual_ms / count / 1_000, 2),
                "ms_a_step": rounded(total * 1_000 / count),
                "by_command": parts,
                "parts_of_a_read": _parts(is_quick=is_quick),
            },
        )
    ]


def _parts(*, is_quick: bool) -> dict[str, float]:
    """Return what one `get pods` step spends where, in milliseconds: its parts called one by one."""
    count = 20 if is_quick else 200
    episode = mix.begin("medium", 3)
    incident = incident_of(episode)
    cluster = incident.cluster
    found: dict[str, list[float]] = defaultdict(list)
    for _ in range(count):
        found["command"].append(timed_ms(lambda: incident._run("kubectl -n tron get pods")))
        found["15 s of idle time"].append(timed_ms(lambda: cluster.advance(15_000)))
        found["probe"].append(timed_ms(lambda: observing.probe(cluster)))
        found["summary"].append(timed_ms(lambda: observing.summary(cluster)))
        found["digest"].append(timed_ms(cluster.digest))
        found["fork"].append(timed_ms(episode.fork))
        found["whole step"].append(timed_ms(lambda: episode.step("kubectl -n tron get pods")))
    return {name: rounded(statistics.median(values)) for name, values in found.items()}


def step_cpu_ms(line: str, *, is_quick: bool) -> float:
    """Return how many milliseconds of CPU one command takes in process, in episodes of a usual length."""
    spent = 0.0
    episodes, steps_each = (2 if is_quick else 60), 17
    for number in range(episodes):
        episode = mix.begin("hard", 7 + number)
        started = process_time()
        for _ in range(steps_each):
            mix.step(episode, line)
        spent += process_time() - started
    return spent * 1_000 / (episodes * steps_each)


def verdicts(profile: Profile, *, is_quick: bool) -> list[Row]:
    """Row 7: the verdict on a fork, on repaired and on broken worlds."""
    worlds = [
        (task, seed, is_repaired)
        for task in mix.TASKS
        for seed in range(30_000, 30_000 + (2 if is_quick else 20))
        for is_repaired in (False, True)
    ]
    incidents: list[tuple[bool, TronIncident]] = []
    unrepaired = 0
    for task, seed, is_repaired in worlds:
        episode = mix.begin(task, seed)
        if is_repaired:
            for line in SUITE.reference(episode.task, seed)[0]:
                episode.step(line)
                if episode.is_done:
                    break
            unrepaired += not episode.is_done
        incidents.append((is_repaired, incident_of(episode)))
    found: dict[bool, list[float]] = {False: [], True: []}
    with collected(), profile.of("7"):
        for is_repaired, incident in incidents:
            found[is_repaired].append(timed_ms(incident._judge))
    pooled = spread([*found[False], *found[True]])
    return [
        Row(
            id="7",
            what="verdict on a fork, churn and all, p50",
            unit="ms",
            budget=30.0,
            measured=pooled["p50"],
            peer="deepcopy of the base world",
            peer_measured=rounded(_deepcopy_ms()),
            details={
                "pooled": pooled,
                "broken": spread(found[False]),
                "repaired": spread(found[True]),
                "reference_repairs_not_accepted": unrepaired,
            },
        )
    ]


def growth(_profile: Profile, *, is_quick: bool) -> list[Row]:
    """Row 8, first half: steps a second with 1, 100 and 1,000 live sessions."""
    sizes = (1, 10, 20) if is_quick else (1, 100, 1_000)
    rates: dict[int, list[float]] = {size: [] for size in sizes}
    # Alternating, so that a busy moment of the machine does not fall on one size alone.
    for _ in range(1 if is_quick else 2):
        for size in sizes:
            rates[size].append(_rate(size, sizes[-1]))
    medians = {size: rounded(statistics.median(values)) for size, values in rates.items()}
    one, most = medians[sizes[0]], medians[sizes[-1]]
    return [
        Row(
            id="8a",
            what=f"steps/s of CPU with {sizes[-1]:,} live sessions, as a share of those with 1",
            unit="of 1",
            budget=0.9,
            is_higher_better=True,
            measured=rounded(most / one),
            details={
                "steps_a_second_of_cpu": {str(size): value for size, value in medians.items()},
                "steps_each": sizes[-1] * _STEPS_A_SESSION,
            },
        )
    ]


def _rate(size: int, sessions: int) -> float:
    """Return the steps a second of CPU time when `sessions` short sessions run, `size` of them alive at once.

    Whatever the size, the same sessions run the same commands: a size changes only how many are alive and take
    turns. Each runs two steps from its own place in the mix. Beginning them is not counted.
    """
    total = 0.0
    gc.collect()
    for first in range(0, sessions, size):
        numbers = range(first, min(first + size, sessions))
        alive = [(number, mix.begin(mix.TASKS[number % 3], 40_000 + number % 64)) for number in numbers]
        started = process_time()
        for at in range(_STEPS_A_SESSION):
            for number, episode in alive:
                mix.step(episode, mix.command(at + number, number))
        total += process_time() - started
    return sessions * _STEPS_A_SESSION / total
