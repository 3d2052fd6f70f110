"""MariaDB in a cluster: reached by a service by name, its accounts, its data over restarts, its limits, and hostile input."""

from __future__ import annotations

import fnmatch

import pytest
from hypothesis import given
from hypothesis import strategies as st

from env_core.programs._mariadb_errors import Problem
from env_core.programs._mariadb_parser import parsed
from env_core.programs._mariadb_splitting import Splitter
from env_core.programs._mariadb_syntax import Statement
from env_core.programs._mariadb_values import is_like
from tests.programs.mysql_world import World


@pytest.fixture
def world():
    return World()


def test_a_service_leads_to_it_by_name(world):
    assert world.rows("select user(), database()")[0][0].startswith("app@10.")
    assert (
        world.sh("mysqladmin -h db.shop.svc.cluster.local -uapp -ps3cret ping").stdout == "mysqld is alive\n"
    )


def test_a_wrong_password_is_refused_and_logged(world):
    said = world.error("select 1", password="guess")
    address = world.cluster.client().get("pods", "shop", "toolbox")["status"]["podIP"]
    assert said == f"ERROR 1045 (28000): Access denied for user 'app'@'{address}' (using password: YES)"
    assert world.log[-1].endswith(f"[Warning] Access denied for user 'app'@'{address}' (using password: YES)")
    ping = world.sh("mysqladmin -h db -uapp -pguess ping")
    assert (ping.exit_code, "Access denied" in ping.stderr) == (0, True)


def test_data_and_passwords_outlast_pods_whatever_the_environment_says_later(world):
    world.mysql(
        "create table t (id int auto_increment primary key, sku varchar(9)); insert into t (sku) values ('a'), ('b')"
    )
    world.mysql("alter user app@'%' identified by 'next'", user="root", password="r00t")
    world.cluster.client().delete("pods", "shop", "db-0")
    world.cluster.advance(120_000)
    assert world.rows("select * from t", password="next") == [["1", "a"], ["2", "b"]]
    assert "Access denied" in world.error("select 1")
    assert any("[Entrypoint]: MariaDB upgrade not required" in line for line in world.log)


def test_connections_are_limited_and_administrators_have_one_more():
    world = World(args=("--max-connections=10",))
    hold = "(mysql -h db -uapp -ps3cret -e 'select sleep(20)' >/dev/null 2>&1 &) ;"
    output = world.sh(
        f"{hold * 10} sleep 2; mysql -h db -uapp -ps3cret -e 'select 1'; mysql -h db -uroot -pr00t -e 'show processlist'"
    )
    assert output.stderr == "ERROR 1040 (08004): Too many connections\n"
    assert len(output.stdout.splitlines()) == 12
    world.cluster.advance(30_000)
    assert world.rows("select 1") == [["1"]]


@pytest.mark.parametrize(
    ("statement", "said"),
    [
        ("select price from t", "ERROR 1054 (42S22) at line 1: Unknown column 'price' in 'SELECT'"),
        ("insert into t (sku) values ('a')", "ERROR 1062 (23000) at line 1: Duplicate entry 'a' for key 'sku'"),
        ("insert into t (sku, qty) values ('c', 'x')",
         "ERROR 1366 (22007) at line 1: Incorrect integer value: 'x' for column `shop`.`t`.`qty` at row 1"),
        ("insert into t (sku) values ('much too long')", "ERROR 1406 (22001) at line 1: Data too long for column 'sku' at row 1"),
        ("insert into t (qty) values (1)", "ERROR 1364 (HY000) at line 1: Field 'sku' doesn't have a default value"),
        ("update t set sku = null", "ERROR 1048 (23000) at line 1: Column 'sku' cannot be null"),
        ("drop database shop2", "ERROR 1044 (42000) at line 1: Access denied for user 'app'@'%' to database 'shop2'"),
        ("select user from mysql.user", "ERROR 1142 (42000) at line 1: SELECT command denied to user 'app'@"),
        ("set global max_connections = 5", "ERROR 1227 (42000) at line 1: Access denied; you need (at least one of) the SUPER"),
    ],
)  # fmt: skip
def test_a_wrong_statement_changes_nothing(world, statement, said):
    world.mysql(
        "create table t (id int auto_increment primary key, sku varchar(5) not null unique, qty int default 3)"
    )
    world.mysql("insert into t (sku) values ('a'), ('b')")
    assert world.error(statement).startswith(said)
    assert world.rows("select sku, qty from t order by id desc") == [["b", "3"], ["a", "3"]]


def test_a_transaction_is_unseen_until_its_end_and_gone_after_its_client(world):
    world.mysql("create table t (id int primary key, qty int); insert into t values (1, 5), (2, 6)")
    begun = "begin; update t set qty = 9 where id = 1; insert into t values (3, 7); select sleep(4)"
    seen = world.sh(
        f"(mysql -h db -uapp -ps3cret shop -e '{begun}' >/dev/null &) ; sleep 1;"
        " mysql -h db -uapp -ps3cret shop -Ne 'select * from t'; sleep 5; mysql -h db -uapp -ps3cret shop -Ne 'select * from t'"
    )
    assert seen.stdout == "1\t5\n2\t6\n" * 2


def test_a_longer_query_can_be_killed_by_an_administrator(world):
    output = world.sh(
        "(mysql -h db -uapp -ps3cret -e 'select sleep(60)' >/tmp/o 2>&1; echo $? >>/tmp/o) & sleep 1;"
        " id=$(mysql -h db -uroot -pr00t -Ne 'show processlist' | grep sleep | cut -f1);"
        ' mysql -h db -uroot -pr00t -e "kill query $id"; wait; cat /tmp/o'
    )
    assert output.stdout == "ERROR 1317 (70100) at line 1: Query execution was interrupted\n1\n"


def test_a_client_that_is_killed_says_no_farewell(world):
    world.sh("timeout 2 mysql -h db -uapp -ps3cret shop -e 'select sleep(20)'")
    assert "to db: 'shop' user: 'app' host: '10." in world.log[-1]
    assert world.log[-1].endswith("(Got an error reading communication packets)")
    assert len(world.rows("show processlist", user="root", password="r00t")) == 1


def test_a_session_that_is_idle_for_too_long_is_ended(world):
    output = world.sh(
        "(echo 'set wait_timeout = 2;'; sleep 4; echo 'select 1;') | mysql -h db -uapp -ps3cret shop"
    )
    assert output.stderr.endswith("\nERROR 2006 (HY000) at line 2: Server has gone away\n")
    assert world.log[-1].endswith("(Got timeout reading communication packets)")


def test_a_shutdown_is_logged_with_who_asked_for_it(world):
    assert world.sh("mysqladmin -h db -uroot -pr00t shutdown").exit_code == 0
    world.cluster.advance(400)
    assert any("mariadbd (initiated by: root[root] @" in line for line in world.log)
    assert world.sh("mysql -h db -uroot -pr00t -e 'select 1'").stderr.startswith(
        "ERROR 2002 (HY000): Can't connect"
    )


def test_the_client_prints_boxes_columns_and_bare_rows(world):
    assert world.sh("mysql -h db -uapp -ps3cret -t -e \"select 1 a, 'x' b, null c\"").stdout == (
        "+---+---+------+\n| a | b | c    |\n+---+---+------+\n| 1 | x | NULL |\n+---+---+------+\n"
    )
    assert (
        world.sh("mysql -h db -uapp -ps3cret -e 'select 7 a\\G'").stdout
        == f"{'*' * 27} 1. row {'*' * 27}\na: 7\n"
    )
    assert world.sh("echo 'select 1; select 2' | mysql -h db -uapp -ps3cret -N").stdout == "1\n2\n"


@pytest.mark.parametrize(
    "hostile",
    [
        "select " + "(" * 5_000 + "1" + ")" * 5_000,
        "select " + "-" * 5_000 + " 1",
        "select " + "1+" * 5_000 + "1",
        "select repeat(repeat('x', 4000), 1000000000)",
        "select concat(repeat('x', 4000000), repeat('y', 4000000))",
        "select count(*) from seq_1_to_9000 a, seq_1_to_9000 b, seq_1_to_9000 c",
        "select seq from seq_1_to_999999999999",
        "select 9 * 9e307 * 9e307",
        "select " + "9" * 2_000,
        "select left(repeat('ab', 5000000), 900000000)",
        "select round(1.5, 99999999999), 1 / 0, -9223372036854775808 div -1",
        "select 'a' like '" + "%a" * 500 + "b'",
        "create table t (" + ",".join(f"c{number} int" for number in range(900)) + ")",
        "select '" + "x" * 100_000,
        "set @a = repeat('x', 16000000); select @a",
        "\\. /etc/passwd",
        "delimiter ;;;;;;;;;;;;;;;;;;;;;;;;;;;;;;;;;;;;;;;;;;;;;;",
    ],
)  # fmt: skip
def test_hostile_statements_end_soon_and_leave_the_server_alive(world, hostile):
    world.cluster.loop.work.done = 0
    output = world.sh(f"mysql -h db -uapp -ps3cret shop <<'EOF'\n{hostile}\nEOF")
    assert len(output.stdout) + len(output.stderr) < 600_000
    assert world.cluster.loop.work.done < 2_000_000
    assert world.rows("select 1") == [["1"]]


@given(st.text(max_size=60))
def test_every_text_is_a_statement_or_a_problem(text):
    found = parsed(text)
    assert isinstance(found, Statement | Problem)


@given(st.text(alphabet="a'\"`;-# /*\n\\gG", max_size=40))
def test_a_script_that_comes_in_pieces_is_split_as_the_whole_one(text):
    whole = Splitter().take(text, is_open=False)
    splitter, found = Splitter(), []
    lines = text.splitlines(keepends=True)
    for line in lines:
        found += splitter.take(line, is_open=True)
    found += splitter.take("", is_open=False)
    assert found == whole


@given(st.text(alphabet="ab%_", max_size=12), st.text(alphabet="ab", max_size=12))
def test_like_is_what_its_wildcards_say(pattern, text):
    assert is_like(text, pattern) == fnmatch.fnmatchcase(text, pattern.replace("%", "*").replace("_", "?"))
