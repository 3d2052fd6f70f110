"""String literals of Go."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from env_core.objects.goformat import quoted
from env_core.objects.gounquote import unquoted


@given(st.text())
def test_what_is_quoted_reads_back(text):
    assert unquoted(quoted(text)[1:-1], '"') == text


@pytest.mark.parametrize(
    ("literal", "mark", "text"),
    [
        (r"a\tb", '"', "a\tb"),
        (r"\x41\u00e9\U0001F600", '"', "Aé😀"),
        (r"\101", '"', "A"),
        (r"it\'s", "'", "it's"),
        (r"it\'s", '"', None),
        (r"\q", '"', None),
        (r"\x4", '"', None),
    ],
)
def test_escapes(literal, mark, text):
    assert unquoted(literal, mark) == text
