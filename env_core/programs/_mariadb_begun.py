"""The start of a MariaDB or MySQL server in its container: the entry point, the data directory, and what is printed when.

Source: MariaDB/mariadb-docker docker-entrypoint.sh; tests/golden/programs/mariadb.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Final

from env_core.programs import _mariadb_filling as filling
from env_core.programs import _mariadb_mysql as mysql
from env_core.programs._machine import Machine, is_volume_full
from env_core.programs._mariadb_config import Read, read
from env_core.programs._mariadb_log import Said, line, short_stamp
from env_core.programs._mariadb_scripts import run_script
from env_core.programs._mariadb_starting import (
    DATA,
    DUMPED,
    LOADED,
    Began,
    Build,
    Start,
    began,
    data_problem,
    stopped,
)
from env_core.programs._model import Container, Exit, Launch, Line, Upstream

_CHECK_MS: Final = 60
_FILLING_MS: Final = 5_200
"""Until the installer is done, and the temporary server has started."""
_ACCOUNTS_MS: Final = 700
_STOPPING_MS: Final = 900
_MYSQL_USER: Final = 999
"""The user to which entry points change."""


def data_directory(options: Read) -> str:
    """Return where a server keeps its data."""
    return (options.settings.get("datadir") or DATA).rstrip("/") or "/"


@dataclass(slots=True)
class _Start:
    """One start, as it goes on."""

    container: Container
    argv: tuple[str, ...]
    launch: Launch
    upstream: Upstream
    build: Build
    machine: Machine
    options: Read
    directory: str
    is_mysql: bool
    log: list[Line] = field(default_factory=list)
    at_ms: int = _CHECK_MS

    @property
    def kept(self) -> Mapping[str, str]:
        """What the data directory holds."""
        return self.upstream.stored(self.directory)

    def say(self, said: tuple[Said, ...]) -> None:
        """Print messages of the server."""
        shown_ms = self.container.started_ms + self.at_ms
        for each in said:
            text = f"{each.text}{short_stamp(shown_ms)}" if each.text in (LOADED, DUMPED) else each.text
            self.log.append(line(each._replace(text=text), self.at_ms, shown_ms))

    def over(self, code: int) -> Launch:
        """Return a start that ends here."""
        return Launch(
            log=tuple(self.log), exit=Exit(after_ms=self.at_ms + 10, code=code), memory_bytes=40 << 20
        )


def begun(
    container: Container,
    argv: tuple[str, ...],
    launch: Launch,
    upstream: Upstream,
    build: Build,
    machine: Machine,
) -> Launch:
    """Return a start by what the data directory holds and the surroundings allow."""
    options = read(container, argv)
    directory = data_directory(options)
    if is_volume_full(upstream, directory):
        machine = replace(machine, full=(*machine.full, directory))
    is_mysql = build.comment == mysql.COMMENT
    start = _Start(container, argv, launch, upstream, build, machine, options, directory, is_mysql)
    has_entry = filling.has_entry_point(container)
    if has_entry:
        code = _entered(start)
        if code is not None:
            return start.over(code)
    start.at_ms += launch.listeners[0].after_ms
    user = (container.user or _MYSQL_USER) if has_entry else container.user
    code = _served(start, user)
    if code is not None:
        return start.over(code)
    (listener,) = launch.listeners
    is_deaf = options.is_on("skip_networking")
    is_local = options.get("bind_address") in ("127.0.0.1", "localhost")
    listener = replace(listener, after_ms=start.at_ms, is_local=is_local or is_deaf)
    return replace(launch, listeners=(listener,), log=tuple(start.log))


def _served(start: _Start, user: int) -> int | None:
    """Let the server start; return the code with which it ends, None when it does not."""
    if not start.is_mysql:
        found = _began(start, user, start.options)
        start.say(found.said)
        return found.code
    plain = Start(
        start.container,
        start.options,
        start.directory,
        start.kept,
        start.build,
        start.machine,
        user,
        _has_volume(start),
    )
    messages, code = mysql.started(
        start.options, start.build.version, start.directory, has_data=bool(start.kept), problem=data_problem(plain),
        is_taken=start.options.whole("port") in start.machine.taken,
    )  # fmt: skip
    start.log += [
        mysql.line(each, start.at_ms, start.container.started_ms + start.at_ms) for each in messages
    ]
    return code


def _has_volume(start: _Start) -> bool:
    path = f"{start.directory}/"
    return any(path.startswith(f"{each.rstrip('/')}/") for each in start.container.mounts)


def _began(start: _Start, user: int, options: Read) -> Began:
    return began(
        Start(
            start.container,
            options,
            start.directory,
            start.kept,
            start.build,
            start.machine,
            user,
            _has_volume(start),
        )
    )


def _entered(start: _Start) -> int | None:
    """Do what the image's entry point does; return the code with which it ends, None when the server follows."""
    speaker = filling.Speaker(
        "MySQL" if start.is_mysql else "MariaDB",
        _package(start),
        lambda at_ms: start.container.started_ms + at_ms,
    )
    start.log += speaker.hello(start.at_ms, is_root=not start.container.user)[:1]
    wrong = start.options.early or start.options.late
    if wrong is not None:
        errors = "\n".join(
            line(Said(text, "ERROR"), 0, start.container.started_ms + start.at_ms).text
            for text in wrong.texts
        )
        text = f"mysqld failed while attempting to check config\n\tcommand was: {' '.join(start.argv)} --verbose --help\n\t{errors}"
        start.log += speaker.problem(start.at_ms, text)
        return 1
    start.log += speaker.hello(start.at_ms, is_root=not start.container.user)[1:]
    if start.kept:
        if not start.is_mysql:
            start.log.append(speaker.note(start.at_ms, "MariaDB upgrade not required"))
        return None
    env = start.container.env
    asked = filling.wanted(env, is_mysql=start.is_mysql)
    problem = filling.environment_problem(env, asked, is_mysql=start.is_mysql)
    if problem:
        start.log += speaker.problem(start.at_ms, problem)
        return 1
    return _filled(start, speaker, asked)


def _package(start: _Start) -> str:
    return f"{start.build.version}-1.el9" if start.is_mysql else start.build.version.partition("-MariaDB-")[2]


def _filled(start: _Start, speaker: filling.Speaker, asked: filling.Wanted) -> int | None:
    """Fill an empty data directory with the help of a temporary server."""

    def note(text: str) -> None:
        start.log.append(speaker.note(start.at_ms, text))

    note("Initializing database files")
    problem = data_problem(
        Start(
            start.container,
            start.options,
            start.directory,
            {},
            start.build,
            start.machine,
            _MYSQL_USER,
            _has_volume(start),
        )
    )
    if problem:
        start.say(
            (
                Said(
                    f"mariadbd: Can't create/write to file './ddl_recovery.log' (Errcode: {problem})", "ERROR"
                ),
                Said("Aborting", "ERROR"),
            )
        )
        return 1
    start.at_ms += _FILLING_MS
    if not start.is_mysql:
        start.log += [Line(start.at_ms, text) for text in f"\n{filling.REMEMBER}{filling.REPORT}".split("\n")]
    note("Database files initialized")
    note("Starting temporary server")
    kept = filling.filled(start.build.version, asked)
    start.upstream.store(start.directory, kept)
    if not start.is_mysql:
        note("Waiting for server startup")
        quiet = start.options._replace(settings={**start.options.settings, "skip_networking": "ON"})
        start.say(_began(start, _MYSQL_USER, quiet).said)
    note("Temporary server started.")
    if asked.database:
        note(f"Creating database {asked.database}")
    if asked.user and asked.password:
        note(f"Creating user {asked.user}")
        if asked.database:
            note(f"Giving user {asked.user} access to schema {asked.database}")
    if not start.is_mysql:
        note("Securing system users (equivalent to running mysql_secure_installation)")
    start.at_ms += _ACCOUNTS_MS
    code = _scripted(start, speaker, asked)
    if code is not None:
        return code
    note("Stopping temporary server")
    start.at_ms += _STOPPING_MS
    if not start.is_mysql:
        start.say(stopped(start.directory, 1))
    note("Temporary server stopped")
    start.log.append(Line(start.at_ms, ""))
    note(f"{speaker.product} init process done. Ready for start up.")
    start.log.append(Line(start.at_ms, ""))
    return None


def _scripted(start: _Start, speaker: filling.Speaker, asked: filling.Wanted) -> int | None:
    """Run the scripts for a new directory; return the code of one that fails."""
    start.log.append(Line(start.at_ms, ""))
    for path, text in filling.scripts(start.container):
        verb = "running" if path.endswith(".sql") else "sourcing" if path.endswith(".sh") else "ignoring"
        told = f"/usr/local/bin/{filling.ENTRYPOINT}: {verb} {path}"
        start.log.append(speaker.note(start.at_ms, told, "Warn" if verb == "ignoring" else "Note"))
        if verb == "running":
            kept, said, problem = run_script(
                start.kept, text, asked.database, start.options, start.build.version
            )
            start.upstream.store(start.directory, kept)
            start.log += [Line(start.at_ms, each) for each in said]
            if problem:
                start.log += [Line(start.at_ms, each, "stderr") for each in problem.split("\n")]
                return 1
            start.log.append(Line(start.at_ms, ""))
        start.log.append(Line(start.at_ms, ""))
    return None
