"""mv: renames files."""

from __future__ import annotations

from env_core.shell._options import UsageProblem, parse_options
from env_core.shell.builtin import Builtin
from env_core.shell.context import Process
from env_core.shell.filesystem import FileSystem, ShellFileError
from env_core.world import Output

_LONG = {"force": "f", "verbose": "v", "no-clobber": "n", "interactive": "i"}


def _run(process: Process, argv: list[str]) -> Output:
    try:
        options = parse_options(argv[1:], "fvniuT", _LONG)
        names = options.operands
        if not names:
            raise UsageProblem("missing file operand")
        if len(names) == 1:
            raise UsageProblem(f"missing destination file operand after '{names[0]}'")
    except UsageProblem as problem:
        return problem.output(argv[0], process)
    target = names[-1]
    into = process.fs.is_dir(process.path(target))
    if len(names) > 2 and not into:
        return Output("", f"mv: target '{target}': Not a directory\n", 1)
    out: list[str] = []
    problems: list[str] = []
    for name in names[:-1]:
        destination = f"{target.rstrip('/')}/{name.rstrip('/').rpartition('/')[2]}" if into else target
        source_path, path = process.path(name), process.path(destination)
        if options.has("n") and process.fs.exists(path):
            continue
        try:
            process.fs.entry(source_path)
        except ShellFileError as error:
            verb = "can't rename" if process.is_busybox else "cannot stat"
            problems.append(f"mv: {verb} '{name}': {error.reason}\n")
            continue
        if path == source_path or path.startswith(source_path.rstrip("/") + "/"):
            problems.append(f"mv: '{name}' and '{destination}' are the same file\n")
            continue
        try:
            _move(process.fs, source_path, path, process.now_ms())
            if options.has("v"):
                out.append(f"renamed '{name}' -> '{destination}'\n")
        except ShellFileError as error:
            text = (
                f"can't rename '{name}'" if process.is_busybox else f"cannot move '{name}' to '{destination}'"
            )
            problems.append(f"mv: {text}: {error.reason}\n")
    return Output("".join(out), "".join(problems), int(bool(problems)))


def _move(fs: FileSystem, source: str, target: str, now_ms: int) -> None:
    entry = fs.entry(source)
    if entry.is_dir:
        fs.mkdir(target)
        for name in entry.names or ():
            _move(fs, f"{source}/{name}", f"{target}/{name}", now_ms)
    else:
        if fs.exists(target) and not fs.is_dir(target):
            fs.remove(target)
        fs.write(target, entry.text, entry.changed_ms)
        fs.chmod(target, entry.mode)
    fs.remove(source)


BUILTIN = Builtin(name="mv", run=_run, source="GNU coreutils 9.1 mv; tests/golden/programs/shell 098, 099")
