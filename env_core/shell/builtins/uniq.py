"""uniq: drops or counts repeated lines."""

from __future__ import annotations

from env_core.shell._inputs import read_inputs, split_lines
from env_core.shell._options import UsageProblem, parse_options
from env_core.shell.builtin import Builtin
from env_core.shell.context import Process
from env_core.world import Output

_LONG = {
    "count": "c", "repeated": "d", "unique": "u", "ignore-case": "i", "skip-fields=": "f", "skip-chars=": "s",
    "check-chars=": "w",
}  # fmt: skip


def _run(process: Process, argv: list[str]) -> Output:
    try:
        options = parse_options(argv[1:], "cduif:s:w:D", _LONG)
        numbers = {
            letter: _number(options.value(letter, default))
            for letter, default in (("f", "0"), ("s", "0"), ("w", "999999"))
        }
    except UsageProblem as problem:
        return problem.output(argv[0], process)
    texts, problems = read_inputs(
        process,
        options.operands[:1],
        "uniq: {name}: {reason}" if process.is_busybox else "uniq: {quoted}: {reason}",
    )
    if problems:
        return Output("", problems, 1)
    groups: list[tuple[str, int]] = []
    last: str | None = None
    for line in split_lines(texts[0][1]):
        key = line
        for _ in range(numbers["f"]):
            key = key.lstrip(" \t")
            key = key[len(key.split(maxsplit=1)[0]) :] if key else ""
        key = key[numbers["s"] :][: numbers["w"]]
        if options.has("i"):
            key = key.lower()
        if key == last:
            groups[-1] = (groups[-1][0], groups[-1][1] + 1)
        else:
            groups.append((line, 1))
        last = key
    out = []
    for line, count in groups:
        if (options.has("dD") and count == 1) or (options.has("u") and count > 1):
            continue
        if options.has("c"):
            out.append(f"{count:7d} {line}\n")
        else:
            out.append((line + "\n") * (count if options.has("D") else 1))
    return Output("".join(out))


def _number(text: str) -> int:
    if not text.isdecimal():
        raise UsageProblem(f"{text}: invalid number of fields to skip", has_hint=False)
    return min(int(text[:9]), 1_000_000)


BUILTIN = Builtin(name="uniq", run=_run, source="GNU coreutils 9.1 uniq")
