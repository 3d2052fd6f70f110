"""A small file system in memory: files, directories, permission bits, copy-on-write forks."""

from __future__ import annotations

import posixpath
from collections.abc import Mapping
from typing import Final, NamedTuple

SIZE_MAX: Final = 4 * 1024 * 1024
"""Characters that all files together may hold."""

NO_SUCH_FILE: Final = "No such file or directory"
IS_DIRECTORY: Final = "Is a directory"
NOT_DIRECTORY: Final = "Not a directory"
DENIED: Final = "Permission denied"
EXISTS: Final = "File exists"
NOT_EMPTY: Final = "Directory not empty"
FULL: Final = "No space left on device"


class ShellFileError(Exception):
    """A file operation was refused; `reason` is the C library's text for it."""

    def __init__(self, path: str, reason: str) -> None:
        """Record the path as given and the reason."""
        super().__init__(f"{path}: {reason}")
        self.path = path
        self.reason = reason


class Entry(NamedTuple):
    """A file (text) or a directory (sorted names)."""

    text: str = ""
    names: tuple[str, ...] | None = None
    mode: int = 0o644
    owner: str = "root"
    changed_ms: int = 0

    @property
    def is_dir(self) -> bool:
        """Whether this is a directory."""
        return self.names is not None


ENDLESS: Final = ("/dev/zero", "/dev/urandom", "/dev/random")
"""Devices that give bytes for as long as one reads; here all of them are zeros."""
_DEVICES: Final = {"/dev/null": "", "/dev/full": "", "/dev/tty": "", **dict.fromkeys(ENDLESS, "")}


class FileSystem:
    """Files by absolute path. Every method takes a normalised absolute path (`Process.path`).

    `user` is whose permissions count; root may do everything.
    """

    __slots__ = ("_entries", "_is_shared", "_size", "moved", "user")

    def __init__(self, files: Mapping[str, str] | None = None, user: str = "root") -> None:
        """Create the usual directories and `files` (path to text)."""
        self._entries: dict[str, Entry] = {"/": Entry(names=(), mode=0o755)}
        self._is_shared = False
        self._size = 0
        self.moved = 0
        """Characters that were read and written so far."""
        self.user = "root"
        for directory in ("/bin", "/dev", "/etc", "/home", "/root", "/tmp", "/usr/bin", "/var"):
            self.mkdir(directory, parents=True)
        self.chmod("/root", 0o700)
        self.chmod("/tmp", 0o777)
        for path, text in (files or {}).items():
            self.mkdir(posixpath.dirname(path), parents=True)
            self.write(path, text)
        self.user = user

    def fork(self) -> FileSystem:
        """Return an independent copy; nothing is copied before one of the two writes."""
        twin = FileSystem.__new__(FileSystem)
        twin._entries = self._entries
        twin._size = self._size
        twin.moved = 0
        twin.user = self.user
        twin._is_shared = self._is_shared = True
        return twin

    def entry(self, path: str) -> Entry:
        """Return what is at `path`.

        Raises:
            ShellFileError: when nothing is there, or a directory on the way may not be searched.
        """
        if path in _DEVICES:
            return Entry(mode=0o666)
        found = self._entries.get(path)
        self._check_way(path, "No such file or directory" if found is None else None)
        if found is None:
            raise ShellFileError(path, NO_SUCH_FILE)
        return found

    def exists(self, path: str) -> bool:
        """Tell whether a file or directory (or device) is at `path`."""
        return path in self._entries or path in _DEVICES

    def is_dir(self, path: str) -> bool:
        """Tell whether `path` is a directory."""
        found = self._entries.get(path)
        return found is not None and found.is_dir

    def listdir(self, path: str) -> tuple[str, ...]:
        """Return the sorted names in a directory.

        Raises:
            ShellFileError: if it is missing, no directory, or may not be read.
        """
        found = self.entry(path)
        if found.names is None:
            raise ShellFileError(path, NOT_DIRECTORY)
        if not self._may(found, 4):
            raise ShellFileError(path, DENIED)
        return found.names

    def read(self, path: str) -> str:
        """Return a file's text.

        Raises:
            ShellFileError: if it is missing, a directory, or may not be read.
        """
        if path in _DEVICES:
            return _DEVICES[path]
        found = self.entry(path)
        if not self._may(found, 4):
            raise ShellFileError(path, DENIED)
        if found.is_dir:
            raise ShellFileError(path, IS_DIRECTORY)
        self.moved += len(found.text)
        return found.text

    def write(self, path: str, text: str, at_ms: int = 0) -> None:
        """Replace a file's text, creating the file if need be.

        Raises:
            ShellFileError: if the directory is missing or may not be written, or the space is used up.
        """
        if path == "/dev/full" and text:
            raise ShellFileError(path, FULL)
        if path in _DEVICES:
            return
        found = self._entries.get(path)
        if found is None:
            self._check_parent(path)
            found = Entry(owner=self.user)
        else:
            self._check_way(path, None)
            if found.is_dir:
                raise ShellFileError(path, IS_DIRECTORY)
            if not self._may(found, 2):
                raise ShellFileError(path, DENIED)
        size = self._size + len(text) - len(found.text)
        if size > SIZE_MAX:
            raise ShellFileError(path, FULL)
        self._size = size
        self.moved += len(text)
        self._put(path, found._replace(text=text, changed_ms=at_ms))

    def append(self, path: str, text: str, at_ms: int = 0) -> None:
        """Add to a file's end; raises as `write` does."""
        if path in _DEVICES or path not in self._entries:
            self.write(path, text, at_ms)
        else:
            self.write(path, self._entries[path].text + text, at_ms)

    def mkdir(self, path: str, *, parents: bool = False) -> None:
        """Create a directory, with `parents` also those above it (and it may exist).

        Raises:
            ShellFileError: if it exists, or the directory above is missing or may not be written.
        """
        if self.exists(path):
            if parents and self.is_dir(path):
                return
            raise ShellFileError(path, EXISTS)
        if parents:
            self.mkdir(posixpath.dirname(path), parents=True)
        self._check_parent(path)
        self._put(path, Entry(names=(), mode=0o755, owner=self.user))

    def remove(self, path: str) -> None:
        """Remove a file or an empty directory.

        Raises:
            ShellFileError: if it is missing, not empty, or its directory may not be written.
        """
        found = self.entry(path)
        self._check_parent(path)
        if found.names:
            raise ShellFileError(path, NOT_EMPTY)
        if path in _DEVICES or path == "/":
            raise ShellFileError(path, DENIED)
        self._own()
        del self._entries[path]
        self._size -= len(found.text)
        parent, name = posixpath.split(path)
        above = self._entries[parent]
        self._entries[parent] = above._replace(
            names=tuple(each for each in above.names or () if each != name)
        )

    def chmod(self, path: str, mode: int) -> None:
        """Set permission bits.

        Raises:
            ShellFileError: if it is missing or belongs to another user.
        """
        found = self.entry(path)
        if self.user not in ("root", found.owner):
            raise ShellFileError(path, "Operation not permitted")
        self._put(path, found._replace(mode=mode))

    def chown(self, path: str, owner: str) -> None:
        """Give a file to another user.

        Raises:
            ShellFileError: if it is missing, or the user is not root.
        """
        found = self.entry(path)
        if self.user != "root":
            raise ShellFileError(path, "Operation not permitted")
        self._put(path, found._replace(owner=owner))

    def may(self, path: str, wanted: int) -> bool:
        """Tell whether the user has the permission bits `wanted` (4 read, 2 write, 1 execute) on `path`."""
        try:
            found = self.entry(path)
        except ShellFileError:
            return False
        if wanted == 1 and self.user == "root" and not found.is_dir:
            return found.mode & 0o111 != 0
        return self._may(found, wanted)

    def _may(self, found: Entry, wanted: int) -> bool:
        if self.user == "root":
            return True
        bits = found.mode >> 6 if found.owner == self.user else found.mode
        return bits & wanted == wanted

    def _check_way(self, path: str, missing: str | None) -> None:
        """Check that every directory above `path` is one and may be searched."""
        if self.user == "root" and missing is None:
            return
        position = path.find("/", 1)
        while position != -1:
            above = self._entries.get(path[:position])
            if above is None:
                raise ShellFileError(path, NO_SUCH_FILE)
            if not above.is_dir:
                raise ShellFileError(path, NOT_DIRECTORY)
            if not self._may(above, 1):
                raise ShellFileError(path, DENIED)
            position = path.find("/", position + 1)

    def _check_parent(self, path: str) -> None:
        self._check_way(path, NO_SUCH_FILE)
        parent = posixpath.dirname(path)
        above = self._entries.get(parent)
        if above is None:
            raise ShellFileError(path, NO_SUCH_FILE)
        if not above.is_dir:
            raise ShellFileError(path, NOT_DIRECTORY)
        if not self._may(above, 2):
            raise ShellFileError(path, DENIED)

    def _own(self) -> None:
        if self._is_shared:
            self._entries = dict(self._entries)
            self._is_shared = False

    def _put(self, path: str, found: Entry) -> None:
        self._own()
        is_new = path not in self._entries
        self._entries[path] = found
        if is_new:
            parent, name = posixpath.split(path)
            above = self._entries[parent]
            self._entries[parent] = above._replace(names=tuple(sorted([*(above.names or ()), name])))
