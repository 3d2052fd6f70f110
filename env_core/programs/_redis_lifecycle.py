"""How redis-server starts and stops: addresses, directories, append-only files, masters, and the last snapshot.

Source: tests/golden/programs/redis (redis.ok.*, redis.dir.*, redis.aof.readonly, redis.bind.*, redis.replica*, redis.conf.*).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final, NamedTuple

from env_core.programs._machine import is_directory
from env_core.programs._model import Container, Line, Signalled

Stamp = Callable[[int], str]
_RETRY_MS: Final = 1_000


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


def begin(container: Container, settings: Mapping[str, str], text: str) -> Beginning:
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
    if settings.get("appendonly") == "yes" and container.is_root_read_only:
        appended = settings.get("appenddirname", "appendonlydir")
        problems = (f"# Can't open or create append-only dir {appended}: Read-only file system",)
        return Beginning(failed=problems, is_before_mode=False)
    return Beginning(is_local=bool(hosts) and all(host.startswith("127.") or host == "::1" for host in hosts))


def role(settings: Mapping[str, str]) -> str:
    """Return the mark of a server's lines: M for masters, S for replicas."""
    return "S" if settings.get("replicaof") or settings.get("slaveof") else "M"


def data_lines(settings: Mapping[str, str]) -> tuple[str, ...]:
    """Return what is logged of the data at a start on an empty volume."""
    if settings.get("appendonly") != "yes":
        return ()
    name = settings.get("appendfilename", "appendonly.aof")
    return (
        f"* Creating AOF base file {name}.1.base.rdb on server start",
        f"* Creating AOF incr file {name}.1.incr.aof on server start",
    )


def stop(settings: Mapping[str, str], version: str, name: str, at_ms: int, stamp: Stamp) -> Signalled | None:
    """Return what SIGTERM or SIGINT does: it saves what its configuration says, and ends with 0."""
    if name not in ("TERM", "INT"):
        return None
    mark = "#" if version < "7.2" else "*"
    who = f"1:{role(settings)} {stamp(at_ms)}"
    texts = [
        f"1:signal-handler ({at_ms // 1000}) Received SIG{name} scheduling shutdown...",
        f"{who} {mark} User requested shutdown...",
    ]
    if settings.get("appendonly") == "yes":
        texts.append(f"{who} * Calling fsync() on the AOF file.")
    if settings.get("save"):
        texts += [f"{who} * Saving the final RDB snapshot before exiting.", f"{who} * DB saved on disk"]
    texts.append(f"{who} {mark} Redis is now ready to exit, bye bye...")
    return Signalled(log=tuple(Line(at_ms, text) for text in texts), code=0)


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
    is_replica = (setting("replicaof") or setting("slaveof")) and "promoted" not in memory
    if is_replica and setting("replica-read-only") != "no":
        return "-READONLY You can't write against a read only replica.\r\n"
    wanted = setting("min-replicas-to-write")
    if wanted.isdigit() and int(wanted) and setting("min-replicas-max-lag") != "0":
        return "-NOREPLICAS Not enough good replicas to write.\r\n"
    return ""
