"""Command lines as cobra and pflag read them: which verb, which flags, what is left.

Source: github.com/spf13/pflag flag.go, github.com/spf13/cobra command.go; tests/golden/l0/kubectl_commands.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from env_core.kubectl.govalues import duration_ms, go_rune, integer
from env_core.kubectl.screen import Failure, Screen
from env_core.kubectl.verb import Args, Array, Duration, Flag, Int32, Slice, Verb
from env_core.objects import gocsv
from env_core.objects.problems import quoted

GLOBAL_FLAGS = (
    Flag("as", str, words="User to act as."),
    Flag("as-group", Array, words="Group to act as."),
    Flag("as-uid", str, words="UID to act as."),
    Flag("as-user-extra", Array, words="Extra user attribute to act with."),
    Flag("cache-dir", str, default="/root/.kube/cache", words="Cache directory."),
    Flag("certificate-authority", str, words="Certificate authority file."),
    Flag("client-certificate", str, words="Client certificate file."),
    Flag("client-key", str, words="Client key file."),
    Flag("cluster", str, words="Cluster entry of the kubeconfig."),
    Flag("context", str, words="Context entry of the kubeconfig."),
    Flag("disable-compression", bool, words="Ask for uncompressed answers."),
    Flag("insecure-skip-tls-verify", bool, words="Trust any server certificate."),
    Flag("kubeconfig", str, words="Path of the kubeconfig."),
    Flag("kuberc", str, words="Path of the preferences file."),
    Flag("log-flush-frequency", Duration, default="5s", words="Time between log flushes."),
    Flag("match-server-version", bool, words="Insist on the server's version."),
    Flag("namespace", str, shorthand="n", words="Namespace of the request."),
    Flag("password", str, words="Password for basic authentication."),
    Flag("profile", str, default="none", words="Profile to record."),
    Flag("profile-output", str, default="profile.pprof", words="File for the profile."),
    Flag("proxy-url", str, words="Proxy to the cluster."),
    Flag("request-timeout", str, default="0", words="Time limit of one request."),
    Flag("server", str, shorthand="s", words="Address of the API server."),
    Flag("tls-server-name", str, words="Name to check the server certificate against."),
    Flag("token", str, words="Bearer token."),
    Flag("user", str, words="User entry of the kubeconfig."),
    Flag("username", str, words="User name for basic authentication."),
    Flag("v", int, shorthand="v", words="Log level."),
    Flag("vmodule", str, shown="", words="Log levels by file."),
    Flag("warnings-as-errors", bool, words="Fail when the server warns."),
)
HELP = Flag("help", bool, shorthand="h", words="Show help.")

TRUE = frozenset(("1", "t", "T", "TRUE", "true", "True"))
FALSE = frozenset(("0", "f", "F", "FALSE", "false", "False"))
"""What strconv.ParseBool reads as true and as false."""


@dataclass(frozen=True, slots=True)
class _FlagSet:
    by_name: dict[str, Flag]
    by_shorthand: dict[str, Flag]
    defaults: dict[str, Any]


class HelpWanted(Exception):
    """The line asks for help with `verb`."""

    def __init__(self, verb: Verb, path: str) -> None:
        super().__init__(path)
        self.verb = verb
        self.path = path


class _ValueProblem(Exception):
    """A flag's value cannot be read; the text is Go's."""


def _flag_set(flags: tuple[Flag, ...]) -> _FlagSet:
    by_name = {flag.name: flag for flag in (*GLOBAL_FLAGS, HELP, *flags)}
    # A verb's own flag hides the global one of the same name or letter.
    by_shorthand = {flag.shorthand: flag for flag in (*GLOBAL_FLAGS, HELP, *flags) if flag.shorthand}
    by_shorthand = {letter: flag for letter, flag in by_shorthand.items() if by_name[flag.name] is flag}
    defaults = {flag.name: _default(flag) for flag in by_name.values()}
    return _FlagSet(by_name, by_shorthand, defaults)


def _default(flag: Flag) -> Any:
    if flag.type is Duration:
        return duration_ms(flag.default or "0s")
    if flag.type is bool:
        return bool(flag.default)
    if flag.type in (int, Int32):
        return int(flag.default or 0)
    if flag.type in (Slice, Array):
        return tuple(flag.default or ())
    return flag.default or ""


@lru_cache(maxsize=512)
def _flags_of(verb: Verb) -> _FlagSet:
    return _flag_set(verb.flags)


_ROOT_FLAGS = _flag_set(())


def find_verb(root: Verb, argv: list[str]) -> tuple[Verb, str, list[str]]:
    """Return the verb that `argv` names, its path, and `argv` without the words that name it.

    As cobra does it: words that are flags, or values of flags known at the root, are skipped over.
    """
    verb, path, rest = root, "kubectl", argv
    while verb.subverbs:
        index = _first_word(rest, _ROOT_FLAGS if verb is root else _flags_of(verb))
        if index is None:
            break
        found = _subverb(verb, rest[index])
        if found is None:
            break
        verb = found
        path = f"{path} {found.name}"
        rest = [*rest[:index], *rest[index + 1 :]]
    return verb, path, rest


@lru_cache(maxsize=64)
def _names(verb: Verb) -> dict[str, Verb]:
    names: dict[str, Verb] = {}
    for subverb in verb.subverbs.values():
        for name in (subverb.name, *subverb.aliases):
            names.setdefault(name, subverb)
    return names


def _subverb(verb: Verb, word: str) -> Verb | None:
    return _names(verb).get(word)


def _first_word(argv: list[str], flags: _FlagSet) -> int | None:
    index = 0
    while index < len(argv):
        word = argv[index]
        if word == "--":
            return None
        if word.startswith("--") and "=" not in word:
            flag = flags.by_name.get(word[2:])
            index += 1 if flag is not None and flag.bare else 2
        elif word.startswith("-") and len(word) == 2 and "=" not in word:
            flag = flags.by_shorthand.get(word[1])
            index += 1 if flag is not None and flag.bare else 2
        elif word.startswith("-") or word == "":
            index += 1
        else:
            return index
    return None


def parse(verb: Verb, path: str, argv: list[str], screen: Screen) -> Args:
    """Read flags and positional arguments of `verb` from `argv`.

    Raises:
        Failure: in pflag's words, for a line it refuses.
        HelpWanted: when the line has -h or --help.
    """
    flags = _flags_of(verb)
    values = dict(flags.defaults)
    given: set[str] = set()
    positional: list[str] = []
    before_dash = -1
    index = 0
    count = len(argv)

    def fail(text: str) -> Failure:
        return Failure(f"{text}\nSee '{path} --help' for usage.")

    def assign(flag: Flag, value: str) -> None:
        try:
            read = _read(flag, value)
        except _ValueProblem as problem:
            raise fail(f'invalid argument {quoted(value)} for "{flag.label}" flag: {problem}') from None
        if flag.type in (Slice, Array) and flag.name in given:
            read = (*values[flag.name], *read)
        values[flag.name] = read
        given.add(flag.name)
        if flag.deprecated:
            screen.err(f"Flag --{flag.name} has been deprecated, {flag.deprecated}\n")

    while index < count:
        word = argv[index]
        index += 1
        if len(word) < 2 or word[0] != "-":
            positional.append(word)
        elif word == "--":
            before_dash = len(positional)
            positional.extend(argv[index:])
            break
        elif word[1] == "-":
            name, equals, value = word[2:].partition("=")
            if not name or name[0] in "-=":
                raise fail(f"bad flag syntax: {word}")
            flag = flags.by_name.get(name.replace("_", "-"))
            if flag is None:
                raise fail(f"unknown flag: --{name}")
            if equals:
                assign(flag, value)
            elif flag.bare:
                assign(flag, flag.bare)
            elif index < count:
                assign(flag, argv[index])
                index += 1
            else:
                raise fail(f"flag needs an argument: {word}")
        else:
            letters = word[1:]
            while letters:
                flag = flags.by_shorthand.get(letters[0])
                if flag is None:
                    raise fail(f"unknown shorthand flag: {go_rune(letters[0])} in -{letters}")
                if flag.deprecated:
                    screen.err(f"Flag shorthand -{letters[0]} has been deprecated, {flag.deprecated}\n")
                if len(letters) > 2 and letters[1] == "=":
                    assign(flag, letters[2:])
                    break
                if flag.bare:
                    assign(flag, flag.bare)
                    letters = letters[1:]
                elif len(letters) > 1:
                    assign(flag, letters[1:])
                    break
                elif index < count:
                    assign(flag, argv[index])
                    index += 1
                    break
                else:
                    raise fail(f"flag needs an argument: {go_rune(letters[0])} in -{letters}")
    if values["help"]:
        raise HelpWanted(verb, path)
    return Args(
        verb=verb,
        path=path,
        positional=tuple(positional),
        values=values,
        given=frozenset(given),
        screen=screen,
        before_dash=before_dash,
    )


def check_required(args: Args) -> None:
    """Refuse a line that lacks a required flag, as cobra does after parsing."""
    missing = [flag.name for flag in args.verb.flags if flag.is_required and flag.name not in args.given]
    if missing:
        raise Failure('required flag(s) "{}" not set'.format('", "'.join(missing)))


def _read(flag: Flag, value: str) -> Any:
    kind = flag.type
    if kind is str:
        return value
    if kind is bool:
        if value in TRUE:
            return True
        if value in FALSE:
            return False
        raise _ValueProblem(f"strconv.ParseBool: parsing {quoted(value)}: invalid syntax")
    if kind in (int, Int32, Duration):
        try:
            if kind is Duration:
                return duration_ms(value)
            return integer(value, 32 if kind is Int32 else 64)
        except ValueError as error:
            raise _ValueProblem(str(error)) from None
    if kind is Slice:
        if not value:
            return ()
        try:
            return tuple(gocsv.record(value))
        except gocsv.CsvError as error:
            raise _ValueProblem(str(error)) from None
    return (value,)
