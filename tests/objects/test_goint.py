"""Integers as Go reads them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from env_core.objects.goint import IntegerError, atoi


@given(st.integers(-(2**63), 2**63 - 1), st.integers(0, 30), st.booleans())
def test_numbers_of_64_bits_are_read_however_they_are_padded(number, zeros, has_plus):
    sign = "-" if number < 0 else "+" if has_plus else ""
    assert atoi(f"{sign}{'0' * zeros}{abs(number)}") == number


@pytest.mark.parametrize("text", [f"{2**63}", f"{-(2**63) - 1}", "9" * 20, "-" + "9" * 5_000, "1" + "0" * 40])
def test_larger_numbers_are_out_of_range(text):
    with pytest.raises(IntegerError, match="value out of range"):
        atoi(text)


@pytest.mark.parametrize("text", ["", "-", "+", "1.5", "1_000", "٣", "--1", "+-1", " 1", "1\n"])
def test_other_texts_are_no_integers(text):
    with pytest.raises(IntegerError, match="invalid syntax"):
        atoi(text)
