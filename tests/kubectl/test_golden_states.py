"""Recorded commands over recorded states, byte for byte."""

from __future__ import annotations

from collections import Counter

import pytest

from tests.kubectl.golden_world import State, states
from tests.kubectl.scripted import configure

# What is left differs in what the recording does not hold: objects outside of the state, objects that changed
# while recording, custom resources, prose of help texts.
FLOORS = {
    "get": 1008,
    "describe": 162,
    "logs": 79,
    "rollout": 71,
    "events": 35,
    "exec": 40,
    "top": 34,
    "wait": 29,
    "auth": 15,
    "config": 13,
    "api-resources": 6,
    "explain": 5,
    "version": 5,
    "cluster-info": 2,
}
SINGLE = ("Get", "gets", "ge", "pods", "alpha")


def test_reading_commands_print_what_the_real_binary_printed() -> None:
    matched: Counter[str] = Counter()
    missed: list[str] = []
    for name in states():
        state = State(name)
        for case, moments in state.cases():
            verb = case["argv"][0]
            if verb not in FLOORS and verb not in SINGLE:
                continue
            is_equal, result = state.replay(case, moments, lambda api, state=state: configure(state, api))
            if is_equal:
                matched[verb] += 1
            else:
                missed.append(f"{case['id']} {case['argv']}\n{result}")
    short = {verb: (matched[verb], floor) for verb, floor in FLOORS.items() if matched[verb] < floor}
    assert not short, f"{short}\n" + "\n".join(missed[:20])
    assert all(matched[verb] == 1 for verb in SINGLE)


@pytest.mark.parametrize("name", ["config", "crash", "badimage", "inprogress"])
def test_a_replay_is_repeatable(name: str) -> None:
    state = State(name)
    case, moments = state.cases()[0]
    first = state.replay(case, moments)
    assert first == state.replay(case, moments)
