"""What fills an empty data directory: mariadb-install-db, and the images' entry points, which run it before the first start.

Source: MariaDB/mariadb-docker docker-entrypoint.sh; docker-library/mysql docker-entrypoint.sh; tests/golden/programs
(mariadb.install_db, public.mariadb.entrypoint.nopassword, public.mysql.entrypoint.nopassword).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final, NamedTuple

from env_core.programs import _mariadb_users
from env_core.programs._http import moment
from env_core.programs._mariadb_users import ALL, EVERYWHERE, Account
from env_core.programs._model import Container, Exit, Launch, Line

ENTRYPOINT: Final = "docker-entrypoint.sh"
VERSION: Final = "mysql_upgrade_info"
"""Where a data directory keeps the version that made it."""
_INSTALL_MS: Final = 4_800
_SCRIPTS: Final = "/docker-entrypoint-initdb.d/"
_SCRIPTS_MAX: Final = 64

REMEMBER: Final = """
PLEASE REMEMBER TO SET A PASSWORD FOR THE MariaDB root USER !
To do so, start the server, then issue the following command:

'/usr/bin/mariadb-secure-installation'

which will also give you the option of removing the test
databases and anonymous user created by default.  This is
strongly recommended for production servers.

See the MariaDB Documentation at https://mariadb.com/docs
"""
_START_IT: Final = """
You can start the MariaDB daemon with:
cd '/usr' ; /usr/bin/mariadbd-safe --datadir='{directory}'

You can test the MariaDB daemon with mysql-test-run.pl
cd '/usr/share/mysql/mysql-test' ; perl mariadb-test-run.pl
"""
REPORT: Final = """
Please report any problems at https://mariadb.org/jira

The latest information about MariaDB is available at https://mariadb.org/.

Consider joining MariaDB's strong and vibrant community:
https://mariadb.org/get-involved/
"""
_AT_BOOT: Final = "OK\n\nTo start mariadbd at boot time you have to copy\nsupport-files/mariadb.service to the right place for your system\n\n"


def has_entry_point(container: Container) -> bool:
    """Whether the image's entry point runs before the server."""
    return any(ENTRYPOINT in word for word in container.argv)


def installed(argv: tuple[str, ...], directory: str) -> Launch:
    """Return what mariadb-install-db says of a directory that it may fill."""
    directory = next((word.partition("=")[2] for word in argv if word.startswith("--datadir=")), directory)
    text = (
        f"Installing MariaDB/MySQL system tables in '{directory}' ...\n{_AT_BOOT}{REMEMBER}"
        f"{_START_IT.format(directory=directory)}{REPORT}"
    )
    log = tuple(Line(_INSTALL_MS, line) for line in text.split("\n"))
    return Launch(log=log, exit=Exit(after_ms=_INSTALL_MS, code=0), memory_bytes=90 << 20)


def fresh(version: str, host: str) -> dict[str, str]:
    """Return a data directory as mariadb-install-db leaves it on a host: root without a password."""
    kept: dict[str, str] = {VERSION: version}
    for name in ("localhost", host, "127.0.0.1", "::1"):
        account = Account("root", name)
        kept = _mariadb_users.with_account(kept, account, "")
        kept = _mariadb_users.with_grant(kept, account, EVERYWHERE, (ALL,))
    for name in ("localhost", host):
        kept = _mariadb_users.with_proxy(kept, Account("root", name))
    return kept


class Wanted(NamedTuple):
    """What the environment asks of a first start."""

    root_password: str
    root_host: str
    user: str
    password: str
    database: str


def wanted(env: Mapping[str, str], *, is_mysql: bool) -> Wanted:
    """Return what the environment asks of a first start; MARIADB_ wins over MYSQL_."""

    def value(name: str, default: str = "") -> str:
        ours = "" if is_mysql else env.get(f"MARIADB_{name}", "")
        return ours or env.get(f"MYSQL_{name}", "") or default

    return Wanted(
        value("ROOT_PASSWORD"), value("ROOT_HOST", "%"), value("USER"), value("PASSWORD"), value("DATABASE")
    )


def environment_problem(env: Mapping[str, str], asked: Wanted, *, is_mysql: bool) -> str:
    """Return why an entry point does not fill a directory, "" when it does."""
    names: tuple[str, ...] = ("MYSQL_ALLOW_EMPTY_PASSWORD", "MYSQL_RANDOM_ROOT_PASSWORD")
    if not is_mysql:
        names = (
            *names,
            "MARIADB_ALLOW_EMPTY_ROOT_PASSWORD",
            "MARIADB_RANDOM_ROOT_PASSWORD",
            "MARIADB_ROOT_PASSWORD_HASH",
        )
    if not asked.root_password and not any(env.get(name) for name in names):
        head = "Database is uninitialized and password option is not specified\n"
        if is_mysql:
            return (
                f"{head}    You need to specify one of the following as an environment variable:\n    - MYSQL_ROOT_PASSWORD\n"
                "    - MYSQL_ALLOW_EMPTY_PASSWORD\n    - MYSQL_RANDOM_ROOT_PASSWORD"
            )
        return (
            f"{head}\tYou need to specify one of MARIADB_ROOT_PASSWORD, MARIADB_ROOT_PASSWORD_HASH,"
            " MARIADB_ALLOW_EMPTY_ROOT_PASSWORD and MARIADB_RANDOM_ROOT_PASSWORD"
        )
    if is_mysql and asked.user == "root":
        return (
            'MYSQL_USER="root", MYSQL_USER and MYSQL_PASSWORD are for configuring a regular user and cannot be used for the root user\n'
            '    Remove MYSQL_USER="root" and use one of the following to control the root user password:\n'
            "    - MYSQL_ROOT_PASSWORD\n    - MYSQL_ALLOW_EMPTY_PASSWORD\n    - MYSQL_RANDOM_ROOT_PASSWORD"
        )
    return ""


def filled(version: str, asked: Wanted) -> dict[str, str]:
    """Return a data directory as an entry point leaves it."""
    kept: dict[str, str] = {VERSION: version}
    hosts = ["localhost", *([asked.root_host] if asked.root_host != "localhost" else [])]
    for host in hosts:
        account = Account("root", host)
        kept = _mariadb_users.with_account(kept, account, asked.root_password)
        kept = _mariadb_users.with_grant(kept, account, EVERYWHERE, (ALL,))
    if asked.database:
        kept[f"database {asked.database}"] = ""
    if asked.user and asked.password:
        account = Account(asked.user, "%")
        kept = _mariadb_users.with_account(kept, account, asked.password)
        if asked.database:
            kept = _mariadb_users.with_grant(kept, account, asked.database, (ALL,))
    return kept


def scripts(container: Container) -> list[tuple[str, str]]:
    """Return the files that an entry point runs after it has filled a directory, by path."""
    found = [
        path
        for path in sorted(container.files)
        if path.startswith(_SCRIPTS) and "/" not in path.removeprefix(_SCRIPTS)
    ]
    return [(path, container.files[path]) for path in found[:_SCRIPTS_MAX]]


class Speaker(NamedTuple):
    """An entry point that prints."""

    product: str
    """MariaDB or MySQL."""
    package: str
    """The version of the server's package."""
    at: Callable[[int], int]
    """The moment of a time since the start."""

    def note(self, at_ms: int, text: str, level: str = "Note") -> Line:
        """Return a line of the entry point."""
        stream = "stdout" if level == "Note" else "stderr"
        return Line(
            at_ms, f"{moment(self.at(at_ms)):%Y-%m-%d %H:%M:%S}+00:00 [{level}] [Entrypoint]: {text}", stream
        )

    def problem(self, at_ms: int, text: str) -> tuple[Line, ...]:
        """Return what is printed before it gives up."""
        first, *more = text.split("\n")
        return (self.note(at_ms, first, "ERROR"), *(Line(at_ms, each, "stderr") for each in more))

    def hello(self, at_ms: int, *, is_root: bool) -> tuple[Line, ...]:
        """Return the first lines."""
        started = self.note(at_ms, f"Entrypoint script for {self.product} Server {self.package} started.")
        return (
            (started, self.note(at_ms, "Switching to dedicated user 'mysql'"), started)
            if is_root
            else (started,)
        )
