"""Whatever a value turns out to be at run time, calls end in a value or an error of CEL, with a cost."""

import itertools

import pytest

from env_core.cel import DYN, CelError, CompileProblem, Environment, compile_expression
from env_core.cel._environment import functions
from env_core.cel._values import Duration, Timestamp, UInt

ENVIRONMENT = Environment(dict.fromkeys(("a", "b", "c", "d"), DYN), has_patches=True)
VALUES = (
    None, True, 0, -(2**63), 7, UInt(3), 1.5, float("nan"), float("inf"), "", "a", "10.0.0.0/8", "1Gi", "é☃", b"", b"\xff", [],
    [1, "a"], [[1], [None]], ["b", "a"], {}, {"a": 1}, {1: [], "b": None}, Duration(5), Timestamp(0), CelError("boom"),
)  # fmt: skip


def called(name, overload):
    names = "abcd"[: len(overload.arguments)]
    if overload.is_member:
        return f"{names[0]}.{name}({', '.join(names[1:])})"
    return f"{name}({', '.join(names)})"


CALLS = sorted(
    {
        (called(name, overload), len(overload.arguments))
        for name, function in functions().items()
        if name.replace(".", "").replace("_", "").isalnum() and not name.startswith(("_", "@", "!", "-"))
        for overload in function.overloads
    }
)
OPERATORS = [
    (f"a {sign} b", 2)
    for sign in ("+", "-", "*", "/", "%", "<", "<=", ">", ">=", "==", "!=", "in", "&&", "||")
]
OTHERS = [
    ("!a", 1),
    ("-a", 1),
    ("a[b]", 2),
    ("a[?b]", 2),
    ("a.?b", 1),
    ("a ? b : c", 3),
    ("[a, b]", 2),
    ("{a: b}", 2),
]
FOLDS = [
    ("a.all(x, x)", 1),
    ("a.map(x, x + x)", 1),
    ("a.exists_one(x, y, x == y)", 1),
    ("a.transformMap(k, v, v)", 1),
]


@pytest.mark.parametrize(("text", "count"), [*CALLS, *OPERATORS, *OTHERS, *FOLDS], ids=str)
def test_no_call_breaks_down(text, count):
    try:
        program = compile_expression(text, ENVIRONMENT)
    except CompileProblem as problem:
        pytest.fail(problem.message)
    for values in itertools.product(VALUES, repeat=max(1, min(count, 2))):
        bindings = {"a": values[0], "b": values[-1], "c": values[0], "d": values[-1]}
        outcome = program.counted(bindings)
        assert outcome.cost >= 0
