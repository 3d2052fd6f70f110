"""Files of a kustomization: relative to its directory, and only those in or below it.

Source: sigs.k8s.io/kustomize/api internal/loader; kyaml filesys (CleanedAbs, ConfirmDir).
"""

from __future__ import annotations

import posixpath
import re
from dataclasses import dataclass

from env_core.kubectl.context import Files
from env_core.kubectl.kustomize.problem import KustomizeError

NAMES = ("kustomization.yaml", "kustomization.yml", "Kustomization")
"""What the file of a directory may be called."""
_REMOTE = re.compile(r"https?://")
_REPOSITORY = re.compile(r"(git::)?(git@|ssh://|file://|github\.com[/:]\w|https?://[^/]+/[^/]+/[^/]+)")
_NO_GIT = "no 'git' program on path: exec: \"git\": executable file not found in $PATH"


@dataclass(frozen=True, slots=True)
class Loader:
    """A directory, and the one that led to it."""

    files: Files
    root: str
    referrer: Loader | None = None
    is_restricted: bool = True

    def load(self, path: str) -> str:
        """Return the text of a file.

        Raises:
            KustomizeError: when there is none, or it lies outside of the directory.
        """
        if _REMOTE.match(path):
            raise _unreachable(path)
        full = path if path.startswith("/") else posixpath.join(self.root, path)
        full = posixpath.normpath(full)
        if self.is_restricted:
            directory, name = cleaned(self.files, full)
            if not name:
                raise KustomizeError(f"'{full}' must resolve to a file")
            if not is_within(directory, self.root):
                raise KustomizeError(f"security; file '{full}' is not in or below '{self.root}'")
        try:
            return self.files.read(full)
        except FileNotFoundError:
            what = "is a directory" if self.files.is_dir(full) else "no such file or directory"
            verb = "read" if self.files.is_dir(full) else "open"
            raise KustomizeError(f"{verb} {full}: {what}") from None

    def child(self, path: str) -> Loader:
        """Return the loader of another directory that this one names.

        Raises:
            KustomizeError: when it is none, or one that led here.
        """
        if path == "":
            raise KustomizeError("new root cannot be empty")
        if _REPOSITORY.match(path):
            raise KustomizeError(_NO_GIT)
        if path.startswith("/"):
            raise KustomizeError(f"new root '{path}' cannot be absolute")
        root = confirmed(self.files, posixpath.normpath(posixpath.join(self.root, path)))
        above: Loader | None = self
        while above is not None:
            if is_within(above.root, root):
                raise KustomizeError(
                    f"cycle detected: candidate root '{root}' contains visited root '{above.root}'"
                )
            above = above.referrer
        return Loader(self.files, root, self, self.is_restricted)


def first_loader(files: Files, directory: str, *, is_restricted: bool = True) -> Loader:
    """Return the loader of the directory that a command line names.

    Raises:
        KustomizeError: when it is none.
    """
    if _REPOSITORY.match(directory):
        raise KustomizeError(_NO_GIT)
    return Loader(files, confirmed(files, directory), None, is_restricted)


def is_within(directory: str, above: str) -> bool:
    """Whether a directory is another one, or in it."""
    return above in ("/", directory) or directory.startswith(above + "/")


def cleaned(files: Files, path: str) -> tuple[str, str]:
    """Return a path's directory and file name, "" for the name of a directory.

    Raises:
        KustomizeError: when there is nothing.
    """
    full = files.absolute(path)
    if files.is_dir(full):
        return full, ""
    try:
        files.read(full)
    except FileNotFoundError:
        missing = _missing(files, full)
        why = f"lstat {missing}: no such file or directory" if missing else "not a directory"
        raise KustomizeError(f"evalsymlink failure on '{path}' : {why}") from None
    return posixpath.dirname(full), posixpath.basename(full)


def confirmed(files: Files, path: str) -> str:
    """Return the absolute path of a directory.

    Raises:
        KustomizeError: when it is none.
    """
    if path == "":
        raise KustomizeError("must build at directory: directory path cannot be empty")
    try:
        directory, name = cleaned(files, path)
    except KustomizeError as error:
        raise error.within("must build at directory: not a valid directory") from None
    if name:
        raise KustomizeError(f"must build at directory: '{path}': file is not directory")
    return directory


def _missing(files: Files, full: str) -> str:
    """Return the first part of a path that is not there, "" when a file stands in the way."""
    parts = full.split("/")
    for count in range(1, len(parts) + 1):
        here = "/".join(parts[:count])
        if not here or files.is_dir(here):
            continue
        try:
            files.read(here)
        except FileNotFoundError:
            return here
        return ""
    return full


def _unreachable(path: str) -> KustomizeError:
    host = path.split("/")[2].split(":", maxsplit=1)[0]
    return KustomizeError(f'Get "{path}": dial tcp: lookup {host}: no such host')
