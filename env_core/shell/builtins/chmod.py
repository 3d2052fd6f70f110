"""chmod: sets permission bits."""

from __future__ import annotations

import re

from env_core.shell._options import UsageProblem
from env_core.shell.builtin import Builtin
from env_core.shell.context import Process
from env_core.shell.filesystem import ShellFileError
from env_core.world import Output

_SYMBOLIC = re.compile(r"([ugoa]*)([-+=])([rwxX]*)\Z")
_SHIFTS = {"u": 6, "g": 3, "o": 0}


def _run(process: Process, argv: list[str]) -> Output:
    rest = [each for each in argv[1:] if each not in ("-R", "-v", "-f", "--recursive", "--")]
    try:
        if not rest:
            raise UsageProblem("missing operand")
        if len(rest) == 1:
            raise UsageProblem(f"missing operand after '{rest[0]}'")
        if _changed(rest[0], 0) is None:
            if process.is_busybox:
                return Output("", f"chmod: invalid mode '{rest[0]}'\n", 1)
            raise UsageProblem(f"invalid mode: '{rest[0]}'")
    except UsageProblem as problem:
        return problem.output(argv[0], process)
    problems: list[str] = []
    for name in rest[1:]:
        path = process.path(name)
        try:
            mode = _changed(rest[0], process.fs.entry(path).mode)
            assert mode is not None
        except ShellFileError as error:
            text = name if process.is_busybox else f"cannot access '{name}'"
            problems.append(f"chmod: {text}: {error.reason}\n")
            continue
        try:
            process.fs.chmod(path, mode)
        except ShellFileError as error:
            text = name if process.is_busybox else f"changing permissions of '{name}'"
            problems.append(f"chmod: {text}: {error.reason}\n")
    return Output("", "".join(problems), int(bool(problems)))


def _changed(text: str, mode: int) -> int | None:
    """Return `mode` after the change that `text` describes, None if it describes none."""
    if re.fullmatch(r"[0-7]{1,4}", text):
        return int(text, 8) & 0o777
    for part in text.split(","):
        found = _SYMBOLIC.match(part)
        if found is None:
            return None
        who, operation, letters = found.groups()
        bits = sum(
            {"r": 4, "w": 2, "x": 1, "X": 1}[letter] for letter in sorted(set(letters.replace("X", "x")))
        )
        for each in "ugo" if who in ("", "a") or "a" in who else who:
            shifted = bits << _SHIFTS[each]
            if operation == "+":
                mode |= shifted
            elif operation == "-":
                mode &= ~shifted
            else:
                mode = (mode & ~(7 << _SHIFTS[each])) | shifted
    return mode


BUILTIN = Builtin(
    name="chmod", run=_run, source="GNU coreutils 9.1 chmod; tests/golden/programs/shell 111, 112"
)
