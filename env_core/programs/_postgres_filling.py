"""What fills an empty data directory: initdb, and the image's entry point, which runs it before the first start.

Source: docker-library/postgres docker-entrypoint.sh; tests/golden/programs (public.postgres.entrypoint.*, postgres.initdb.*).
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import Final, NamedTuple

from env_core.programs import _postgres_roles
from env_core.programs._machine import Machine, is_volume_full
from env_core.programs._model import Container, Exit, Launch, Line, Upstream

ENTRYPOINT: Final = "docker-entrypoint.sh"
_NOT_OURS: Final = "Operation not permitted"
NO_SPACE: Final = "No space left on device"
_TOOK_MS: Final = 30
_OWNED: Final = (
    'The files belonging to this database system will be owned by user "postgres".',
    "This user must also own the server process.",
)
_INITDB: Final = (
    *_OWNED, "", 'The database cluster will be initialized with locale "C.UTF-8".',
    'The default database encoding has accordingly been set to "UTF8".',
    'The default text search configuration will be set to "english".', "", "Data page checksums are disabled.", "",
)  # fmt: skip
_DONE: Final = ("", "PostgreSQL init process complete; ready for start up.", "")
_SKIPPED: Final = (
    "",
    "PostgreSQL Database directory appears to contain a database; Skipping initialization",
    "",
)
_NO_PASSWORD: Final = (
    "Error: Database is uninitialized and superuser password is not specified.",
    "       You must specify POSTGRES_PASSWORD to a non-empty value for the",
    '       superuser. For example, "-e POSTGRES_PASSWORD=password" on "docker run".',
    "",
    '       You may also use "POSTGRES_HOST_AUTH_METHOD=trust" to allow all',
    "       connections without a password. This is *not* recommended.",
    "",
    '       See PostgreSQL documentation about "trust":',
    "       https://www.postgresql.org/docs/current/auth-trust.html",
)


class Entered(NamedTuple):
    """What an entry point leaves to the server, and what it printed until then."""

    kept: Mapping[str, str]
    at_once: tuple[str, ...] = ()
    when_filled: tuple[str, ...] = ()
    refusal: tuple[str, ...] = ()
    """Why there will be no server: to stderr."""


def has_entry_point(container: Container) -> bool:
    """Whether the image's entry point runs before the server."""
    return any(ENTRYPOINT in word for word in container.argv)


def entered(container: Container, directory: str, version: str, upstream: Upstream) -> Entered:
    """Do what the entry point does; the password of an empty directory's first start is the one that counts later."""
    kept = upstream.stored(directory)
    if kept:
        return Entered(kept, _SKIPPED)
    env = container.env
    if not env.get("POSTGRES_PASSWORD") and env.get("POSTGRES_HOST_AUTH_METHOD") != "trust":
        return Entered(kept, refusal=_NO_PASSWORD)
    if is_volume_full(upstream, directory):
        # Not recorded. Source: postgres src/bin/initdb/initdb.c (create_xlog_or_symlink, cleanup_directories_atexit).
        return Entered(kept, _OWNED, refusal=(
            f'initdb: error: could not create directory "{directory}/pg_wal": {NO_SPACE}',
            f'initdb: removing contents of data directory "{directory}"',
        ))  # fmt: skip
    owner = _postgres_roles.role(env.get("POSTGRES_USER") or "postgres")
    files = {"PG_VERSION": version.partition(".")[0], owner: env.get("POSTGRES_PASSWORD", "")}
    upstream.store(directory, files)
    return Entered(files, _OWNED, _DONE)


def initialised(
    container: Container, argv: tuple[str, ...], directory: str, upstream: Upstream, machine: Machine
) -> Launch:
    """Return how initdb ends that finds itself root, or its directory in use; of a good one, only its head is simulated."""
    directory = next((value for word, value in pairwise(argv) if word == "-D"), directory)
    if not container.user:
        return _ended((), (
            "initdb: error: cannot be run as root",
            'initdb: hint: Please log in (using, e.g., "su") as the (unprivileged) user that will own the server process.',
        ))  # fmt: skip
    kept = upstream.stored(directory)
    if directory in machine.forbidden:
        # Its mode is not this user's to change, whatever it is.
        said = (*_INITDB, f"fixing permissions on existing directory {directory} ... ")
        return _ended(
            said, (f'initdb: error: could not change permissions of directory "{directory}": {_NOT_OURS}',)
        )
    if not kept:
        return _ended(_INITDB, ())
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
    return _ended(_INITDB, tuple(texts))


def _ended(said: tuple[str, ...], problems: tuple[str, ...]) -> Launch:
    log = (
        *(Line(_TOOK_MS, text) for text in said),
        *(Line(_TOOK_MS, text, "stderr") for text in problems),
    )
    return Launch(log=log, exit=Exit(after_ms=_TOOK_MS, code=1 if problems else 0))
