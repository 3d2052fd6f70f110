"""Compiled expressions: pure, cached, bounded, and right where Python can tell."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from env_core.cel import BOOL, DYN, CelError, CompileProblem, Environment, compile_expression, escaped
from env_core.cel._values import INT_MAX, INT_MIN

ENVIRONMENT = Environment({"self": DYN, "oldSelf": DYN})
INTS = st.integers(INT_MIN, INT_MAX)


def value(text, **bindings):
    return compile_expression(text, ENVIRONMENT).evaluate(bindings)


def test_a_program_is_made_once_and_changes_nothing():
    text = "self.items.map(x, x * 2).filter(x, x > 2)"
    program = compile_expression(text, ENVIRONMENT)
    assert compile_expression(text, ENVIRONMENT) is program
    bindings = {"self": {"items": [1, 2, 3]}}
    assert [program.evaluate(bindings), program.evaluate(bindings)] == [[4, 6], [4, 6]]
    assert bindings == {"self": {"items": [1, 2, 3]}}
    with pytest.raises(AttributeError):
        program.text = "true"


def test_what_does_not_compile_says_where():
    with pytest.raises(CompileProblem) as caught:
        compile_expression("self.x +", ENVIRONMENT)
    assert caught.value.message.startswith(
        "compilation failed: ERROR: <input>:1:9: Syntax error: mismatched input"
    )
    assert caught.value.message.endswith("\n | self.x +\n | ........^")


@given(INTS, INTS)
def test_arithmetic_is_that_of_64_bits(one, two):
    for operator, result in (("+", one + two), ("-", one - two), ("*", one * two)):
        got = value(f"self {operator} oldSelf", self=one, oldSelf=two)
        fits = INT_MIN <= result <= INT_MAX
        assert got == (result if fits else CelError("integer overflow"))


@given(INTS, INTS.filter(bool))
def test_division_is_cut_towards_zero(one, two):
    quotient = abs(one) // abs(two) * (1 if (one < 0) == (two < 0) else -1)
    expected = quotient if quotient <= INT_MAX else CelError("integer overflow")
    assert value("self / oldSelf", self=one, oldSelf=two) == expected
    if not (one == INT_MIN and two == -1):
        assert value("self % oldSelf", self=one, oldSelf=two) == one - quotient * two


@given(st.lists(st.integers(-50, 50), max_size=8))
def test_lists_are_sorted_counted_and_made_distinct_as_python_does(values):
    assert value("self.sort()", self=values) == sorted(values)
    assert value("self.distinct()", self=values) == list(dict.fromkeys(values))
    assert value("self.exists(x, x > 0)", self=values) is any(each > 0 for each in values)
    assert value("self.all(x, x > 0)", self=values) is all(each > 0 for each in values)
    assert value("self.exists_one(x, x > 0)", self=values) is (sum(each > 0 for each in values) == 1)
    assert value("self.sum()", self=values) == sum(values)
    assert value("self.map(x, x > 0, x + 1)", self=values) == [each + 1 for each in values if each > 0]


@given(st.text(max_size=12), st.text(max_size=3))
def test_strings_are_python_s(text, part):
    assert value("self.contains(oldSelf)", self=text, oldSelf=part) is (part in text)
    assert value("self.indexOf(oldSelf)", self=text, oldSelf=part) == text.find(part)
    assert value("self.size()", self=text) == len(text)
    assert value("self + oldSelf", self=text, oldSelf=part) == text + part
    if part:
        assert value("self.split(oldSelf)", self=text, oldSelf=part) == text.split(part)
        assert value("self.replace(oldSelf, '-')", self=text, oldSelf=part) == text.replace(part, "-")


@given(st.text(alphabet=st.characters(exclude_categories=("Cs",)), max_size=10))
def test_a_quoted_text_reads_back(text):
    literal = value("strings.quote(self)", self=text)
    assert value(literal) == text


@settings(max_examples=300)
@given(st.text(alphabet="selfoldSitm.?[](){}:,'\"\\ +-*/%&|!<>=0123456789xuinabrT\n\t", max_size=30))
def test_no_text_breaks_the_compiler(text):
    try:
        program = compile_expression(text, ENVIRONMENT)
    except CompileProblem as problem:
        message = problem.message
        assert message.startswith(("compilation failed: ERROR: ", "program instantiation failed: "))
    else:
        program.evaluate({"self": {"items": [1]}, "oldSelf": None})


def test_an_expensive_expression_is_stopped():
    text = "self.all(a, self.all(b, self.all(c, self.all(d, a + b + c + d >= 0))))"
    got = value(text, self=list(range(60)))
    assert got == CelError("operation cancelled: actual cost limit exceeded")


def test_deep_nesting_is_refused_not_fallen_over():
    with pytest.raises(CompileProblem):
        compile_expression("(" * 5000 + "1" + ")" * 5000, ENVIRONMENT)
    with pytest.raises(CompileProblem):
        compile_expression("1" + "+1" * 5000, ENVIRONMENT)


@pytest.mark.parametrize(
    ("name", "written"),
    [
        ("namespace", "__namespace__"),
        ("x-y", "x__dash__y"),
        ("a.b/c", "a__dot__b__slash__c"),
        ("a__b", "a__underscores__b"),
        ("plain_name", "plain_name"),
        ("1st", ""),
        ("a b", ""),
        ("", ""),
    ],
)
def test_field_names_are_escaped_as_the_api_server_does(name, written):
    assert escaped(name) == written


def test_the_type_of_a_program_is_known():
    assert compile_expression("self == oldSelf", ENVIRONMENT).output == BOOL
    assert compile_expression("self.x", ENVIRONMENT).output == DYN
