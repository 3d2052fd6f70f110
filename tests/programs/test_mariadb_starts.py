"""How MariaDB and MySQL start in their images: entry points, environments, options, addresses, scripts."""

from __future__ import annotations

import pytest

from env_core.apiserver.request import LogOptions
from tests.programs.mysql_world import ENV, World, pod_of


@pytest.fixture
def world():
    return World()


def test_a_first_start_fills_its_volume_and_becomes_ready_by_its_own_client(world):
    status = world.pod()["status"]
    assert [each["ready"] for each in status["containerStatuses"]] == [True]
    assert any("[Entrypoint]: MariaDB init process done. Ready for start up." in line for line in world.log)
    assert world.log[-1].startswith("Version: '10.11.13-MariaDB-1:10.11.13+maria~ubu2204'")
    assert "port: 3306  mariadb.org binary distribution" in world.log[-1]


def test_an_entry_point_without_a_password_says_what_it_needs():
    world = World(env=(("MARIADB_DATABASE", "shop"),))
    lines = world.log
    assert lines[-1].startswith(
        "\tYou need to specify one of MARIADB_ROOT_PASSWORD, MARIADB_ROOT_PASSWORD_HASH,"
    )
    state = world.pod()["status"]["containerStatuses"][0]
    assert state["restartCount"] > 0
    assert state["lastState"]["terminated"]["exitCode"] == 1


def test_an_unknown_option_ends_the_start():
    world = World(args=("--innodb-bufer-pool-size=1G",))
    assert "mariadbd: unknown variable 'innodb-bufer-pool-size=1G'" in world.log[2] + world.log[3]
    assert world.pod()["status"]["containerStatuses"][0]["ready"] is False


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (("--bind-address=192.0.2.7",), "Can't start server: Bind on TCP/IP port. Got error: 99: Cannot assign requested address"),
        (("--socket=/nodir/s",), "Can't start server : Bind on unix socket: No such file or directory"),
    ],
)  # fmt: skip
def test_an_address_that_is_not_there_ends_the_start(args, said):
    assert any(line.endswith(f"[ERROR] {said}") for line in World(args=args).log)


def test_a_container_that_passes_over_the_entry_point_finds_no_tables(world):
    server = {
        "name": "mariadb",
        "image": "mariadb:10.11",
        "command": ["mariadbd", "--user=mysql"],
        "resources": {"requests": {"cpu": "10m", "memory": "64Mi"}, "limits": {"memory": "512Mi"}},
    }
    client = world.cluster.client()
    client.create("pods", "shop", pod_of("bare", server))
    client.create("pods", "shop", pod_of("root", {**server, "command": ["mariadbd"]}))
    client.create(
        "pods",
        "shop",
        pod_of("lost", {**server, "command": ["mariadbd", "--user=mysql", "--datadir=/nodir"]}),
    )
    world.cluster.advance(20_000)

    def last(name, number):
        return client.logs("shop", name, LogOptions(container="mariadb")).splitlines()[number]

    assert last("bare", -2).endswith(
        "Fatal error: Can't open and lock privilege tables: Table 'mysql.db' doesn't exist"
    )
    assert (
        last("root", -2)
        == "mariadbd: Please consult the MariaDB Documentation to find out how to run mariadbd as root!"
    )
    assert last("lost", -2).endswith(
        "mariadbd: Can't change dir to '/nodir/' (Errcode: 2 \"No such file or directory\")"
    )


MYSQL = (
    ("MYSQL_ROOT_PASSWORD", "r00t"),
    ("MYSQL_USER", "app"),
    ("MYSQL_PASSWORD", "s3cret"),
    ("MYSQL_DATABASE", "shop"),
)
INSECURE = "mysql: [Warning] Using a password on the command line interface can be insecure.\n"


def test_oracles_image_has_its_own_words():
    world = World(env=MYSQL, image="mysql:8.0")
    assert world.log[-1].endswith(
        "/usr/sbin/mysqld: ready for connections. Version: '8.0.42'  socket: '/var/run/mysqld/mysqld.sock'  port: 3306"
        "  MySQL Community Server - GPL."
    )
    assert world.rows("select version()") == [["8.0.42"]]
    wrong = world.mysql("select price from information_schema.tables")
    assert wrong.stderr == f"{INSECURE}ERROR 1054 (42S22) at line 1: Unknown column 'price' in 'field list'\n"
    refused = world.sh("mysql -h db -P 3307 -uapp -e 'select 1'")
    assert refused.stderr in (
        "ERROR 2003 (HY000): Can't connect to MySQL server on 'db:3307' (111)\n",
        "ERROR 2003 (HY000): Can't connect to MySQL server on 'db:3307' (110)\n",
    )
    assert (
        world.sh("mysql -uroot -pr00t -Ne 'select user()'", pod="db-0", container="mariadb").stdout
        == "root@localhost\n"
    )


def test_an_init_container_can_wait_for_it(world):
    waits = {
        "name": "wait",
        "image": "mariadb:10.11",
        "command": ["sh", "-c", "until mysqladmin ping -h db -uapp -ps3cret; do sleep 2; done"],
    }
    main = {"name": "main", "image": "busybox:1.36", "command": ["sleep", "infinity"]}
    client = world.cluster.client()
    client.patch("statefulsets.apps", "shop", "db", {"spec": {"replicas": 0}})
    world.cluster.advance(60_000)
    client.create("pods", "shop", pod_of("late", main, initContainers=[waits]))
    world.cluster.advance(60_000)
    assert client.get("pods", "shop", "late")["status"]["phase"] == "Pending"
    client.patch("statefulsets.apps", "shop", "db", {"spec": {"replicas": 1}})
    world.cluster.advance(120_000)
    assert client.get("pods", "shop", "late")["status"]["phase"] == "Running"
    lines = client.logs("shop", "late", LogOptions(container="wait"))
    assert "error: 'Can't connect to server on 'db' (115)'" in lines
    assert lines.endswith("mysqld is alive\n")


def test_scripts_for_a_new_directory_are_run_once(world):
    client = world.cluster.client()
    text = "create table stock (id int primary key, sku varchar(9));\n-- a comment; with a semicolon\ninsert into stock values (1, 'a;b');\n"
    client.create(
        "configmaps", "shop", {"metadata": {"name": "init"}, "data": {"one.sql": text, "two.txt": "x"}}
    )
    volume = {"name": "init", "configMap": {"name": "init"}}
    server = {
        "name": "mariadb",
        "image": "mariadb:11.4",
        "env": [{"name": name, "value": value} for name, value in ENV],
        "volumeMounts": [{"name": "init", "mountPath": "/docker-entrypoint-initdb.d"}],
        "resources": {"requests": {"cpu": "10m", "memory": "64Mi"}, "limits": {"memory": "512Mi"}},
    }
    client.create("pods", "shop", pod_of("other", server, volumes=[volume]))
    world.cluster.advance(60_000)
    found = world.sh("mysql -uapp -ps3cret -Ne 'select * from shop.stock'", pod="other", container="mariadb")
    assert found.stdout == "1\ta;b\n", found.stderr
    lines = client.logs("shop", "other", LogOptions(container="mariadb"))
    assert lines.count("running /docker-entrypoint-initdb.d/one.sql") == 1
    assert (
        "[Warn] [Entrypoint]: /usr/local/bin/docker-entrypoint.sh: ignoring /docker-entrypoint-initdb.d/two.txt"
        in lines
    )
