"""Values of expressions over small series."""

import math

from hypothesis import given
from hypothesis import strategies as st

from env_core.observability.promql import STALE, Engine, Series, StaticSource, labels_of

STEP_MS = 15_000
NUMBERS = st.floats(-1e6, 1e6, allow_nan=False)


def series(name, values, start_ms=0, **labels):
    times = [start_ms + index * STEP_MS for index in range(len(values))]
    return Series(labels_of({"__name__": name, **labels}), times, values)


def value(source, expression, at_ms):
    (row,) = Engine(StaticSource(source)).instant(expression, at_ms).value
    return row[2]


def vector(source, expression, at_ms):
    rows = Engine(StaticSource(source)).instant(expression, at_ms).value
    return {tuple(text for name, text in labels if name != "__name__"): number for labels, _, number in rows}


def test_a_counter_that_starts_anew_goes_on_counting():
    counter = [series("c_total", [0.0, 15.0, 30.0, 0.0, 15.0])]
    assert value(counter, "increase(c_total[1m1ms])", 60_000) == 45.0
    assert value(counter, "resets(c_total[2m])", 60_000) == 1


def test_a_series_ends_with_its_marker_or_five_minutes_after_its_last_sample():
    source = [series("gone", [1.0, 1.0, STALE]), series("quiet", [1.0, 1.0])]
    assert vector(source, "gone", 29_999) == {(): 1.0}
    assert vector(source, "gone", 30_000) == {}
    assert vector(source, "quiet", 15_000 + 299_999) == {(): 1.0}
    assert vector(source, "quiet", 15_000 + 300_000) == {}


def test_vectors_match_on_their_labels():
    source = [
        series("used", [6.0], pod="a", node="x"),
        series("used", [2.0], pod="b", node="y"),
        series("limit", [8.0], pod="a"),
        series("limit", [4.0], pod="b"),
        series("limit", [4.0], pod="c"),
    ]
    assert vector(source, "used / on (pod) group_left limit", 0) == {("x", "a"): 0.75, ("y", "b"): 0.5}
    assert vector(source, "limit unless on (pod) used", 0) == {("c",): 4.0}
    assert vector(source, "sum(used) / sum(limit)", 0) == {(): 0.5}
    assert vector(source, 'count_values("n", limit)', 0) == {("8",): 1.0, ("4",): 2.0}


def test_a_quantile_lies_between_the_bounds_of_its_bucket():
    buckets = [("0.1", 10.0), ("0.5", 30.0), ("+Inf", 40.0)]
    source = [series("d_bucket", [count], le=bound) for bound, count in buckets]
    assert math.isclose(value(source, "histogram_quantile(0.5, d_bucket)", 0), 0.3)
    assert value(source, "histogram_quantile(0.99, d_bucket)", 0) == 0.5


def test_a_range_is_evaluated_step_by_step():
    source = [series("g", [float(index) for index in range(9)])]
    result = Engine(StaticSource(source)).range("max_over_time(g[30s:15s]) * 2", 30_000, 60_000, 30_000)
    ((_, times, values),) = result.value
    assert (list(times), list(values)) == ([30_000, 60_000], [4.0, 8.0])


@given(st.lists(NUMBERS, min_size=1, max_size=8))
def test_aggregations_agree_with_python(values):
    source = [series("g", [each], i=str(index)) for index, each in enumerate(values)]
    assert value(source, "max(g)", 0) == max(values)
    assert value(source, "count(g)", 0) == len(values)
    assert math.isclose(value(source, "sum(g)", 0), math.fsum(values), abs_tol=1e-6)
    assert list(vector(source, "sort(g)", 0).values()) == sorted(values)


@given(NUMBERS, NUMBERS)
def test_arithmetic_agrees_with_python(left, right):
    source = [series("a", [left]), series("b", [right])]
    assert value(source, "a + b", 0) == left + right
    assert value(source, "a * b", 0) == left * right
    assert value(source, "a > bool b", 0) == float(left > right)
