"""Editors: the one that the environment names is run on a file, without anybody at the keyboard.

Source: k8s.io/kubectl pkg/cmd/util/editor editor.go, editoptions.go (the file's header, its comments, the errors in it).
"""

from __future__ import annotations

from dataclasses import dataclass, field

from env_core.kubectl.context import Context, Launcher
from env_core.kubectl.screen import Failure, Screen
from env_core.objects.jsonout import quote, to_compact_json
from env_core.objects.problems import quoted
from env_core.objects.yamlin import YamlProblem, read_yaml

_VARIABLES = ("KUBE_EDITOR", "EDITOR")
_SHELL = "/bin/bash"
_OBJECT = (
    "# Please edit the object below. Lines beginning with a '#' will be ignored,\n"
    "# and an empty file will abort the edit. If an error occurs while saving this file will be\n"
    "# reopened with the relevant failures.\n#\n"
)
_APPLIED = (
    "# Please edit the 'last-applied-configuration' annotations below.\n"
    "# Lines beginning with a '#' will be ignored, and an empty file will abort the edit.\n#\n"
)


def no_editor() -> Failure:
    """Return the error of a command that would open an editor when none is named."""
    return Failure(
        "unable to launch an editor: this terminal is not interactive; set KUBE_EDITOR to a command that edits a file, "
        "or use kubectl patch, kubectl set or kubectl apply -f - instead"
    )


@dataclass(slots=True)
class Reason:
    """Why an edited file is opened again: one line, and those below it."""

    head: str
    others: tuple[str, ...] = ()


@dataclass(slots=True)
class Editor:
    """The command that edits files, and what it was last run on."""

    launcher: Launcher
    words: tuple[str, ...]
    runs_in_shell: bool = False
    _count: int = field(default=0)

    def edit(self, ctx: Context, screen: Screen, text: str, suffix: str) -> tuple[str, str]:
        """Write a text to a file, let it be edited, and return what the file holds then, and its path.

        Raises:
            Failure: when the editor cannot be started, or fails.
        """
        directory = self.launcher.variable("TMPDIR") or "/tmp"
        number = (ctx.clock.now_ms + self._count) * 997 % 10**10
        self._count += 1
        path = f"{directory.rstrip('/')}/kubectl-edit-{number}{suffix}"
        try:
            ctx.files.write(path, text)
        except OSError as error:
            raise Failure(str(error)) from None
        self._run(ctx, screen, path)
        try:
            return ctx.files.read(path), path
        except FileNotFoundError:
            raise Failure(f"open {path}: no such file or directory") from None

    def _run(self, ctx: Context, screen: Screen, path: str) -> None:
        words = self.words
        name = words[0]
        if "/" not in name and not self.launcher.has(name):
            raise Failure(f"unable to launch the editor {quoted(' '.join(words))}")
        if "/" in name and not self.launcher.has(name) and not _is_file(ctx, name):
            raise Failure(f"there was a problem with the editor {quoted(' '.join(words))}")
        # The shell reads the path from its line; other editors get it as their last word.
        argv = (*words[:-1], f"{words[-1]} {quote(path)}") if self.runs_in_shell else (*words, path)
        output = self.launcher.start(argv, ctx.stdin)
        screen.out(output.stdout)
        screen.err(output.stderr)
        if output.exit_code:
            raise Failure(f"there was a problem with the editor {quoted(' '.join(words))}")


def _is_file(ctx: Context, path: str) -> bool:
    try:
        ctx.files.read(path)
    except FileNotFoundError:
        return False
    return True


def editor_of(ctx: Context) -> Editor:
    """Return the editor that the environment names.

    Raises:
        Failure: when it names none.
    """
    launcher = ctx.launcher
    command = next(filter(None, map(launcher.variable, _VARIABLES)), "") if launcher is not None else ""
    if launcher is None or not command:
        raise no_editor()
    if " " not in command:
        return Editor(launcher, (command,))
    if not any(char in command for char in "\"'\\"):
        return Editor(launcher, tuple(command.split(" ")))
    return Editor(launcher, (launcher.variable("SHELL") or _SHELL, "-c", command), runs_in_shell=True)


def header(reasons: list[Reason], *, is_applied: bool = False) -> str:
    """Return the comments at the top of a file."""
    parts = [_APPLIED if is_applied else _OBJECT]
    for reason in reasons:
        parts.append(f"# {_hashed(reason.head)}{':' if reason.others else ''}\n")
        parts.extend(f"# * {_hashed(other)}\n" for other in reason.others)
        parts.append("#\n")
    return "".join(parts)


def _hashed(text: str) -> str:
    """Return a text whose further lines are comments too."""
    found = ""
    for index, char in enumerate(text):
        following = text[index + 1 : index + 2]
        found += "\n# " if char == "\n" and following and following != "#" else char
    return found


def without_comments(text: str) -> str:
    """Return a text without the lines that are comments."""
    lines = text.split("\n")
    kept = []
    for index, line in enumerate(lines):
        trimmed = line.strip()
        if trimmed.startswith("#") and not trimmed.startswith("#!"):
            continue
        kept.append(line + ("\n" if index < len(lines) - 1 else ""))
    return "".join(kept)


def comparable(text: str) -> str:
    """Return a text as it is compared: as JSON, or without comments where it is no YAML."""
    try:
        return to_compact_json(read_yaml(text))
    except YamlProblem:
        return without_comments(text)


def has_lines(text: str) -> bool:
    """Whether a file holds more than comments."""
    return any(line.strip() and not line.strip().startswith("#") for line in text.split("\n"))
