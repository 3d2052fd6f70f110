"""Whatever a statement asks for, the server answers it: with a bound of its own where a real one would take its time."""

import random
import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from env_core.programs._postgres_bounds import Meter
from env_core.programs._postgres_data import Actor, execute
from env_core.programs._postgres_errors import Problem
from env_core.programs._postgres_parser import parsed
from env_core.programs._postgres_values import Scope
from env_core.shell._clients.psql import statements

KEPT = {}
for made in (
    "create table t (id serial primary key, name text unique, size int check (size >= 0), part numeric default 0.5, is_on bool)",
    "insert into t (name, size, is_on) values ('a', 1, true), ('b', null, false), ('c', 3, null)",
    "create table many as select g as n, 'x' as x from generate_series(1, 1000000) g",
):
    KEPT = execute(parsed(made)[0][0], KEPT, Actor()).rows


def asked(query, kept=KEPT):
    """Return what a query brings: the rows or the tag of its last statement, or the error's text."""
    found, problem = parsed(query)
    if problem is not None:
        return f"ERROR:  {problem}"
    told = None
    try:
        for statement in found:
            told = execute(statement, kept, Actor(scope=Scope(meter=Meter())))
            kept = kept if told is None or told.rows is None else told.rows
    except Problem as problem:
        return f"ERROR:  {problem}"
    if told is not None and told.problem is not None:
        return f"ERROR:  {told.problem}"
    return None if told is None else told.text


NINES = "9" * 5_000


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ("select repeat('x', 1000000000)", "ERROR:  out of memory"),
        ("select length(repeat('x', 60000) || repeat('y', 60000))", "ERROR:  out of memory"),
        ("select count(*) from generate_series(1, 1000000000000)", "1000000000000"),
        ("select count(*) from generate_series(-9223372036854775808, 9223372036854775807)", "18446744073709551616"),
        ("select * from generate_series(1, 1000000000000)", "ERROR:  canceling statement due to user request"),
        ("select * from generate_series(1, 5, 2)", "1\n3\n5"),
        ("select * from generate_series(3, 1, -1)", "3\n2\n1"),
        ("select * from generate_series(1, 5, 0)", "ERROR:  step size cannot equal zero"),
        ("select * from generate_series(1)", "ERROR:  function generate_series(integer) does not exist"),
        ("select count(*) from many", "1000000"),
        ("select n from many where n = 7", "ERROR:  canceling statement due to user request"),
        ("delete from many", "DELETE 1000000"),
        ("select upper()", "ERROR:  function upper() does not exist"),
        ("select upper('a', 'b')", "ERROR:  function upper(unknown, unknown) does not exist"),
        ("select length(5)", "ERROR:  function length(integer) does not exist"),
        (f"select {NINES}", "ERROR:  value overflows numeric format"),
        (f"select '{NINES}'::int", f'ERROR:  value "{NINES}" is out of range for type integer'),
        ("select 2147483647 + 1", "ERROR:  integer out of range"),
        ("select 2147483648 + 1", "2147483649"),
        ("select 9223372036854775807 * 9223372036854775807", "ERROR:  bigint out of range"),
        ("select 9223372036854775808 + 1", "9223372036854775809"),
        ("select 0.1 + 0.2", "0.3"),
        ("select 1.0 / 3", "0.33333333333333333333"),
        ("select 10 / 4.0", "2.5000000000000000"),
        ("select -7 / 2, -7 % 2", "-3|-1"),
        ("select 2.5::int, (-2.5)::int", "3|-3"),
        ("select 1 where 1", "ERROR:  argument of WHERE must be type boolean, not type integer"),
        ("select not 'x'", 'ERROR:  invalid input syntax for type boolean: "x"'),
        ("select 1 and true", "ERROR:  argument of AND must be type boolean, not type integer"),
        ("select name from t order by 3", "ERROR:  ORDER BY position 3 is not in select list"),
        ("select name from t order by 1.5", "ERROR:  non-integer constant in ORDER BY"),
        ("select id as key from t order by key desc limit 1", "3"),
        (f"select 1 limit {NINES}", f'ERROR:  syntax error at or near "{NINES}"'),
        ("select " + "(" * 500 + "1" + ")" * 500, "ERROR:  stack depth limit exceeded"),
        ("select " + "not " * 500 + "true", "ERROR:  stack depth limit exceeded"),
        ("select " + "- " * 500 + "1", "ERROR:  stack depth limit exceeded"),
        ("select " + "1 + " * 5_000 + "1", "ERROR:  stack depth limit exceeded"),
        ("select 1" + "::int" * 5_000, "ERROR:  stack depth limit exceeded"),
        ("select 'a''b", "ERROR:  unterminated quoted string at or near \"'a''b\""),
        ("select 1 /* on and on", 'ERROR:  unterminated /* comment at or near "/* on and on"'),
        ("select 'a%b_c' like 'a\\%b\\_c', 'a1b2c' like 'a\\%b%'", "t|f"),
        ("select 'abcabc' like '%b%bc', 'abc' like 'ab%bc', 'aXbc' ilike 'ax__'", "t|f|t"),
        ("update t set size = size - 2", "ERROR:  new row for relation \"t\" violates check constraint \"t_size_check\""),
        ("update t set part = part + 0.25; select part from t", "0.75\n0.75\n0.75"),
        ("update t set id = 4 - id", "ERROR:  duplicate key value violates unique constraint \"t_pkey\""),
    ],
)  # fmt: skip
def test_a_statement_out_of_bounds_is_answered(query, said):
    assert asked(query) == said


def test_a_pattern_of_many_wild_cards_ends():
    text, pattern = "a" * 60_000, "%a" * 2_000 + "%b"
    assert asked(f"select '{text}' like '{pattern}'") == "ERROR:  canceling statement due to user request"
    assert asked(f"select '{text[:2000]}' like '{pattern[:1000]}b'") == "f"


def test_a_table_does_not_grow_without_end():
    kept = KEPT
    rows = ", ".join(f"('{number}', '{'x' * 90}')" for number in range(900))
    said = "INSERT 0 900"
    kept = execute(parsed("create table big (a text, b text)")[0][0], kept, Actor()).rows
    for _ in range(9):
        said = asked(f"insert into big values {rows}", kept)
        if said.startswith("ERROR"):
            break
        kept = execute(parsed(f"insert into big values {rows}")[0][0], kept, Actor()).rows
    assert said.startswith('ERROR:  could not extend file "base/16385/')


WORDS = st.sampled_from(
    [
        "select",
        "insert",
        "into",
        "update",
        "delete",
        "from",
        "where",
        "order",
        "by",
        "limit",
        "values",
        "set",
        "t",
        "name",
        "size",
        "part",
        "id",
        "is_on",
        "null",
        "true",
        "not",
        "and",
        "or",
        "is",
        "like",
        "ilike",
        "(",
        ")",
        ",",
        ";",
        "*",
        "=",
        "<",
        ">",
        "<>",
        "+",
        "-",
        "/",
        "%",
        "::",
        "int",
        "numeric",
        "bool",
        "text",
        "'a'",
        "'%'",
        "''",
        "0",
        "1",
        "2.5",
        "-1",
        "99999999999",
        "count",
        "upper",
        "repeat",
        "length",
        "coalesce",
        "generate_series",
        "many",
        "as",
        "x",
        "drop",
        "table",
        "create",
        "primary",
        "key",
        "unique",
        "check",
        "default",
        "truncate",
        "lock",
        "alter",
        "role",
        "begin",
        ".",
        '"',
        "'",
        "--",
        "/*",
        "||",
    ]
)


@given(st.lists(WORDS, max_size=25).map(" ".join))
def test_any_words_are_answered(query):
    said = asked(query)
    assert said is None or isinstance(said, str)


@given(st.text(st.sampled_from("'\";\\-/* \nab"), max_size=60), st.booleans())
def test_a_script_falls_into_parts_that_make_it_up(text, is_open):
    found, rest = statements(text, is_open=is_open)
    kept = [char for char in text if not char.isspace()]
    assert [char for each in (*found, rest) for char in each if not char.isspace()] == kept
    assert is_open or not rest


def test_long_scripts_without_an_end_are_read_once():
    drawn = random.Random(5)
    for piece in ("'", "''", '"', "/*", "--", "'\"", ";", "\\", "a", *string.punctuation):
        text = piece * 20_000 + drawn.choice(["", "'", "x;"])
        statements(text, is_open=True)
        asked(text)
