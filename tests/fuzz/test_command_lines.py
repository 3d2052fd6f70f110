"""A sample of the random command lines; `python -m tests.fuzz.command_lines` runs as many as one likes."""

import itertools

import pytest

from tests.fuzz.command_lines import lines, troubles


@pytest.mark.parametrize("seed", range(2))
def test_no_line_breaks_the_simulator(seed):
    found, exits, _ = troubles(600, seed)
    assert found == []
    assert exits[0] > 30, "some lines must be right, or the sample tries nothing"


def test_the_same_seed_draws_the_same_lines():
    assert list(itertools.islice(lines(3), 50)) == list(itertools.islice(lines(3), 50))
