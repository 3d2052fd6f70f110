"""Go's reader of comma-separated values, where Python's differs from it."""

import contextlib
import csv

import pytest
from hypothesis import given
from hypothesis import strategies as st

from env_core.objects.gocsv import CsvError, record


@pytest.mark.parametrize(
    ("text", "fields"),
    [
        ("a", ["a"]),
        ("a,b", ["a", "b"]),
        ("a,", ["a", ""]),
        (",", ["", ""]),
        ('"a,b",c', ["a,b", "c"]),
        ('"a""b"', ['a"b']),
        ("a\nb", ["a"]),
        ("\n\na,b\r\nc", ["a", "b"]),
        ('"a\nb",c\nd', ["a\nb", "c"]),
        ("a\r", ["a"]),
        ("a\rb", ["a\rb"]),
    ],
)
def test_the_first_record_is_read(text, fields):
    assert record(text) == fields


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('a"b', 'parse error on line 1, column 2: bare " in non-quoted field'),
        ('é,a"', 'parse error on line 1, column 5: bare " in non-quoted field'),
        ('"a"b', 'parse error on line 1, column 3: extraneous or missing " in quoted-field'),
        ('"a', 'parse error on line 1, column 3: extraneous or missing " in quoted-field'),
        (
            '"a\nb"c',
            'record on line 1; parse error on line 2, column 2: extraneous or missing " in quoted-field',
        ),
        ("\n", "EOF"),
    ],
)
def test_a_quote_out_of_place_is_told_in_gos_words(text, message):
    with pytest.raises(CsvError) as caught:
        record(text)
    assert str(caught.value) == message


@given(st.lists(st.text(st.characters(exclude_characters="\r\n", exclude_categories=["Cs"])), min_size=1))
def test_what_is_written_is_read(fields):
    class Line(list):
        write = list.append

    line = Line()
    csv.writer(line, quoting=csv.QUOTE_ALL).writerow(fields)
    assert record(line[0]) == fields


@given(st.text(alphabet='ab",\n\r'))
def test_any_text_is_read_or_refused(text):
    with contextlib.suppress(CsvError):
        assert record(text)
