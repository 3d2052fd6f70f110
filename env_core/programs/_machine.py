"""What a container's surroundings let a program do: ports, files, disk space, and the limits of its process."""

from __future__ import annotations

import posixpath
from dataclasses import dataclass

from env_core.programs._model import Container, Upstream

EXISTS = ""
MISSING = "ENOENT"
FORBIDDEN = "EACCES"
READ_ONLY = "EROFS"
IS_DIRECTORY = "EISDIR"
NOT_DIRECTORY = "ENOTDIR"
FULL = "ENOSPC"
TOO_MANY = "EMFILE"
IN_USE = "EADDRINUSE"
NOT_LOCAL = "EADDRNOTAVAIL"

_DIRECTORIES = (
    "/", "/app", "/bin", "/data", "/dev", "/etc", "/home", "/mnt", "/proc", "/root", "/run", "/srv", "/tmp", "/usr", "/usr/bin",
    "/usr/local", "/var", "/var/lib", "/var/log", "/var/run", "/var/tmp",
)  # fmt: skip
_OPEN_TO_ALL = ("/tmp", "/var/tmp", "/dev/shm", "/mnt", "/data")


@dataclass(frozen=True, slots=True, kw_only=True)
class Machine:
    """The parts of the surroundings that a container's object does not tell."""

    taken: frozenset[int] = frozenset()
    """Ports that another process of the pod listens on."""
    unprivileged_from: int = 0
    """The first port that others than root may listen on; container runtimes set 0."""
    full: tuple[str, ...] = ()
    """Mount points without space left."""
    read_only: tuple[str, ...] = ()
    """Mount points that take no writes, beside the root file system of a container that says so."""
    files_max: int = 0
    """How many files a process may open; 0 for more than it needs."""
    forbidden: tuple[str, ...] = ()
    """Files that the container's user may not read."""
    missing: tuple[str, ...] = ()
    """Directories that are not there."""


PLAIN = Machine()


def bind_problem(container: Container, machine: Machine, host: str, port: int) -> str:
    """Return the error of listening on an address, "" when there is none."""
    if host and host not in ("0.0.0.0", "::", "127.0.0.1", "localhost", container.pod_ip):
        return NOT_LOCAL
    if container.user and port < machine.unprivileged_from:
        return FORBIDDEN
    return IN_USE if port in machine.taken else ""


def is_directory(container: Container, path: str) -> bool:
    """Whether a path is a directory, as far as the container's files tell."""
    bare = path.rstrip("/") or "/"
    return bare in _DIRECTORIES or any(each.startswith(f"{bare}/") for each in container.files)


def read_problem(container: Container, machine: Machine, path: str) -> str:
    """Return the error of opening a file to read it."""
    if path in machine.forbidden:
        return FORBIDDEN
    if path in container.files or path in ("/etc/hostname", "/etc/hosts", "/etc/passwd", "/etc/resolv.conf"):
        return EXISTS
    return EXISTS if is_directory(container, path) else MISSING


def write_problem(container: Container, machine: Machine, path: str) -> str:
    """Return the error of opening a file to write it; a full disk shows with the first write only."""
    parent = posixpath.dirname(path)
    if is_directory(container, path):
        return IS_DIRECTORY
    if not is_directory(container, parent):
        return MISSING
    if path in container.files or any(_is_below(path, each) for each in machine.read_only):
        return READ_ONLY
    if container.user and not any(_is_below(path, each) for each in _OPEN_TO_ALL):
        return FORBIDDEN
    if container.is_root_read_only and not any(
        _is_below(path, each) for each in ("/mnt", "/data", "/dev/shm")
    ):
        return READ_ONLY
    return EXISTS


def is_full(machine: Machine, path: str) -> bool:
    """Whether there is no space left where a path lies."""
    return any(_is_below(path, each) for each in machine.full)


def is_volume_full(upstream: Upstream, directory: str) -> bool:
    """Whether the volume of a directory has no space left now."""
    free = upstream.free_bytes(directory)
    return free is not None and free <= 0


def _is_below(path: str, place: str) -> bool:
    return path == place or path.startswith(f"{place.rstrip('/')}/")
