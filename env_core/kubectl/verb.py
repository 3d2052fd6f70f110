"""Declarations: what one module of `env_core/kubectl/verbs` says about its command."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from env_core.kubectl.context import Context
from env_core.kubectl.screen import Screen
from env_core.world import Output


class Int32:
    """Flag type of a number with 32 bits; its value is an int."""


class Duration:
    """Flag type of a Go duration ("1m30s"); its value is in milliseconds (int)."""


class Slice:
    """Flag type of a list that repeats and splits at commas; its value is a tuple of strings."""


class Array:
    """Flag type of a list that repeats and does not split; its value is a tuple of strings."""


FlagType = type[str] | type[bool] | type[int] | type[Int32] | type[Duration] | type[Slice] | type[Array]


@dataclass(frozen=True, slots=True)
class Flag:
    """One flag of a verb.

    `default` is text for str and Duration, a number or truth for int and bool. `no_value` is the value that
    a bare `--flag` means (pflag's NoOptDefVal; "true" for bool). `deprecated` is the advice printed after
    `Flag --x has been deprecated, `. `words` is the help text, in our own words.
    """

    name: str
    type: FlagType = str
    shorthand: str = ""
    default: Any = None
    no_value: str = ""
    words: str = ""
    is_required: bool = False
    is_hidden: bool = False
    deprecated: str = ""
    shown: str | None = None
    """The default as help shows it, where that does not follow from type and default."""

    @property
    def label(self) -> str:
        """How error texts name the flag."""
        return f"-{self.shorthand}, --{self.name}" if self.shorthand else f"--{self.name}"

    @property
    def bare(self) -> str:
        """The value of the flag when it is given without one; "" when it needs one."""
        return self.no_value or ("true" if self.type is bool else "")


@dataclass(slots=True)
class Args:
    """A parsed command line: what is left of it, the flags' values, and the screen to write to."""

    verb: Verb
    path: str
    """The command as error texts name it, "kubectl rollout status"."""
    positional: tuple[str, ...]
    values: Mapping[str, Any]
    given: frozenset[str]
    """The flags that the line names, whatever their values."""
    screen: Screen
    before_dash: int = -1
    """How many positional arguments come before `--`; -1 when there is no `--`."""

    def on(self, screen: Screen) -> Args:
        """Return the same line for another screen."""
        return Args(self.verb, self.path, self.positional, self.values, self.given, screen, self.before_dash)

    def text(self, name: str) -> str:
        """Return the value of a str flag."""
        value: str = self.values[name]
        return value

    def is_set(self, name: str) -> bool:
        """Return the value of a bool flag."""
        value: bool = self.values[name]
        return value

    def number(self, name: str) -> int:
        """Return the value of an int flag, or the milliseconds of a Duration flag."""
        value: int = self.values[name]
        return value

    def items(self, name: str) -> tuple[str, ...]:
        """Return the values of a Slice or Array flag."""
        value: tuple[str, ...] = self.values[name]
        return value

    def has(self, name: str) -> bool:
        """Whether the verb declares the flag."""
        return name in self.values


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Verb:
    """One command of kubectl, or one sub-command of a group.

    `run` writes to `args.screen` as it goes and returns `args.screen.done()`; what it raises (`StatusError`,
    `Failure`) is printed after what it wrote. A group has `subverbs` and usually no `run`. `usage` is the
    usage line without "kubectl " and without "[options]". `check_args`, when given, sees the positional
    arguments before required flags are checked. `needs_config` is False for what works without a cluster.
    `helps` is False for the command that answers --help with nothing. `helps_on_stdout` tells where a group without a sub-command shows its help (cmdutil.DefaultSubCommandRun).
    """

    name: str
    usage: str
    source: str
    run: Callable[[Context, Args], Output] | None = None
    summary: str = ""
    flags: tuple[Flag, ...] = ()
    aliases: tuple[str, ...] = ()
    subverbs: Mapping[str, Verb] = field(default_factory=dict)
    check_args: Callable[[Args], None] | None = None
    needs_config: bool = True
    helps_on_stdout: bool = False
    helps: bool = True
    is_hidden: bool = False
    unrecorded: str = ""


PRINT_FLAGS = (
    Flag("allow-missing-template-keys", bool, default=True, words="Let templates skip missing keys."),
    Flag("output", str, shorthand="o", words="Output format."),
    Flag("show-managed-fields", bool, words="Keep managedFields in JSON and YAML."),
    Flag("template", str, words="Template, or path of one, for the go-template formats."),
)
FILE_FLAGS = (
    Flag("filename", Slice, shorthand="f", words="File, directory or - that names the objects."),
    Flag("kustomize", str, shorthand="k", words="Kustomization directory."),
    Flag("recursive", bool, shorthand="R", words="Descend into directories of -f."),
)
SELECTOR = Flag("selector", str, shorthand="l", words="Label selector.")
FIELD_SELECTOR = Flag("field-selector", str, words="Field selector.")
ALL_NAMESPACES = Flag("all-namespaces", bool, shorthand="A", words="Look in every namespace.")
ALL = Flag("all", bool, words="Select all objects of the type in the namespace.")
CHUNK_SIZE = Flag("chunk-size", int, default=500, words="Objects per list request.")
NO_HEADERS = Flag("no-headers", bool, words="Leave out the column headers.")
DRY_RUN = Flag("dry-run", str, default="none", no_value="unchanged", words="none, server or client.")


def field_manager(default: str) -> Flag:
    """Return the flag that names the field manager of a write."""
    return Flag("field-manager", str, default=default, words="Name that owns the written fields.")
