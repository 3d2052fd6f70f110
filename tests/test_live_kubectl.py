"""The comparison of the real kubectl with ours: its worlds and lines, what it notices, and a sample of it."""

from __future__ import annotations

from collections import Counter

import pytest

from tests.golden import argv, frozen_worlds, live_kubectl
from tests.golden.live_kubectl import Case, Outcome

NOW_MS = 1_767_225_600_000
SAMPLE = 64


@pytest.fixture(scope="module")
def cases() -> list[Case]:
    return live_kubectl.cases(1)


def test_there_are_worlds_and_lines_enough(cases: list[Case]) -> None:
    assert len(frozen_worlds.names()) >= 30
    assert len(cases) >= 1_500
    assert len({case.line.argv for case in cases}) >= 1_300
    verbs = Counter(case.verb for case in cases)
    assert len(verbs) >= 40
    assert verbs.most_common(1)[0][1] < len(cases) / 3


def test_the_same_seed_gives_the_same_lines_and_another_one_others() -> None:
    world = frozen_worlds.frozen("web", 2_850, NOW_MS)

    def drawn(seed: int) -> list[argv.Line]:
        return list(argv.lines(world.state, world.namespace, seed=seed, turn=0, count=100))

    assert drawn(7) == drawn(7)
    assert drawn(7) != drawn(8)


def test_a_round_uses_every_template() -> None:
    world = frozen_worlds.frozen("web", 2_850, NOW_MS)
    count = 56
    turns = -(-len(argv.TEMPLATES) // count)
    drawn = [
        line.template
        for turn in range(turns)
        for line in argv.lines(world.state, world.namespace, seed=1, turn=turn, count=count)
    ]
    assert set(drawn) == set(argv.TEMPLATES)


def test_a_command_leaves_its_world_as_it_was() -> None:
    world = frozen_worlds.frozen("web", 2_850, NOW_MS)
    before = world.run(["get", "all", "-o", "name"], "", NOW_MS)
    assert world.run(["delete", "deploy", "web", "--wait=false"], "", NOW_MS)[0] == 0
    assert world.run(["get", "all", "-o", "name"], "", NOW_MS) == before


def test_a_difference_in_any_part_is_one() -> None:
    case = Case("web", 2_850, argv.Line(("get", "pods"), "", "get pods"))
    real = (0, "NAME\na\n", "")
    assert Outcome(case, real, real).is_same
    for ours in (
        (1, "NAME\na\n", ""),
        (0, "NAME\nb\n", ""),
        (0, "NAME\na\n", "Warning: x\n"),
        (0, "NAME\na", ""),
    ):
        outcome = Outcome(case, real, ours)
        assert not outcome.is_same, ours
        assert "(real)" in live_kubectl.difference(outcome)


def test_prose_and_what_is_drawn_do_not_differ_but_facts_do() -> None:
    helped = Case("web", 2_850, argv.Line(("get", "--help"), "", ""))
    text = "{}\n\nOptions:\n    -o, --output='':\n\t{}\n\nUsage:\n  kubectl get [flags] [options]\n"
    assert Outcome(helped, (0, text.format("A", "b"), ""), (0, text.format("C", "d"), "")).is_same
    other = text.replace("--output=''", "--output='x'")
    assert not Outcome(helped, (0, text.format("A", "b"), ""), (0, other.format("A", "b"), "")).is_same
    made = Case("web", 2_850, argv.Line(("create", "sa", "x", "-o", "yaml"), "", ""))
    uid = "uid: {}1b4e28ba-2fa1-11d2-883f-0016d3cca427\n"
    assert Outcome(made, (0, uid.format(""), ""), (0, uid.format("").replace("1b4", "2c5"), "")).is_same


def test_a_sample_agrees_with_the_real_binary() -> None:
    chosen = live_kubectl.cases(5, SAMPLE)
    assert len(chosen) == SAMPLE
    different = [outcome for outcome in live_kubectl.outcomes(chosen) if not outcome.is_same]
    assert len(different) <= 2, "\n".join(map(live_kubectl.difference, different))


def test_the_real_binary_reads_lists_by_our_openapi_document() -> None:
    line = argv.Line(("apply", "-f", "new-list.json"), "", "")
    (outcome,) = live_kubectl.outcomes([Case("web", 2_850, line)])
    assert outcome.real == (0, "secret/s1 created\nserviceaccount/robot created\n", "")
    assert outcome.is_same
