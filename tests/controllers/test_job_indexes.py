"""Completion indexes: intervals stand for the same numbers however they are written, merged and read back."""

import itertools

from hypothesis import given
from hypothesis import strategies as st

from env_core.controllers._job_indexes import NO_INDEXES, Interval, first_free, parse_indexes

COMPLETIONS = 60
sets = st.sets(st.integers(0, COMPLETIONS - 1))


def numbers(indexes):
    return {number for first, last in indexes for number in range(first, last + 1)}


@given(sets)
def test_what_is_written_reads_back(wanted):
    indexes = NO_INDEXES.with_numbers(wanted)
    assert numbers(indexes) == wanted
    assert indexes.total() == len(wanted)
    assert numbers(parse_indexes(str(indexes), COMPLETIONS)) == wanted
    assert [number for number in range(COMPLETIONS) if indexes.has(number)] == sorted(wanted)


@given(sets, sets)
def test_merging_is_union_and_leaves_gaps_between_intervals(some, others):
    merged = NO_INDEXES.with_numbers(some).merged(NO_INDEXES.with_numbers(others))
    assert numbers(merged) == some | others
    assert all(before.last + 1 < after.first for before, after in itertools.pairwise(merged))


@given(sets, st.integers(0, COMPLETIONS), st.integers(0, COMPLETIONS))
def test_the_lowest_free_numbers_come_first(taken, count, completions):
    free = [number for number in range(completions) if number not in taken]
    assert first_free(NO_INDEXES.with_numbers(taken), count, completions) == free[:count]


@given(sets, st.integers(0, COMPLETIONS))
def test_numbers_beyond_the_completions_do_not_count(wanted, completions):
    text = str(NO_INDEXES.with_numbers(wanted))
    assert numbers(parse_indexes(text, completions)) == {each for each in wanted if each < completions}


def test_pairs_are_listed_and_longer_runs_shortened():
    assert str(NO_INDEXES.merged([Interval(0, 0), Interval(2, 3), Interval(5, 9)])) == "0,2,3,5-9"


@given(st.text(alphabet="0123456789,-+ x", max_size=20))
def test_any_text_can_be_read(text):
    assert all(each.first < COMPLETIONS for each in parse_indexes(text, COMPLETIONS))
