"""JSON is read, and refused, as Go's encoding/json does."""

import pytest

from env_core.objects.gojson import (
    JsonSyntaxError,
    Literal,
    copied,
    plain,
    read,
    repeated_fields,
    syntax_problem,
)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "unexpected end of JSON input"),
        ("{", "unexpected end of JSON input"),
        ('{"a"', "unexpected end of JSON input"),
        ('{"a" 1}', "invalid character '1' after object key"),
        ('{"a":1 "b"}', "invalid character '\"' after object key:value pair"),
        ("{a}", "invalid character 'a' looking for beginning of object key string"),
        ('{"a":1,}', "invalid character '}' looking for beginning of object key string"),
        ("[1 2]", "invalid character '2' after array element"),
        ("[1,]", "invalid character ']' looking for beginning of value"),
        ("nul", "unexpected end of JSON input"),
        ("nuxl", "invalid character 'x' in literal null (expecting 'l')"),
        ("1.x", "invalid character 'x' after decimal point in numeric literal"),
        ("1ex", "invalid character 'x' in exponent of numeric literal"),
        ("-x", "invalid character 'x' in numeric literal"),
        ("01", "invalid character '1' after top-level value"),
        ('"a\nb"', "invalid character '\\n' in string literal"),
        ('"\\q"', "invalid character 'q' in string escape code"),
        ('"\\u12x4"', "invalid character 'x' in \\u hexadecimal character escape"),
        ("'a'", "invalid character '\\'' looking for beginning of value"),
        ("NaN", "invalid character 'N' looking for beginning of value"),
        ('{"a":[1,2.5e3,true,null,"\\u00e9"]} ', ""),
    ],
)
def test_syntax_errors_are_worded_as_go_words_them(text, problem):
    assert syntax_problem(text) == problem
    if problem:
        with pytest.raises(JsonSyntaxError) as why:
            read(text)
        assert str(why.value) == problem
    else:
        read(text)


def test_repeated_keys_are_kept_and_reported_once_each_in_document_order():
    value = read('{"b":{"x":1,"x":2,"x":3},"a":[{"k":1},{"k":1,"k":{"z":1,"z":2}}]}')
    assert repeated_fields(value) == [
        'duplicate field "b.x"',
        'duplicate field "a[1].k"',
        'duplicate field "a[1].k.z"',
    ]
    assert plain(value) == {"b": {"x": 3}, "a": [{"k": 1}, {"k": {"z": 2}}]}


def test_numbers_keep_their_spelling():
    value = read("[30.0, 1e3, 5, 99999999999999999999]")
    assert [item.text for item in value if isinstance(item, Literal)] == [
        "30.0",
        "1e3",
        "99999999999999999999",
    ]
    assert plain(value) == [30.0, 1000.0, 5, 99999999999999999999]


def test_a_copy_shares_nothing_that_can_change():
    value = {"a": [{"b": 1}]}
    twin = copied(value)
    twin["a"][0]["b"] = 2
    assert value == {"a": [{"b": 1}]}
