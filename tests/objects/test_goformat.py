import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from env_core.objects import goformat
from env_core.objects.gosort import go_sorted


@pytest.mark.parametrize(
    ("layout", "values", "text"),
    [
        ("%v %v", [None, {"b": 1, "a": [True, "x"]}], "<nil> map[a:[true x] b:1]"),
        (
            "%#v",
            [{"a": None, "b": []}],
            'map[string]interface {}{"a":interface {}(nil), "b":[]interface {}{}}',
        ),
        ("%5d|%-5d|%05d|%+d", [42, 42, -42, 42], "   42|42   |-0042|+42"),
        ("%x %X %o %b %c %U", [255, 255, 8, 5, 65, 65], "ff FF 10 101 A U+0041"),
        ("%q %s %10.2s|", ['a"b', "x", "xyz"], '"a\\"b" x         xy|'),
        ("%6.2f %e %g", [3.14159, 1500.0, 1e21], "  3.14 1.500000e+03 1e+21"),
        ("%d", ["x"], "%!d(string=x)"),
        ("%s %d", ["x"], "x %!d(MISSING)"),
        ("%s", ["x", 1, None], "x%!(EXTRA int64=1, <nil>)"),
        ("%*d %[1]d", [5, 42], "   42 5"),
        ("100%% %", [], "100% %!(NOVERB)"),
        ("%T %T", [1.0, []], "float64 []interface {}"),
        ("%t %v", [True, 1000000.0], "true 1e+06"),
    ],
)
def test_printf_prints_as_go_does(layout, values, text):
    assert goformat.sprintf(layout, values) == text


@settings(max_examples=100, deadline=None)
@given(st.lists(st.integers(0, 20), max_size=300))
def test_gos_sort_sorts(numbers):
    assert go_sorted(numbers, lambda left, right: left < right) == sorted(numbers)


@settings(max_examples=50, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 3), st.integers()), max_size=12))
def test_gos_sort_keeps_the_order_of_equals_up_to_twelve(pairs):
    assert go_sorted(pairs, lambda left, right: left[0] < right[0]) == sorted(pairs, key=lambda pair: pair[0])


@pytest.mark.parametrize("size", [13, 50, 200, 1000])
def test_gos_sort_copes_with_patterns(size):
    for numbers in (list(range(size)), list(range(size, 0, -1)), [n * 7919 % 101 for n in range(size)]):
        assert go_sorted(numbers, lambda left, right: left < right) == sorted(numbers)
