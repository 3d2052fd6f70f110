"""How an OCI runtime starts a process in a root file system, and its words when it cannot: runc itself, and through containerd.

Source: tests/golden/programs/runc (runc 1.1.5, containerd 1.6.20).
"""

from __future__ import annotations

import posixpath
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from env_core.objects.problems import quoted
from env_core.programs._images import PATH

EXECUTABLE: Final = "executable"
PLAIN: Final = "plain"
"""A file without the right to execute."""
DIRECTORY: Final = "directory"
NO_FORMAT: Final = "no format"
"""Neither a binary of this machine nor a script with a first line."""
NO_INTERPRETER: Final = "no interpreter"
"""A script whose interpreter is not there."""


@dataclass(frozen=True, slots=True)
class Root:
    """A root file system: kinds of files by path, and the directories that only root may enter."""

    kinds: Mapping[str, str]
    private: frozenset[str] = frozenset()

    def kind(self, path: str) -> str:
        """Return the kind of a path, "" when nothing is there."""
        found = self.kinds.get(path)
        if found is not None:
            return found
        prefix = path.rstrip("/") + "/"
        return DIRECTORY if any(each.startswith(prefix) for each in self.kinds) else ""


class Failure(NamedTuple):
    """Why a process does not start: what the runtime says, or what the process leaves when exec itself fails."""

    text: str
    is_runtime: bool = True


def start_failure(
    args: tuple[str, ...], root: Root, *, user: int = 0, directory: str = "/"
) -> Failure | None:
    """Return why a command cannot be started, or None.

    The runtime looks it up as Go's os/exec does; the kernel's refusals come from the process that was to become it.
    """
    if not args:
        return Failure("args must not be empty")
    name = args[0]
    if "/" not in name:
        path = next(
            (found for each in PATH if root.kind(found := f"{each}/{name}") not in ("", PLAIN, DIRECTORY)), ""
        )
        if not name or not path:
            return Failure(f"exec: {quoted(name)}: executable file not found in $PATH")
    else:
        path = posixpath.normpath(posixpath.join(directory, name))
        parent = posixpath.dirname(path)
        if user and parent in root.private:
            return Failure(f"exec: {quoted(name)}: stat {name}: permission denied")
        kind = root.kind(path)
        if not kind:
            return Failure(f"exec: {quoted(name)}: stat {name}: no such file or directory")
        if kind in (PLAIN, DIRECTORY):
            return Failure(f"exec: {quoted(name)}: permission denied")
    kind = root.kind(path)
    if kind == NO_FORMAT:
        return Failure(f"exec {path}: exec format error", is_runtime=False)
    if kind == NO_INTERPRETER:
        return Failure(f"exec {path}: no such file or directory", is_runtime=False)
    return None


def directory_failure(directory: str, root: Root) -> str:
    """Return why a working directory cannot be had, or "": missing ones are made."""
    return f"mkdir {directory}: not a directory" if root.kind(directory) not in ("", DIRECTORY) else ""


INIT: Final = "error during container init: "


def mount_missing(source: str, target: str) -> str:
    """Return the text of a bind mount whose source is not there."""
    return (
        f'{INIT}error mounting "{source}" to rootfs at "{target}": stat {source}: no such file or directory'
    )


def mount_mismatched(source: str, target: str) -> str:
    """Return the text of a file that is mounted over a directory, or the other way round."""
    return (
        f'{INIT}error mounting "{source}" to rootfs at "{target}": mount {source}:{target} (via /proc/self/fd/6), flags: 0x5001:'
        " not a directory"
    )


def rlimit_invalid(kind: int) -> str:
    """Return the text of a resource limit whose hard value is below the soft one."""
    return (
        f"{INIT}error setting rlimits for ready process: error setting rlimit type {kind}: invalid argument"
    )


def apparmor_missing() -> str:
    """Return the text of an AppArmor profile that is not loaded."""
    return f"{INIT}unable to apply apparmor profile: apparmor failed to apply profile: write /proc/self/attr/exec: invalid argument"


def sysctl_outside(name: str) -> str:
    """Return the text of a sysctl that is not one of a container's namespaces (said before anything starts)."""
    return f'sysctl "{name}" is not in a separate kernel namespace'


EARLY: Final = (
    "args must not be empty",
    "sysctl ",
    "cannot exec in a stopped container",
    "container does not exist",
)
"""What runc says before it starts the container's process."""


@dataclass(frozen=True, slots=True)
class Caller:
    """Who runs the runtime."""

    is_containerd: bool
    is_exec: bool
    stamp: str = field(default="")

    def said(self, text: str) -> str:
        """Return a failure as the caller prints it."""
        inner = text if text.startswith(EARLY) else f"unable to start container process: {text}"
        if self.is_containerd:
            if self.is_exec:
                return f"ctr: OCI runtime exec failed: exec failed: {inner}: unknown\n"
            return f"ctr: failed to create shim task: OCI runtime create failed: runc create failed: {inner}: unknown\n"
        verb = "exec failed" if self.is_exec else "runc run failed"
        return f"time={quoted(self.stamp)} level=error msg={quoted(f'{verb}: {inner}')}\n"

    @property
    def code(self) -> int:
        """The exit code of a failure."""
        return 255 if self.is_exec and not self.is_containerd else 1
