"""Expressions: what prints parses again to the same, and what is none is told apart."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from env_core.observability.promql import ParseError, parse, pretty
from env_core.observability.promql._printing import text_of

NAMES = st.sampled_from(["up", "a:b", "http_requests_total"])
MATCHERS = st.sampled_from(['job="x"', 'code=~"5.."', 'code!="200"', 'le!~"a|b"'])
DURATIONS = st.sampled_from(["5m", "1h30m", "15s", "2d", "30"])


def _selector(name, matchers):
    return name + ("{" + ",".join(matchers) + "}" if matchers else "")


SELECTORS = st.builds(_selector, NAMES, st.lists(MATCHERS, max_size=2))
RANGES = st.builds(lambda selector, duration: f"{selector}[{duration}]", SELECTORS, DURATIONS)
LEAVES = st.one_of(
    SELECTORS,
    st.builds(lambda selector, duration: f"{selector} offset {duration}", SELECTORS, DURATIONS),
    st.builds(lambda selector: f"{selector} @ 1700000000", SELECTORS),
    st.builds(lambda name, window: f"{name}({window})", st.sampled_from(["rate", "max_over_time"]), RANGES),
    st.integers(0, 10_000).map(str),
)
EXPRESSIONS = st.recursive(
    LEAVES,
    lambda inner: st.one_of(
        st.builds("{} {} {}".format, inner, st.sampled_from(["+", "-", "*", "/", "^", "%"]), inner),
        st.builds("({})".format, inner),
        st.builds("-{}".format, inner),
        st.builds("vector(scalar(sum by (job, code) (vector(time()))))".format),
        st.builds("label_replace(up, \"a\", \"$1\", \"b\", \"(.*)\") {} on (job) group_left (x) {}".format,
                  st.sampled_from(["*", "/"]), SELECTORS),
    ),
    max_leaves=6,
)  # fmt: skip


@given(EXPRESSIONS)
def test_what_is_printed_parses_to_the_same(expression):
    once = text_of(parse(expression))
    assert text_of(parse(once)) == once
    assert text_of(parse(pretty(parse(expression)))) == once


def _problem(text):
    try:
        parse(text)
    except ParseError as error:
        return str(error)
    return ""


@given(st.text('up{}()[]="~!+-*/^ 0123456789smhd,.:@by', max_size=30))
def test_no_text_breaks_the_parser(text):
    problem = _problem(text)
    assert not problem or problem.startswith(("1:", "unknown position"))


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "unknown position: parse error: no expression found in input"),
        ("sum((", "1:6: parse error: unclosed left parenthesis"),
        ('up{job="x"', "1:11: parse error: unexpected end of input inside braces"),
        ("rate(up)", '1:6: parse error: expected type range vector in call to function "rate", got instant vector'),
    ],
)  # fmt: skip
def test_what_is_wrong_is_said_as_prometheus_says_it(text, problem):
    with pytest.raises(ParseError) as caught:
        parse(text)
    assert str(caught.value) == problem


def test_depth_is_bounded():
    with pytest.raises(ParseError):
        parse("(" * 5_000 + "1" + ")" * 5_000)
