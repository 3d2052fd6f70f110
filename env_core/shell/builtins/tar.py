"""tar: packs files into an archive on standard output, and unpacks one from standard input; what `kubectl cp` needs.

Archives are text here as everywhere in the shell, bytes that are no UTF-8 as lone surrogates.
"""

from __future__ import annotations

import io
import posixpath
import tarfile

from env_core.shell._options import BUSYBOX_BANNER
from env_core.shell.builtin import Builtin
from env_core.shell.context import Process
from env_core.shell.filesystem import ShellFileError
from env_core.world import Output

_MODES = "cxt"
_LETTERS = "cxtvmfCpokz"
_FAILED = 2
_IGNORED = ("--no-same-permissions", "--no-same-owner")
"""Nothing to do: files have no owners to keep."""


class _Problem(Exception):
    """What tar says before it gives up."""


def _run(process: Process, argv: list[str]) -> Output:
    try:
        letters, archive, directory, operands = _parsed(argv[1:])
        process.cwd = process.path(directory)
        if not process.fs.is_dir(process.cwd):
            raise _Problem(
                f"can't change directory to '{directory}': No such file or directory"
                if process.is_busybox
                else f"{directory}: Cannot open: No such file or directory"
            )
        if "c" in letters:
            return _create(process, letters, archive, operands)
        return _extract(process, letters, archive)
    except _Problem as problem:
        text = f"tar: {problem}\n"
        if str(problem).startswith("You must specify"):
            hint = "Try 'tar --help' or 'tar --usage' for more information.\n"
            return Output(
                "",
                BUSYBOX_BANNER if process.is_busybox else f"{text}{hint}",
                1 if process.is_busybox else _FAILED,
            )
        if not process.is_busybox:
            text += "tar: Error is not recoverable: exiting now\n"
        return Output("", text, 1 if process.is_busybox else _FAILED)


def _parsed(words: list[str]) -> tuple[str, str, str, list[str]]:
    letters, archive, directory = "", "-", "."
    operands: list[str] = []
    rest = list(words)
    is_first = True
    while rest:
        word = rest.pop(0)
        if not (word.startswith("-") and len(word) > 1) and not is_first:
            operands.append(word)
            continue
        is_first = False
        if word in _IGNORED:
            continue
        for letter in word.lstrip("-"):
            if letter not in _LETTERS:
                raise _Problem(f"invalid option -- '{letter}'")
            letters += letter
            if letter in "fC":
                if not rest:
                    raise _Problem(f"option requires an argument -- '{letter}'")
                value = rest.pop(0)
                archive, directory = (value, directory) if letter == "f" else (archive, value)
    if sum(letter in letters for letter in _MODES) != 1:
        raise _Problem("You must specify one of the '-Acdtrux', '--delete' or '--test-label' options")
    return letters, archive, directory, operands


def _create(process: Process, letters: str, archive: str, operands: list[str]) -> Output:
    data, said = io.BytesIO(), ""
    exit_code = 0
    with tarfile.open(fileobj=data, mode="w", format=tarfile.GNU_FORMAT) as tar:
        for name in operands:
            if name.startswith("/"):
                said += (
                    "tar: removing leading '/' from member names\n"
                    if process.is_busybox
                    else "tar: Removing leading `/' from member names\n"
                )
            try:
                _add(process, tar, process.path(name), name.lstrip("/") or ".")
            except ShellFileError as error:
                exit_code = 1 if process.is_busybox else _FAILED
                said += (
                    f"tar: {name}: {error.reason}\ntar: error exit delayed from previous errors\n"
                    if process.is_busybox
                    else f"tar: {name}: Cannot stat: {error.reason}\ntar: Exiting with failure status due to previous errors\n"
                )
    text = data.getvalue().decode("utf-8", "surrogateescape")
    if archive == "-":
        return Output(text, said, exit_code)
    try:
        process.fs.write(process.path(archive), text, process.now_ms())
    except ShellFileError as error:
        if "z" in letters and not process.is_busybox:
            # The compressing child opens the file, and its parent writes into a pipe that nobody reads.
            child = f"tar (child): {archive}: Cannot open: {error.reason}\ntar (child): Error is not recoverable: exiting now\n"
            rest = f"tar: {archive}: Cannot write: Broken pipe\ntar: Child returned status 2\ntar: Error is not recoverable: exiting now\n"
            return Output("", child + rest, _FAILED)
        raise _Problem(
            f"can't open '{archive}': {error.reason}"
            if process.is_busybox
            else f"{archive}: Cannot open: {error.reason}"
        ) from None
    return Output("", said, exit_code)


def _add(process: Process, tar: tarfile.TarFile, path: str, name: str) -> None:
    entry = process.fs.entry(path)
    member = tarfile.TarInfo(name)
    member.mode = entry.mode
    member.mtime = entry.changed_ms // 1000
    member.uname = member.gname = entry.owner
    if entry.is_dir:
        member.type = tarfile.DIRTYPE
        tar.addfile(member)
        for each in process.fs.listdir(path):
            _add(process, tar, posixpath.join(path, each), posixpath.join(name, each))
        return
    content = process.fs.read(path).encode("utf-8", "surrogateescape")
    member.size = len(content)
    tar.addfile(member, io.BytesIO(content))


def _extract(process: Process, letters: str, archive: str) -> Output:
    try:
        text = process.stdin if archive == "-" else process.fs.read(process.path(archive))
    except ShellFileError as error:
        raise _Problem(
            f"can't open '{archive}': {error.reason}"
            if process.is_busybox
            else f"{archive}: Cannot open: {error.reason}"
        ) from None
    data = text.encode("utf-8", "surrogateescape")
    names: list[str] = []
    said, exit_code = "", 0
    try:
        with tarfile.open(fileobj=io.BytesIO(data), mode="r:") as tar:
            for member in tar:
                # What has holes may say that it is of any size, and what is of less than no size never ends.
                if member.issparse() or member.size < 0:
                    raise tarfile.HeaderError("a member that nobody packs here")
                names.append(member.name)
                if "x" in letters:
                    try:
                        _put(process, tar, member)
                    except ShellFileError as error:
                        said += f"tar: can't open '{member.name}': {error.reason}\n"
                        exit_code = 1 if process.is_busybox else _FAILED
    except (tarfile.TarError, EOFError, OSError, ValueError, RecursionError):
        if not process.is_busybox:
            text = "tar: This does not look like a tar archive\ntar: Exiting with failure status due to previous errors\n"
            return Output("", text, _FAILED)
        raise _Problem("short read") from None
    has_list = "t" in letters or "v" in letters
    return Output("".join(f"{name}\n" for name in names) if has_list else "", said, exit_code)


def _put(process: Process, tar: tarfile.TarFile, member: tarfile.TarInfo) -> None:
    # Nothing leaves the directory: leading slashes and ".." are dropped.
    parts = [part for part in member.name.split("/") if part not in ("", ".", "..")]
    path = process.path("/".join(parts) or ".")
    if member.isdir():
        process.fs.mkdir(path, parents=True)
    elif member.isfile():
        content = tar.extractfile(member)
        assert content is not None
        process.fs.mkdir(posixpath.dirname(path), parents=True)
        text = content.read().decode("utf-8", "surrogateescape")
        process.fs.write(path, text, process.now_ms())
        process.fs.chmod(path, member.mode & 0o777)


BUILTIN = Builtin(name="tar", run=_run, source="busybox 1.37 tar; GNU tar 1.34; k8s.io/kubectl pkg/cmd/cp")
