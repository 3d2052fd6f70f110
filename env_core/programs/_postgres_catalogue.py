"""What psql shows of a Postgres server's catalogue: its tables and its databases.

Source: postgres 15 src/bin/psql/describe.c; tests/golden/programs/postgres (postgres.ok.fast).
"""

from __future__ import annotations

import json
from collections.abc import Mapping

from env_core.programs._model import Container
from env_core.programs._postgres_tables import tables_of

TABLES = "tables"
DATABASES = "databases"


def shown(what: str, kept: Mapping[str, str], container: Container, is_bare: bool) -> str:
    """Return the columns and rows of a list, as clients get those of a statement; "" for what there is nothing of."""
    owner = "postgres" if is_bare else container.env.get("POSTGRES_USER") or "postgres"
    if what == DATABASES:
        return _databases(kept, container, owner)
    rows = [["public", table.name, "table", table.owner] for table in tables_of(kept)]
    return json.dumps([["Schema", "Name", "Type", "Owner"], rows, ["text"] * 4]) if rows else ""


def _databases(kept: Mapping[str, str], container: Container, owner: str) -> str:
    locale = container.env.get("LANG", "en_US.utf8")
    owners = {
        name.removeprefix("database "): text or owner
        for name, text in kept.items()
        if name.startswith("database ")
    }
    if container.env.get("POSTGRES_DB"):
        owners.setdefault(container.env["POSTGRES_DB"], owner)
    owners |= {"postgres": owner, "template0": owner, "template1": owner}
    rows = [
        [
            name, owners[name], "UTF8", locale, locale, "", "libc",
            f"=c/{owner}\n{owner}=CTc/{owner}" if name.startswith("template") else "",
        ]
        for name in sorted(owners)
    ]  # fmt: skip
    names = [
        "Name", "Owner", "Encoding", "Collate", "Ctype", "ICU Locale", "Locale Provider", "Access privileges",
    ]  # fmt: skip
    return json.dumps([names, rows, ["text"] * len(names)])
