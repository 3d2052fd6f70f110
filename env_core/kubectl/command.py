"""One kubectl command from its words to its output: dispatch, global flags, and the wording of errors.

Source: k8s.io/kubectl pkg/cmd/cmd.go, pkg/cmd/util/helpers.go (checkErr, StandardErrorMessage, MultilineError).
"""

from __future__ import annotations

import re
from dataclasses import replace
from functools import cache, lru_cache

from env_core.apiserver.errors import StatusError
from env_core.discovery import discover
from env_core.kubectl import verbs
from env_core.kubectl.connection import connection_failure
from env_core.kubectl.context import Context
from env_core.kubectl.help import help_text
from env_core.kubectl.impersonation import client_for
from env_core.kubectl.kubeconfig import Kubeconfig, kubeconfig_of, namespace_of, read, token_of
from env_core.kubectl.output.managed import sees_managed_fields
from env_core.kubectl.parser import HelpWanted, check_required, find_verb, parse
from env_core.kubectl.screen import Failure, Failures, Screen, usage_failure
from env_core.kubectl.verb import Args, Verb
from env_core.objects.problems import quoted
from env_core.objects.yamlin import YamlProblem
from env_core.objects.yamlout import YamlTextError
from env_core.world import Interrupted, Output

GROUPS = {
    "Basic Commands (Beginner):": ("create", "expose", "run", "set"),
    "Basic Commands (Intermediate):": ("explain", "get", "edit", "delete"),
    "Deploy Commands:": ("rollout", "scale", "autoscale"),
    "Cluster Management Commands:": (
        "certificate", "cluster-info", "top", "cordon", "uncordon", "drain", "taint",
    ),
    "Troubleshooting and Debugging Commands:": (
        "describe", "logs", "attach", "exec", "port-forward", "proxy", "cp", "auth", "debug", "events",
    ),
    "Advanced Commands:": ("diff", "apply", "patch", "replace", "wait", "kustomize"),
    "Settings Commands:": ("label", "annotate", "completion"),
    "Subcommands provided by plugins:": (),
    "Other Commands:": ("api-resources", "api-versions", "config", "kuberc", "plugin", "version"),
}  # fmt: skip
"""The commands of the real binary as its help groups them. Source: k8s.io/kubectl pkg/cmd/cmd.go."""
COMMAND_ORDER = (
    *(name for heading, names in GROUPS.items() if heading != "Other Commands:" for name in names),
    "config", "kuberc", "plugin", "version", "api-versions", "api-resources", "options",
)  # fmt: skip
"""All commands in the order in which suggestions name them."""

_CONFIG_FLAGS = ("kubeconfig", "context", "cluster", "user", "request-timeout", "server", "token")
_NO_SERVER = "http://localhost:8080"
"""Where kubectl looks for a cluster when the kubeconfig names none."""
_SUGGEST_FOR = {"list": "get", "ls": "get", "inspect": "describe", "remove": "delete", "rm": "delete"}
INTERRUPTED = 124
"""The exit code of a command whose time was up, as `timeout` gives it."""
_BYTES = re.compile("[\ud800-\udfff]")
_TIMEOUT = re.compile(r"\d+|(\d+(\.\d+)?(ns|us|µs|ms|s|m|h))+")
_TIMEOUT_TEXT = (
    "Invalid timeout value. Timeout must be a single integer in seconds, "
    "or an integer followed by a corresponding time unit (e.g. 1s | 2m | 3h)"
)


@cache
def root() -> Verb:
    """Return the verb that holds all others."""
    found = {verb.name: verb for verb in discover(verbs, "VERB", Verb).values()}
    return Verb(
        name="kubectl",
        usage="[flags]",
        summary="Looks after a Kubernetes cluster.",
        source="k8s.io/kubectl pkg/cmd/cmd.go",
        subverbs=found,
    )


def run(argv: list[str], ctx: Context) -> Output:
    """Run `kubectl` with the words `argv` (without "kubectl") and return what it prints and its exit code.

    `ctx` is the terminal's: `config set-context --current --namespace` changes its namespace, every other
    command works on a copy.

    Raises:
        Interrupted: when the clock stops a waiting command; carries the output so far.
    """
    screen = Screen()
    if _BYTES.search(ctx.stdin):
        ctx.stdin = _BYTES.sub("\ufffd", ctx.stdin)
    if argv[:2] != ["create", "secret"]:
        # Go's JSON replaces what is no UTF-8; a Secret's values are bytes.
        argv = [_BYTES.sub("\ufffd", word) for word in argv]
    try:
        return _run(argv, ctx, screen)
    except HelpWanted as wanted:
        screen.out(help_text(wanted.verb, wanted.path, GROUPS if wanted.verb is root() else None))
        return screen.done()
    except Interrupted:
        raise Interrupted(screen.done(INTERRUPTED)) from None
    except (StatusError, Failure, Failures, YamlTextError) as error:
        text, exit_code = error_text(error)
        if text:
            screen.err(text if text.endswith("\n") else text + "\n")
        return screen.done(exit_code)


def _run(argv: list[str], ctx: Context, screen: Screen) -> Output:
    top = root()
    if argv[:1] == ["help"]:
        return _help(argv[1:], screen)
    known = parsed(tuple(argv))
    if known is None:
        verb, path, rest = find_verb(top, argv)
        if verb is top:
            return _unknown(argv, screen)
        args = parse(verb, path, rest, screen)
    else:
        verb, path = known.verb, known.path
        args = known.on(screen)
    if verb.run is None:
        if args.positional:
            raise usage_failure(path, f"unknown command {quoted(' '.join(args.positional))}")
        (screen.out if verb.helps_on_stdout else screen.err)(help_text(verb, path))
        return screen.done(1)
    if verb.check_args is not None:
        verb.check_args(args)
    check_required(args)
    output = verb.run(_context(ctx, args, screen), args)
    if args.values["warnings-as-errors"] and screen.warned:
        count = len(screen.warned)
        screen.err(f"error: {count} warning{'s' if count > 1 else ''} received\n")
        return screen.done(output.exit_code or 1)
    return output


@lru_cache(maxsize=4096)
def parsed(argv: tuple[str, ...]) -> Args | None:
    """Return the arguments of a line that parses without a word to say about it, None for any other."""
    quiet = Screen()
    verb, path, rest = find_verb(root(), list(argv))
    if verb is root():
        return None
    try:
        args = parse(verb, path, rest, quiet)
    except (Failure, HelpWanted):
        return None
    said = quiet.done()
    return None if said.stdout or said.stderr else args


def _help(words: list[str], screen: Screen) -> Output:
    top = root()
    verb, path, rest = find_verb(top, words)
    if verb is top:
        names = [word for word in rest if not word.startswith("-")]
        write = screen.out
        if names:
            write = screen.err
            write("Unknown help topic {}\n".format(" ".join(f"[`{name}`]" for name in names[:1])))
        write(help_text(top, "kubectl", GROUPS))
        return screen.done()
    screen.out(help_text(verb, path))
    return screen.done()


def _unknown(argv: list[str], screen: Screen) -> Output:
    """Answer a line that names no command."""
    top = root()
    if argv[:1] == ["alpha"]:
        screen.err("No alpha commands are available in this version of kubectl\n")
        return screen.done()
    word = _command_word(argv)
    if word is None:
        parse(top, "kubectl", argv, screen)
        screen.out(help_text(top, "kubectl", GROUPS))
        return screen.done()
    if argv[0].startswith("-"):
        screen.err(f"Error: flags cannot be placed before plugin name: {argv[0]}\n")
        return screen.done(1)
    text = f'unknown command {quoted(word)} for "kubectl"'
    close = suggestions(word)
    if close:
        text += "\n\nDid you mean this?\n" + "".join(f"\t{name}\n" for name in close)
    raise Failure(text)


def _command_word(argv: list[str]) -> str | None:
    from env_core.kubectl.parser import _ROOT_FLAGS, _first_word

    index = _first_word(argv, _ROOT_FLAGS)
    return None if index is None else argv[index]


def suggestions(word: str) -> list[str]:
    """Return the commands that resemble `word`: by edit distance up to 2, by prefix, or known confusions."""
    typed = word.lower()
    return [
        name
        for name in COMMAND_ORDER
        if name.startswith(typed) or _SUGGEST_FOR.get(typed) == name or _distance(typed, name) <= 2
    ]


def _distance(left: str, right: str) -> int:
    if abs(len(left) - len(right)) > 2:
        return 3
    row = list(range(len(right) + 1))
    for index, char in enumerate(left, 1):
        previous, row[0] = row[0], index
        for column, other in enumerate(right, 1):
            cost = previous if char == other else previous + 1
            previous, row[column] = row[column], min(row[column] + 1, row[column - 1] + 1, cost)
    return row[-1]


def _context(ctx: Context, args: Args, screen: Screen) -> Context:
    """Return the context of this invocation, the global flags applied.

    Verbs that need no cluster get the terminal's own context.

    Raises:
        Failure: for flags that name what the kubeconfig does not have.
    """
    verb = args.verb
    if not verb.needs_config:
        return ctx
    given = args.given
    if ctx.kubeconfig is not None or not given.isdisjoint(_CONFIG_FLAGS):
        ctx = _with_config(ctx, args)
    namespace, is_explicit = ctx.namespace, False
    if (
        "namespace" in given
        and args.text("namespace")
        and all(flag.name != "namespace" for flag in verb.flags)
    ):
        namespace, is_explicit = args.text("namespace"), True
    client = client_for(ctx, args, screen)
    client.sees_managed_fields = sees_managed_fields(args)
    return replace(
        ctx,
        api=client,
        namespace=namespace,
        is_namespace_explicit=is_explicit,
        warn=screen.remark,
    )


def _with_config(ctx: Context, args: Args) -> Context:
    """Return the context with the namespace that the kubeconfig means, its flags applied.

    Raises:
        Failure: for what the kubeconfig does not have, and for a server or a user that is not this cluster's.
    """
    text = args.text
    config = kubeconfig_of(ctx)
    path = text("kubeconfig")
    if path:
        config = _config_in(ctx, path)
    name = text("context") or config.current_context
    entry = config.contexts.get(name)
    if entry is None and name:
        raise Failure(
            f"Error in configuration: context was not found for specified context: {name}", is_bare=True
        )
    context = entry or {}
    cluster, user = text("cluster") or context.get("cluster", ""), text("user") or context.get("user", "")
    if text("cluster") and cluster not in config.clusters:
        raise Failure(f"no server found for cluster {quoted(cluster)}")
    if text("user") and user not in config.users:
        raise Failure(f"auth info {quoted(user)} does not exist")
    if not _TIMEOUT.fullmatch(text("request-timeout")):
        raise Failure(_TIMEOUT_TEXT)
    server = text("server") or (config.clusters.get(cluster) or {}).get("server") or _NO_SERVER
    if server != ctx.server:
        raise connection_failure(server if "://" in server else f"https://{server}", "connection refused")
    if (text("token") or (config.users.get(user) or {}).get("token")) != token_of(ctx):
        raise Failure("You must be logged in to the server (Unauthorized)")
    return replace(ctx, namespace=namespace_of(config, name))


def _config_in(ctx: Context, path: str) -> Kubeconfig:
    if ctx.files.absolute(path) == ctx.kubeconfig_path:
        return kubeconfig_of(ctx)
    try:
        return read(ctx.files.read(path))
    except FileNotFoundError:
        raise Failure(f"stat {path}: no such file or directory") from None
    except YamlProblem as problem:
        raise Failure(f"error loading config file {quoted(path)}: yaml: {problem}") from None


def error_text(error: Exception) -> tuple[str, int]:
    """Return what kubectl prints for an error that ends the command, and the exit code."""
    if isinstance(error, StatusError):
        if error.reason == "Invalid":
            return _invalid_text(error), 1
        return _server_text(error), 1
    if isinstance(error, Failures):
        return "".join(f"{message(one)}\n" for one in error.errors), 1
    if isinstance(error, YamlTextError):
        return f"error: {error}", 1
    assert isinstance(error, Failure)
    if error.is_bare or not error.text or error.text.startswith("error: "):
        return error.text, error.exit_code
    return f"error: {error.text}", error.exit_code


def message(error: Exception) -> str:
    """Return one error among several, as MultipleErrors prints it: without "error: "."""
    if isinstance(error, StatusError):
        return _server_text(error)
    return error.text if isinstance(error, Failure) else str(error)


def _server_text(error: StatusError) -> str:
    if error.reason == "Unauthorized":
        return f"error: You must be logged in to the server ({error.message})"
    if error.reason:
        return f"Error from server ({error.reason}): {error.message}"
    return f"Error from server: {error.message}"


def _invalid_text(error: StatusError) -> str:
    details = error.status.get("details")
    head = "The request is invalid"
    if details is None:
        return f"{head}: {error.message}" if error.message else head
    causes = details.get("causes") or []
    if details.get("kind") or details.get("name"):
        head = f"The {details.get('kind', '')} {quoted(details.get('name', ''))} is invalid"
    elif error.message and not causes:
        head += f": {error.message}"
    if not causes:
        return head
    lines = list(dict.fromkeys(f"{cause.get('field', '')}: {cause.get('message', '')}" for cause in causes))
    if len(lines) == 1:
        return f"{head}: {lines[0]}\n"
    return f"{head}: \n" + "".join(f"* {line}\n" for line in lines)
