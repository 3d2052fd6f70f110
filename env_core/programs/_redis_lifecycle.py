"""How redis-server starts and stops: addresses, directories, append-only files, masters, and the last snapshot.

Source: tests/golden/programs/redis (redis.ok.*, redis.dir.*, redis.aof.readonly, redis.bind.*, redis.replica*, redis.conf.*).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final, NamedTuple

from env_core.programs._machine import PLAIN, Machine, is_directory
from env_core.programs._model import Container, Line, Signalled
from env_core.programs._redis_saving import Disk, Said, disk_of, shutdown, tick

Stamp = Callable[[int], str]
DATA: Final = "/data"
"""The image's directory for data."""
LOADING: Final = "loading until"
NOTHING: Final[Mapping[str, str]] = {}
_RESERVED_FILES: Final = 32
_LAST_TRIES_MS: Final = 60_000
"""For how long a server that cannot stop is told to try again; it is killed before."""


class Beginning(NamedTuple):
    """What decides a start beside the grammar of the configuration."""

    refused: tuple[str, ...] = ()
    """The lines after the title of a fatal configuration error; none when there is none."""
    failed: tuple[str, ...] = ()
    """What is logged, with its mark, before the server gives up."""
    is_before_clock: bool = False
    """Whether it gives up before it says which clock it uses."""
    is_before_mode: bool = True
    """Whether it gives up before it says in which mode it runs."""
    is_local: bool = False
    """Whether it listens on the loopback address only."""


def _line_of(text: str, name: str) -> tuple[int, str]:
    for number, raw in enumerate(text.split("\n"), start=1):
        words = raw.split()
        if words and words[0].lower() == name:
            return number, raw.strip()
    return 1, name


def begin(
    container: Container, settings: Mapping[str, str], text: str, machine: Machine = PLAIN
) -> Beginning:
    """Return what a container's files and addresses make of a start; `text` is the configuration file."""
    directory = settings.get("dir", "/data")
    if directory not in (".", "./") and not is_directory(container, directory):
        number, line = _line_of(text, "dir")
        problem = (
            f"Reading the configuration file, at line {number}",
            f">>> '{line}'",
            "No such file or directory",
        )
        return Beginning(refused=problem)
    logfile = settings.get("logfile", "")
    if logfile.startswith("/") and not is_directory(container, logfile.rpartition("/")[0]):
        return Beginning(refused=("Can't open the log file: No such file or directory",))
    port = settings["port"]
    if settings.get("tls-port", "0") != "0" and not settings.get("tls-cert-file"):
        failed = ("# No tls-cert-file configured!", "# Failed to configure TLS. Check logs for more info.")
        return Beginning(failed=failed, is_before_clock=True)
    hosts = [word.lstrip("-") for word in settings.get("bind", "").split()]
    foreign = [
        host for host in hosts
        if host.replace(".", "").isdigit() and not host.startswith(("127.", "0.")) and host != container.pod_ip
    ]  # fmt: skip
    if foreign:
        return Beginning(
            failed=(
                f"# Warning: Could not create server TCP listening socket {foreign[0]}:{port}: bind: Cannot assign requested"
                " address",
                f"# Failed listening on port {port} (TCP), aborting.",
            )
        )
    socket = settings.get("unixsocket", "")
    if socket and not is_directory(container, socket.rpartition("/")[0]):
        return Beginning(failed=("# Failed opening Unix socket: bind: No such file or directory",))
    disk = disk_of(container, machine, directory if directory.startswith("/") else DATA)
    if settings.get("appendonly") == "yes" and disk.problem:
        appended = settings.get("appenddirname", "appendonlydir")
        problems = (f"# Can't open or create append-only dir {appended}: {disk.problem}",)
        return Beginning(failed=problems, is_before_mode=False)
    return Beginning(is_local=bool(hosts) and all(host.startswith("127.") or host == "::1" for host in hosts))


def files_told(settings: Mapping[str, str], machine: Machine) -> tuple[tuple[str, ...], bool]:
    """Return what is said of too few open files, and whether the server cannot start with them.

    Source: redis 7.0 src/server.c adjustOpenFilesLimit; tests/golden/programs/redis (redis.ulimit*).
    """
    clients = int(settings["maxclients"])
    wanted = clients + _RESERVED_FILES
    if not machine.files_max or machine.files_max >= wanted:
        return (), False
    if machine.files_max <= _RESERVED_FILES:
        return (
            f"# Your current 'ulimit -n' of {machine.files_max} is not enough for the server to start. Please increase your open"
            f" file limit to at least {wanted}. Exiting.",
        ), True
    return (
        f"# You requested maxclients of {clients} requiring at least {wanted} max file descriptors.",
        f"# Server can't set maximum open files to {wanted} because of OS error: Operation not permitted.",
        f"# Current maximum open files is {machine.files_max}. maxclients has been reduced to"
        f" {machine.files_max - _RESERVED_FILES} to compensate for low ulimit. If you need higher maxclients increase"
        " 'ulimit -n'.",
    ), False


def role(settings: Mapping[str, str], memory: Mapping[str, str] = NOTHING) -> str:
    """Return the mark of a server's lines: M for masters, S for replicas."""
    return (
        "S" if is_replica(lambda name: memory.get(f"config {name}", settings.get(name, "")), memory) else "M"
    )


def is_replica(setting: Callable[[str], str], memory: Mapping[str, str]) -> bool:
    """Whether a server follows a master."""
    return "promoted" not in memory and bool(setting("replicaof") or setting("slaveof"))


def log_line(message: str, at_ms: int, stamp: Stamp, role: str) -> tuple[Line, ...]:
    """Return a message as the log has it: "M # text" for the server in its role, "S # text" for it as a replica that it may be no
    longer, "PID:C # text" for a child of its.
    """
    head, _, text = message.partition(" ")
    first, *rest = text.split("\n")
    who = f"1:{role if head == 'M' else head}" if head in ("M", "S") else head
    return (Line(at_ms, f"{who} {stamp(at_ms)} {first}"), *(Line(at_ms, each) for each in rest))


def stop(
    settings: Mapping[str, str], version: str, name: str, at_ms: int, stamp: Stamp, memory: Mapping[str, str], disk: Disk,
    started_ms: int,
) -> Signalled | None:  # fmt: skip
    """Return what SIGTERM or SIGINT does: it saves what its configuration says, and ends with 0 if that goes well.

    A server that cannot save goes on, and tries it again in the background.
    """
    if name not in ("TERM", "INT"):
        return None
    kept = dict(memory)
    save = kept.get("config save", settings.get("save", ""))
    is_loading = int(kept.get(LOADING, "0")) > at_ms
    said: Said = []
    is_over = True
    if is_loading:
        head = f"1:signal-handler ({at_ms // 1000}) Received shutdown signal during loading, scheduling shutdown."
        said = [
            (at_ms, "M # User requested shutdown..."),
            (at_ms, "M # Redis is now ready to exit, bye bye..."),
        ]
    else:
        head = f"1:signal-handler ({at_ms // 1000}) Received SIG{name} scheduling shutdown..."
        is_over, said = shutdown(kept, save, disk, at_ms, has_aof=settings.get("appendonly") == "yes")
        if not is_over:
            said += tick(kept, save, disk, at_ms + _LAST_TRIES_MS, started_ms)
    mark = "#" if version < "7.2" else "*"
    who = role(settings, kept)
    log = [Line(at_ms, head)]
    for each_ms, text in said:
        log += log_line(
            text.replace("M # User", f"M {mark} User").replace("M # Redis is", f"M {mark} Redis is"),
            each_ms,
            stamp,
            who,
        )
    return Signalled(log=tuple(log), code=0 if is_over else None)


PROTECTED: Final = (
    "-DENIED Redis is running in protected mode because protected mode is enabled and no password is set for the default user. In"
    " this mode connections are only accepted from the loopback interface. If you want to connect from external computers to Redis"
    " you may adopt one of the following solutions: 1) Just disable protected mode sending the command 'CONFIG SET protected-mode"
    " no' from the loopback interface by connecting to Redis from the same host the server is running, however MAKE SURE Redis is"
    " not publicly accessible from internet if you do so. Use CONFIG REWRITE to make this change permanent. 2) Alternatively you"
    " can just disable the protected mode by editing the Redis configuration file, and setting the protected mode option to 'no',"
    " and then restarting the server. 3) If you started the server manually just for testing, restart it with the"
    " '--protected-mode no' option. 4) Setup a an authentication password for the default user. NOTE: You only need to do one of"
    " the above things in order for the server to start accepting connections from the outside.\r\n"
)
"""What a server in protected mode answers to others than its own host, before it closes the connection."""


def write_problem(setting: Callable[[str], str], memory: Mapping[str, str]) -> str:
    """Return the reply to a write that the server's place in a replication does not allow, "" when it does."""
    wanted = setting("min-replicas-to-write")
    if wanted.isdigit() and int(wanted) and setting("min-replicas-max-lag") != "0":
        return "-NOREPLICAS Not enough good replicas to write.\r\n"
    if is_replica(setting, memory) and setting("replica-read-only") != "no":
        return "-READONLY You can't write against a read only replica.\r\n"
    return ""
