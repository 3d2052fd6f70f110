"""Regular expressions: Python's answers where both know the syntax, Go's complaints, and no backtracking."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from env_core.cel import CelError, Environment, compile_expression
from env_core.cel._types import STRING

ENVIRONMENT = Environment({"text": STRING, "pattern": STRING})


def matches(text, pattern):
    program = compile_expression("text.matches(pattern)", ENVIRONMENT)
    return program.evaluate({"text": text, "pattern": pattern})


ATOMS = st.sampled_from(["a", "b", ".", "[ab]", "[^a]", r"\d", r"\w", "(a|b)", "(?:ab)"])
PIECES = st.builds(
    lambda atom, suffix: atom + suffix, ATOMS, st.sampled_from(["", "*", "+", "?", "{1,2}", "*?"])
)
PATTERNS = st.builds(
    lambda pieces, start, end: start + "".join(pieces) + end,
    st.lists(PIECES, max_size=4),
    st.sampled_from(["", "^"]),
    st.sampled_from(["", "$"]),
)


@given(st.text(alphabet="ab1_", max_size=8), PATTERNS)
def test_matches_are_those_of_python_where_the_syntax_is_the_same(text, pattern):
    assert matches(text, pattern) is (re.search(pattern, text) is not None)


@given(st.text(alphabet="ab1", max_size=8), PATTERNS)
def test_what_is_found_is_what_python_finds(text, pattern):
    program = compile_expression("text.find(pattern)", ENVIRONMENT)
    found = re.search(pattern, text)
    assert program.evaluate({"text": text, "pattern": pattern}) == (found.group() if found else "")


def test_nothing_backtracks():
    assert matches("a" * 400 + "b", "^(a+)+$") is False
    assert matches("a" * 60, "(a?){60}a{60}") is True


@pytest.mark.parametrize(
    ("pattern", "complaint"),
    [
        ("[", "missing closing ]: `[`"),
        ("(", "missing closing ): `(`"),
        ("a{2,1}", "invalid repeat count: `{2,1}`"),
        ("*", "missing argument to repetition operator: `*`"),
        (r"\8", r"invalid escape sequence: `\8`"),
        ("(?=a)", "invalid or unsupported Perl syntax: `(?=`"),
    ],
)
def test_malformed_patterns_are_refused_in_go_s_words(pattern, complaint):
    assert matches("a", pattern) == CelError(f"error parsing regexp: {complaint}")
