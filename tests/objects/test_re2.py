"""Go's regular expressions: what matches, what is refused, and that no expression takes long."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from env_core.objects.re2 import Re2Error, compiled

LETTERS = st.sampled_from(
    ["a", "b", "ab", ".", "[ab]", "[^a]", "(?:a|b)", "(ab|c)", r"\d", r"\w", "^", "$", r"\b"]
)
REPEATS = st.sampled_from(["", "", "*", "+", "?", "{1,2}", "{2}", "*?"])
PIECES = st.tuples(LETTERS, REPEATS).map(
    lambda pair: pair[0] + (pair[1] if pair[0] not in ("^", "$", r"\b") else "")
)
PATTERNS = st.lists(PIECES, max_size=5).map("".join)


@given(PATTERNS, st.text("abc1 ", max_size=8))
def test_what_both_languages_know_matches_alike(pattern, text):
    assert compiled(pattern).search(text) == (re.search(pattern.replace("$", r"\Z"), text) is not None)


@pytest.mark.parametrize(
    ("pattern", "text", "matches"),
    [
        ("^[a-z]+$", "abc\n", False),
        ("(?m)^b$", "a\nb", True),
        ("(?s)a.b", "a\nb", True),
        ("a.b", "a\nb", False),
        ("(?i)HELLO", "say hello", True),
        (r"[[:alpha:]]+", "12", False),
        (r"[^[:space:]]", "  x", True),
        (r"\p{Lu}", "aBc", True),
        (r"\pN", "abc", False),
        (r"\Qa.b\E$", "xa.b", True),
        (r"\Qa.b\E$", "xacb", False),
        (r"\x41\x{1F600}", "A😀", True),
        (r"^\A\z$", "", True),
        ("(?P<name>a)(?<other>b)", "ab", True),
        ("a{,2}", "a{,2}", True),
        ("", "anything", True),
    ],
)
def test_texts_match_as_in_go(pattern, text, matches):
    assert compiled(pattern).search(text) is matches


@pytest.mark.parametrize(
    ("pattern", "problem"),
    [
        ("(", "missing closing ): `(`"),
        ("a)", "unexpected ): `a)`"),
        ("[a", "missing closing ]: `[a`"),
        ("*a", "missing argument to repetition operator: `*`"),
        ("a**", "invalid nested repetition operator: `**`"),
        ("a{1001}", "invalid repeat count: `{1001}`"),
        ("a{2,1}", "invalid repeat count: `{2,1}`"),
        ("[z-a]", "invalid character class range: `z-a`"),
        (r"\q", r"invalid escape sequence: `\q`"),
        ("a\\", "trailing backslash at end of expression"),
        ("(?=a)", "invalid or unsupported Perl syntax: `(?=`"),
        (r"\p{Foo}", r"invalid character class range: `\p{Foo}`"),
    ],
)
def test_what_is_no_expression_is_refused_in_the_words_of_go(pattern, problem):
    with pytest.raises(Re2Error, match=re.escape(f"error parsing regexp: {problem}")):
        compiled(pattern)


def test_the_work_is_bounded_by_the_text_whatever_the_expression():
    # A backtracking engine would need 2^3000 steps.
    assert compiled("^(a+)+$").search("a" * 3_000 + "b") is False
    assert compiled("^(a|a|aa)*$").search("a" * 3_000 + "b") is False
