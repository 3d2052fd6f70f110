"""The text format: what is written reads back the same."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from env_core.observability.exposition import (
    GAUGE,
    HISTOGRAM,
    Distribution,
    ExpositionError,
    Family,
    Metric,
    parse_text,
    to_openmetrics,
    to_text,
)

LABELS = st.dictionaries(st.sampled_from(["a", "b", "c"]), st.text(max_size=6).filter(bool), max_size=3)
VALUES = st.one_of(st.floats(allow_nan=False), st.integers(-10, 10).map(float))


@given(st.lists(LABELS, min_size=1, max_size=4, unique_by=lambda row: tuple(sorted(row.items()))), st.data())
def test_what_is_written_reads_back(rows, data):
    metrics = tuple(
        Metric(kind=GAUGE, value=data.draw(VALUES), labels=tuple(sorted(row.items()))) for row in rows
    )
    family = Family(name="g", type=GAUGE, help="h", metrics=metrics)
    (read,) = parse_text(to_text([family]))
    assert (read.name, read.type, read.help) == ("g", GAUGE, "h")
    assert [(dict(each.labels), each.value) for each in read.metrics] == [
        (dict(each.labels), each.value) for each in metrics
    ]


def test_a_histogram_has_a_last_bucket():
    value = Distribution(count=3, sum=1.5, steps=((0.5, 2), (math.inf, 3)))
    family = Family(name="d", type=HISTOGRAM, metrics=(Metric(kind=HISTOGRAM, value=value),))
    lines = ['d_bucket{le="0.5"} 2', 'd_bucket{le="+Inf"} 3', "d_sum 1.5", "d_count 3"]
    assert to_text([family]).splitlines() == ["# TYPE d histogram", *lines]
    assert to_openmetrics([family]).splitlines()[-1] == "# EOF"


@pytest.mark.parametrize("text", ["a{", 'a{b="c} 1\n', "a b\n", "# TYPE a wrong\n", "a 1 x\n"])
def test_what_is_no_exposition_is_refused(text):
    with pytest.raises(ExpositionError):
        parse_text(text)
