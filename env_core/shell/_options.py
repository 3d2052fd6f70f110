"""Command-line options as getopt_long reads them, with its error texts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from env_core.shell.context import Process
from env_core.world import Output

BUSYBOX_BANNER = "BusyBox v1.35.0 (2022-01-17 19:57:02 CET) multi-call binary.\n"
"""What BusyBox prints before an applet's help (the help itself is prose, which is not copied)."""
_OPERANDS = ("missing operand", "missing destination", "extra operand", "missing file operand")


class UsageProblem(Exception):
    """The options are wrong; `text` is getopt's, without the program's name."""

    def __init__(self, text: str, *, has_hint: bool = True) -> None:
        """Record the text, and whether "Try '… --help'" follows it."""
        super().__init__(text)
        self.text = text
        self.has_hint = has_hint

    def output(self, name: str, process: Process, status: int = 1) -> Output:
        """Return what a coreutils program (or a BusyBox applet) prints for it."""
        if process.is_busybox:
            # BusyBox has no words of its own for operands that lack: it prints its help.
            said = "" if self.text.startswith(_OPERANDS) else f"{name}: {self.text}\n"
            return Output("", said + BUSYBOX_BANNER, status)
        hint = f"Try '{name} --help' for more information.\n" if self.has_hint else ""
        return Output("", f"{name}: {self.text}\n{hint}", status)


@dataclass(slots=True)
class Options:
    """Options by letter, in order, and the operands."""

    given: list[tuple[str, str]] = field(default_factory=list)
    operands: list[str] = field(default_factory=list)

    def has(self, letters: str) -> bool:
        """Tell whether one of `letters` was given."""
        return any(letter in letters for letter, _ in self.given)

    def value(self, letter: str, default: str = "") -> str:
        """Return the last argument of option `letter`."""
        found = default
        for each, value in self.given:
            if each == letter:
                found = value
        return found

    def values(self, letter: str) -> list[str]:
        """Return every argument of option `letter`."""
        return [value for each, value in self.given if each == letter]


def parse_options(
    arguments: list[str], short: str, long: Mapping[str, str] | None = None, *, permutes: bool = True
) -> Options:
    """Read options.

    `short` is as for getopt: a letter with `:` takes an argument, with `::` an optional one. `long` maps a long
    name (with `=` when it takes an argument, `=?` when it may) to a letter. Without `permutes` the first operand
    ends the options.

    Raises:
        UsageProblem: for an unknown option or a missing argument.
    """
    options = Options()
    index = 0
    while index < len(arguments):
        argument = arguments[index]
        index += 1
        if argument == "--":
            options.operands += arguments[index:]
            break
        if argument.startswith("--"):
            index = _long(argument, arguments, index, long or {}, options)
        elif argument.startswith("-") and len(argument) > 1:
            index = _short(argument, arguments, index, short, options)
        else:
            options.operands.append(argument)
            if not permutes:
                options.operands += arguments[index:]
                break
    return options


def _long(argument: str, arguments: list[str], index: int, long: Mapping[str, str], options: Options) -> int:
    name, equals, value = argument[2:].partition("=")
    names = {each.rstrip("=?"): each for each in long}
    if name not in names:
        candidates = [each for each in names if each.startswith(name)]
        letters = {long[names[each]] for each in candidates}
        if len(letters) != 1:
            raise UsageProblem(f"unrecognized option '--{name}'")
        name = candidates[0]
    spelled = names[name]
    if not spelled.endswith(("=", "=?")):
        if equals:
            raise UsageProblem(f"option '--{name}' doesn't allow an argument")
    elif not equals and not spelled.endswith("=?"):
        if index >= len(arguments):
            raise UsageProblem(f"option '--{name}' requires an argument")
        value = arguments[index]
        index += 1
    options.given.append((long[spelled], value))
    return index


def _short(argument: str, arguments: list[str], index: int, short: str, options: Options) -> int:
    position = 1
    while position < len(argument):
        letter = argument[position]
        position += 1
        place = short.find(letter) if letter != ":" else -1
        if place == -1:
            raise UsageProblem(f"invalid option -- '{letter}'")
        if not short.startswith(":", place + 1):
            options.given.append((letter, ""))
            continue
        value = argument[position:]
        if not value and not short.startswith("::", place + 1):
            if index >= len(arguments):
                raise UsageProblem(f"option requires an argument -- '{letter}'")
            value = arguments[index]
            index += 1
        options.given.append((letter, value))
        break
    return index
