"""Sessions of a Postgres server that overlap: locks, limits, transactions, and what its data directory keeps of them."""

import pytest

from env_core.apiserver.request import ExecOptions
from env_core.scenarios.apps import base
from env_core.shell.inside import run_inside

SHOP = base("shop", 0)
SERVER = SHOP.workloads["postgres"]
KNOWN = {need.variable: need.value for need in SERVER.needs}
USER, DATABASE = KNOWN["POSTGRES_USER"], KNOWN["POSTGRES_DB"]
PSQL = f"psql -U {USER} -d {DATABASE}"


class Pod:
    """The server's pod, with a table in it."""

    def __init__(self):
        self.cluster = SHOP.cluster.fork()
        self.psql("create table stock (id serial primary key, sku text unique, qty int check (qty >= 0))")
        self.psql("insert into stock (sku, qty) values ('a', 1), ('b', 2)")

    @property
    def run(self):
        pod = self.cluster.store.get("pods", SERVER.namespace, f"{SERVER.name}-0")
        return self.cluster.runtime.run(pod["metadata"]["uid"], SERVER.name)

    def sh(self, line):
        cluster = self.cluster
        return run_inside(
            self.run, ExecOptions(command=("sh", "-c", line.replace("PSQL", PSQL)), container=SERVER.name),
            network=cluster.network, runtime=cluster.runtime, loop=cluster.loop, advance=cluster.advance,
        )  # fmt: skip

    def psql(self, *queries):
        return self.sh("PSQL " + " ".join(f'-c "{query}"' for query in queries))

    def value(self, query):
        return self.sh(f'PSQL -tA -c "{query}"').stdout.strip()

    @property
    def log(self):
        container = self.run.container
        lines = self.cluster.runtime.log_lines(container.pod_uid, container.name, container.restarts)
        return [line.text.partition("] ")[2] or line.text for line in lines]

    @property
    def sessions(self):
        container = self.run.container
        memory = self.cluster.runtime.memory(container.pod_uid, container.name)
        return [key for key in memory if key.startswith("session ")]


@pytest.fixture
def pod():
    return Pod()


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ("insert into stock (sku) values ('a')",
         'ERROR:  duplicate key value violates unique constraint "stock_sku_key"\nDETAIL:  Key (sku)=(a) already exists.\n'),
        ("update stock set qty = qty - 2 where id = 1",
         'ERROR:  new row for relation "stock" violates check constraint "stock_qty_check"\n'
         "DETAIL:  Failing row contains (1, a, -1).\n"),
        ("select price from stock", 'ERROR:  column "price" does not exist\nLINE 1: select price from stock\n               ^\n'),
        ("select * from shelves", 'ERROR:  relation "shelves" does not exist\nLINE 1: select * from shelves\n                      ^\n'),
        ("select 7 / 0", "ERROR:  division by zero\n"),
        ("delete stock", 'ERROR:  syntax error at or near "stock"\nLINE 1: delete stock\n               ^\n'),
        ("select qty from stock where id = 'x'",
         'ERROR:  invalid input syntax for type integer: "x"\nLINE 1: select qty from stock where id = \'x\'\n'
         "                                         ^\n"),
    ],
)  # fmt: skip
def test_a_wrong_statement_is_refused_and_logged(pod, query, said):
    output = pod.psql(query)
    assert (output.stdout, output.stderr, output.exit_code) == ("", said, 1)
    assert pod.log[-1] == f"STATEMENT:  {query}"
    assert pod.value("select count(*) from stock") == "2"


def test_what_a_transaction_did_is_gone_after_its_rollback_and_unseen_before_its_end(pod):
    pod.psql(
        "begin", "update stock set qty = 9 where id = 1", "insert into stock (sku) values ('c')", "rollback"
    )
    assert pod.value("select qty from stock where id = 1") == "1"
    seen = pod.sh(
        '(PSQL -c begin -c "delete from stock" -c "select pg_sleep(2)" -c commit >/dev/null) & sleep 1;'
        ' PSQL -tA -c "select count(*) from stock"; wait; PSQL -tA -c "select count(*) from stock"'
    )
    assert seen.stdout == "2\n0\n"


def test_a_client_that_goes_without_a_commit_leaves_nothing(pod):
    pod.psql("begin", "update stock set qty = 9 where id = 1")
    assert pod.value("select qty from stock where id = 1") == "1"
    assert pod.sessions == []


def test_a_row_that_another_transaction_holds_is_waited_for(pod):
    before_ms = pod.cluster.now_ms
    pod.sh(
        '(PSQL -c begin -c "update stock set qty = 5 where id = 1" -c "select pg_sleep(3)" -c commit >/dev/null) & sleep 1;'
        ' PSQL -c "update stock set qty = qty + 1 where id = 1"'
    )
    assert pod.value("select qty from stock where id = 1") == "6"
    assert 3_000 <= pod.cluster.now_ms - before_ms < 3_500


def test_a_lock_that_does_not_come_in_time_is_given_up(pod):
    output = pod.sh(
        '(echo "begin; lock table stock; select pg_sleep(3);" | PSQL >/dev/null) & sleep 1;'
        ' PSQL -c "set lock_timeout = 500; select * from stock"'
    )
    assert output.stderr.startswith(
        "ERROR:  canceling statement due to lock timeout\nLINE 1: set lock_timeout = 500; select"
    )


@pytest.mark.parametrize(
    ("function", "said", "code"),
    [
        ("pg_cancel_backend", "ERROR:  canceling statement due to user request", 1),
        ("pg_terminate_backend", "FATAL:  terminating connection due to administrator command", 2),
    ],
)
def test_another_session_can_be_stopped(pod, function, said, code):
    before_ms = pod.cluster.now_ms
    output = pod.sh(
        '(PSQL -c "select pg_sleep(60)" > /tmp/o 2>&1; echo rc=$? >> /tmp/o) & sleep 1;'
        f" PSQL -tA -c \"select {function}(pid) from pg_stat_activity where query like '%(60)'\"; wait; cat /tmp/o"
    )
    told, first, *_, last = output.stdout.splitlines()
    assert (told, first, last) == ("t", said, f"rc={code}")
    assert pod.cluster.now_ms - before_ms < 2_000


def test_a_role_has_as_many_sessions_as_its_limit_says(pod):
    assert pod.psql("create role clerk login password 'pw' connection limit 1").stdout == "CREATE ROLE\n"
    busy = '(PSQL -U clerk -c "select pg_sleep(2)" >/dev/null) & sleep 1; PSQL -U clerk -c "select 1"'
    assert pod.sh(busy).stderr.endswith('FATAL:  too many connections for role "clerk"\n')
    # A superuser's limit does not bind, as it is in postinit.c.
    pod.psql(f"alter role {USER} connection limit 1")
    assert pod.sh(busy.replace(" -U clerk", "")).stderr == ""


@pytest.mark.parametrize(
    ("queries", "said"),
    [
        (["create user clerk password 'pw'", "create role clerk"], 'CREATE ROLE\nERROR:  role "clerk" already exists\n'),
        (["create role clerk connection limit -5"], "ERROR:  invalid connection limit: -5\n"),
        (["alter role nobody password 'x'"], 'ERROR:  role "nobody" does not exist\n'),
        (["drop user nobody"], 'ERROR:  role "nobody" does not exist\n'),
        ([f"drop role {USER}"], "ERROR:  current user cannot be dropped\n"),
        (["create role clerk", "drop role clerk", "drop role if exists clerk"], "CREATE ROLE\nDROP ROLE\nDROP ROLE\n"),
    ],
)  # fmt: skip
def test_roles_are_made_changed_and_dropped(pod, queries, said):
    output = pod.psql(*queries)
    assert output.stdout + output.stderr == said


def test_a_role_owns_what_it_makes_and_sees_nothing_else(pod):
    pod.psql("create user clerk password 'pw'", "create role ghost")
    assert pod.sh('PSQL -U clerk -c "create table notes (a int)"').stdout == "CREATE TABLE\n"
    assert (
        pod.sh('PSQL -U clerk -c "select * from stock"').stderr
        == "ERROR:  permission denied for table stock\n"
    )
    assert (
        pod.sh('PSQL -U clerk -c "create role more"').stderr == "ERROR:  permission denied to create role\n"
    )
    assert pod.psql("drop role clerk").stderr == (
        'ERROR:  role "clerk" cannot be dropped because some objects depend on it\nDETAIL:  owner of table notes\n'
    )
    assert pod.sh('PSQL -U ghost -c "select 1"').stderr.endswith(
        'FATAL:  role "ghost" is not permitted to log in\n'
    )


def test_of_two_that_wait_for_each_other_one_is_given_up(pod):
    change = (
        '(PSQL -c begin -c "update stock set qty = 5 where id = {0}" -c "select pg_sleep(1)"'
        ' -c "update stock set qty = 6 where id = {1}" -c commit >/dev/null) &'
    )
    output = pod.sh(f"{change.format(1, 2)} {change.format(2, 1)} wait")
    first, second = output.stderr.splitlines()[:2]
    assert first == "ERROR:  deadlock detected"
    assert second.startswith("DETAIL:  Process ")
    assert "waits for ShareLock on transaction" in second
    # The other one's changes are both there; a second passed until its first wait, and deadlock_timeout.
    assert pod.value("select qty from stock order by id") in ("6\n5", "5\n6")
    assert "See server log for query details." in output.stderr


def test_a_session_can_end_itself(pod):
    output = pod.psql(
        "begin", "delete from stock", "select pg_terminate_backend(pg_backend_pid())", "select 1"
    )
    assert output.stderr.startswith(
        "FATAL:  terminating connection due to administrator command\nserver closed the connection"
    )
    assert output.exit_code == 2
    assert pod.value("select count(*) from stock") == "2"
    assert pod.sessions == []


def test_the_longer_a_wait_the_less_often_it_is_looked_after(pod):
    before = pod.cluster.loop.work.done
    pod.sh(
        '(PSQL -c begin -c "lock table stock" -c "select pg_sleep(590)") >/dev/null & sleep 1; PSQL -c "select 1 from stock"'
    )
    assert pod.cluster.now_ms > 590_000
    assert pod.cluster.loop.work.done - before < 2_000_000


def test_a_fork_goes_on_with_its_own_tables(pod):
    twin = Pod.__new__(Pod)
    twin.cluster = pod.cluster.fork()
    twin.psql("delete from stock")
    assert (pod.value("select count(*) from stock"), twin.value("select count(*) from stock")) == ("2", "0")
