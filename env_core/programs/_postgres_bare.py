"""A Postgres server, or initdb, that is run without the entry point of an image.

Source: tests/golden/programs/postgres.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Final

from env_core.programs import _postgres_starting as starting
from env_core.programs._machine import Machine
from env_core.programs._model import Container, Exit, Launch, Line, Listener, Upstream
from env_core.programs._postgres_config import Told
from env_core.programs._postgres_serving import stamp
from env_core.programs._postgres_starting import Began, Build

_CHECK_MS: Final = 30
_OWNED: Final = (
    'The files belonging to this database system will be owned by user "postgres".',
    "This user must also own the server process.",
)


def launched(container: Container, argv: tuple[str, ...]) -> Launch:
    """Return the start of a server without an image's entry point, before it looks at its data; of initdb, too."""
    name = argv[0].rpartition("/")[2]
    if name == "postgres" and not {"--version", "-V"} & {*argv}:
        return Launch(
            listeners=(Listener(port=starting.PORT, protocol="postgres", after_ms=_CHECK_MS),),
            log=(Line(_CHECK_MS, ""),),
            stop_ms=260,
        )
    return Launch(log=(Line(_CHECK_MS, ""),), exit=Exit(after_ms=_CHECK_MS, code=0))


def begun(
    container: Container, argv: tuple[str, ...], build: Build, upstream: Upstream, machine: Machine
) -> Launch:
    """Return the start of a server, or of initdb, by what its directory holds and its surroundings allow."""
    if argv[0].rpartition("/")[2] == "initdb":
        return _initialising(container, argv, upstream)
    if {"--version", "-V"} & {*argv}:
        line = Line(_CHECK_MS, f"postgres (PostgreSQL) {build.version}")
        return Launch(log=(line,), exit=Exit(after_ms=_CHECK_MS, code=0))
    directory = container.env.get("PGDATA", "/")
    kept = upstream.stored(directory)
    refused = starting.refusal(container, argv, directory, kept, build, machine)
    if refused is not None:
        return _over(container, refused)
    settings = starting.configuration(container, directory, argv).settings
    head = (Told(f"LOG:  starting PostgreSQL {build.version} {build.banner}"),)
    heard = starting.listening(container, directory, kept, settings, machine, upstream)
    if heard.code is not None:
        return _over(container, heard._replace(lines=(*head, *heard.lines)))
    before = f"LOG:  database system was shut down at {stamp(container.started_ms)[:-8]} UTC"
    if kept.get("pg_wal") == "":
        ends = tuple(map(Told, (before, *starting.LOST_WAL)))
        return _over(container, Began((*head, *heard.lines, *ends), code=1))
    ready = "LOG:  database system is ready to accept connections"
    lines = (*head, *heard.lines, Told(before), Told(ready))
    port = int(settings.get("port", str(starting.PORT)))
    return Launch(
        listeners=(Listener(port=port, protocol="postgres", after_ms=_CHECK_MS),),
        log=_logged(container, lines),
        stop_ms=260,
    )


def _logged(container: Container, lines: tuple[Told, ...]) -> tuple[Line, ...]:
    shown = stamp(container.started_ms + _CHECK_MS)
    early = f"{shown[:-3]}GMT"
    return tuple(
        Line(_CHECK_MS, f"{early if line.is_early else shown} [1] {line.text}", "stderr") for line in lines
    )


def _over(container: Container, began: Began) -> Launch:
    """Return a start that ends."""
    plain = tuple(Line(_CHECK_MS, text, "stderr") for text in began.plain)
    log = (*plain, *_logged(container, began.lines))
    return Launch(log=log, exit=Exit(after_ms=_CHECK_MS + 10, code=began.code or 0), memory_bytes=6 << 20)


def _initialising(container: Container, argv: tuple[str, ...], upstream: Upstream) -> Launch:
    """Return how initdb ends that finds itself root, or its directory in use; of a good one, only its head is simulated."""
    directory = next(
        (value for word, value in pairwise(argv) if word == "-D"), container.env.get("PGDATA", "/")
    )
    if not container.user:
        return _over(container, Began(plain=(
            "initdb: error: cannot be run as root",
            'initdb: hint: Please log in (using, e.g., "su") as the (unprivileged) user that will own the server process.',
        ), code=1))  # fmt: skip
    head = tuple(Line(_CHECK_MS, text) for text in _INITDB)
    kept = upstream.stored(directory)
    if not kept:
        return Launch(log=head, exit=Exit(after_ms=_CHECK_MS, code=0))
    texts = [f'initdb: error: directory "{directory}" exists but is not empty']
    if "lost+found" in kept:
        texts += [
            "initdb: detail: It contains a lost+found directory, perhaps due to it being a mount point.",
            "initdb: hint: Using a mount point directly as the data directory is not recommended.",
            "Create a subdirectory under the mount point.",
        ]
    else:
        texts.append(
            "initdb: hint: If you want to create a new database system, either remove or empty the directory"
            f' "{directory}" or run initdb with an argument other than "{directory}".'
        )
    log = (*head, *(Line(_CHECK_MS, text, "stderr") for text in texts))
    return Launch(log=log, exit=Exit(after_ms=_CHECK_MS, code=1))


_INITDB: Final = (
    *_OWNED, "", 'The database cluster will be initialized with locale "C.UTF-8".',
    'The default database encoding has accordingly been set to "UTF8".',
    'The default text search configuration will be set to "english".', "", "Data page checksums are disabled.", "",
)  # fmt: skip
