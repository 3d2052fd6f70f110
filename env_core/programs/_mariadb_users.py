"""Accounts of a MariaDB server: who may log in from where, with which password, and what they may do.

Passwords are kept in the data directory: a later environment changes nothing.
Source: https://mariadb.com/kb/en/account-names/, grant/; MariaDB/server sql/sql_acl.cc; tests/golden/programs/mariadb (mariadb.ok).
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Final, NamedTuple

from env_core.programs._mariadb_errors import Problem, within

_USER: Final = "user "
_GRANT: Final = "grant "
_PROXY: Final = "proxy "
EVERYWHERE: Final = "*"
ALL: Final = "ALL"
OWN_SCHEMA: Final = "information_schema"

Stored = Mapping[str, str]


class Account(NamedTuple):
    """An account: a name and a pattern of hosts."""

    name: str
    host: str

    @property
    def key(self) -> str:
        """Its name in keys of the data directory."""
        return f"{self.name}@{self.host}"

    @property
    def shown(self) -> str:
        """Its name in messages."""
        return f"'{self.name}'@'{self.host}'"


def accounts(kept: Stored) -> list[Account]:
    """Return all accounts, those with the most exact hosts first."""
    found = [Account(*key.removeprefix(_USER).rsplit("@", 1)) for key in kept if key.startswith(_USER)]
    return sorted(
        found, key=lambda each: ("%" in each.host or "_" in each.host, -len(each.host), not each.name, each)
    )


def password_of(kept: Stored, account: Account) -> str:
    """Return an account's password."""
    return kept[_USER + account.key]


def exists(kept: Stored, account: Account) -> bool:
    """Whether there is such an account."""
    return _USER + account.key in kept


def with_account(kept: Stored, account: Account, password: str) -> dict[str, str]:
    """Return a data directory with an account, or with another password of one."""
    return within({**kept, _USER + account.key: password})


def without_account(kept: Stored, account: Account) -> dict[str, str]:
    """Return a data directory without an account and its rights."""
    prefix = f"{_GRANT}{account.key} "
    gone = (_USER + account.key, _PROXY + account.key)
    return {key: text for key, text in kept.items() if key not in gone and not key.startswith(prefix)}


def with_proxy(kept: Stored, account: Account) -> dict[str, str]:
    """Return a data directory in which an account may stand for all others, as root does."""
    return {**kept, _PROXY + account.key: ""}


def with_grant(kept: Stored, account: Account, database: str, rights: tuple[str, ...]) -> dict[str, str]:
    """Return a data directory with more rights of an account; `database` may be EVERYWHERE."""
    before = rights_of(kept, account, database)
    merged = (ALL,) if ALL in (*before, *rights) else tuple(sorted({*before, *rights}))
    return within({**kept, f"{_GRANT}{account.key} {database}": json.dumps(merged)})


def without_grant(kept: Stored, account: Account, database: str, rights: tuple[str, ...]) -> dict[str, str]:
    """Return a data directory with fewer rights of an account."""
    key = f"{_GRANT}{account.key} {database}"
    left = (
        ()
        if ALL in rights
        else tuple(each for each in rights_of(kept, account, database) if each not in rights)
    )
    found = {name: text for name, text in kept.items() if name != key}
    return {**found, key: json.dumps(left)} if left else found


def rights_of(kept: Stored, account: Account, database: str) -> tuple[str, ...]:
    """Return the rights of an account on one database, or EVERYWHERE."""
    return tuple(json.loads(kept.get(f"{_GRANT}{account.key} {database}", "[]")))


def granted(kept: Stored, account: Account) -> list[tuple[str, tuple[str, ...]]]:
    """Return all rights of an account by database."""
    prefix = f"{_GRANT}{account.key} "
    return [
        (key.removeprefix(prefix), tuple(json.loads(text)))
        for key, text in sorted(kept.items())
        if key.startswith(prefix)
    ]


def is_super(kept: Stored, account: Account) -> bool:
    """Whether an account may do everything."""
    return bool({ALL, "SUPER"}.intersection(rights_of(kept, account, EVERYWHERE)))


def may(kept: Stored, account: Account, database: str, right: str) -> bool:
    """Whether an account has a right on a database; "" for whether it has any."""
    if database.lower() == OWN_SCHEMA:
        return right in ("", "SELECT")
    found = (*rights_of(kept, account, EVERYWHERE), *rights_of(kept, account, database))
    return ALL in found or (bool(found) if not right else right in found)


def hosts_to_resolve(kept: Stored) -> tuple[tuple[str, str], ...]:
    """Return the entries with names of hosts, which nobody looks up here: table and entry."""
    found = [("user", account.key) for account in sorted(accounts(kept)) if _is_name(account.host)]
    proxies = sorted(key.removeprefix(_PROXY) for key in kept if key.startswith(_PROXY))
    return (*found, *(("proxies_priv", f"@% {key}") for key in proxies if _is_name(key.rpartition("@")[2])))


def _is_name(host: str) -> bool:
    return host != "localhost" and not re.fullmatch(r"[\d.%_/:a-f]*", host)


@lru_cache(maxsize=512)
def _pattern(host: str) -> re.Pattern[str]:
    parts = re.split(r"([%_])", host)
    # Runs of "%" are one: nothing here backtracks over more than a host's few characters.
    text = "".join(".*" if part == "%" else "." if part == "_" else re.escape(part) for part in parts)
    return re.compile(re.sub(r"(?:\.\*)+", ".*", text), re.IGNORECASE)


def matching(kept: Stored, user: str, host: str) -> Account | None:
    """Return the account under which a client logs in, None when there is none."""
    return next(
        (each for each in accounts(kept) if each.name in (user, "") and _pattern(each.host).fullmatch(host)),
        None,
    )


def login(kept: Stored, user: str, password: str, host: str) -> Account:
    """Return the account of a client that logs in.

    Raises:
        Problem: it may not.
    """
    if not any(_pattern(each.host).fullmatch(host) for each in accounts(kept)):
        raise Problem(1130, f"Host '{host}' is not allowed to connect to this MariaDB server")
    account = matching(kept, user, host)
    if account is None or password_of(kept, account) != password:
        raise denied(user, host, password)
    return account


def denied(user: str, host: str, password: str) -> Problem:
    """Return what is said of a wrong password, and of an account that there is not."""
    return Problem(
        1045, f"Access denied for user '{user}'@'{host}' (using password: {'YES' if password else 'NO'})"
    )


def no_database(account: Account, database: str) -> Problem:
    """Return what is said to an account without rights on a database."""
    return Problem(1044, f"Access denied for user {account.shown} to database '{database}'")


def needs(right: str) -> Problem:
    """Return what is said to an account without a right of administrators."""
    return Problem(
        1227, f"Access denied; you need (at least one of) the {right} privilege(s) for this operation"
    )
