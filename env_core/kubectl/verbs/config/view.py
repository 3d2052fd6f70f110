"""`kubectl config view`: the kubeconfig, secrets hidden."""

from __future__ import annotations

from dataclasses import replace

from env_core.kubectl.context import Context
from env_core.kubectl.kubeconfig import Entries, Kubeconfig
from env_core.kubectl.output.printing import FORMATS, object_printer, to_ordered_json
from env_core.kubectl.screen import Failure, usage_failure
from env_core.kubectl.verb import PRINT_FLAGS, Args, Flag, Verb
from env_core.kubectl.verbs.config._editing import config_of
from env_core.world import Output

_SECRETS = ("token", "password")
_DATA = ("certificate-authority-data", "client-certificate-data", "client-key-data")


def _run(ctx: Context, args: Args) -> Output:
    if args.positional:
        raise usage_failure(args.path, f"unexpected arguments: [{' '.join(args.positional)}]")
    printer = object_printer(ctx, args, formats=FORMATS)
    if not args.is_set("merge") and not args.text("kubeconfig"):
        raise Failure("if merge==false a precise file must be specified")
    config = config_of(ctx, args)
    if args.is_set("minify"):
        config = _minified(config, args.text("context"))
    if not (args.is_set("raw") or args.is_set("flatten")):
        config = replace(config, clusters=_hidden(config.clusters), users=_hidden(config.users))
    shown = config.object()
    if args.text("output") == "json":
        args.screen.out(to_ordered_json(shown))
    else:
        printer.print(shown, args.screen)
    return args.screen.done()


def _hidden(entries: Entries) -> Entries:
    """Return entries without their secrets; data is only said to be there."""
    return {
        name: {
            key: "REDACTED" if key in _SECRETS else "DATA+OMITTED" if key in _DATA else value
            for key, value in entry.items()
        }
        for name, entry in entries.items()
    }


def _minified(config: Kubeconfig, context: str) -> Kubeconfig:
    """Return what one context uses.

    Raises:
        Failure: when it does not exist.

    Source: k8s.io/client-go tools/clientcmd/api/helpers.go (MinifyConfig).
    """
    name = context or config.current_context
    if not name:
        raise Failure("current-context must exist in order to minify")
    entry = config.contexts.get(name)
    if entry is None:
        raise Failure("cannot locate context " + name)
    cluster, user = entry.get("cluster", ""), entry.get("user", "")
    if cluster and cluster not in config.clusters:
        raise Failure("cannot locate cluster " + cluster)
    if user and user not in config.users:
        raise Failure("cannot locate user " + user)
    return Kubeconfig(
        clusters={cluster: config.clusters[cluster]} if cluster else {},
        users={user: config.users[user]} if user else {},
        contexts={name: entry},
        current_context=name,
    )


VERB = Verb(
    name="view",
    usage="config view [flags]",
    summary="Shows the kubeconfig.",
    flags=(
        *(flag for flag in PRINT_FLAGS if flag.name != "output"),
        Flag("output", str, shorthand="o", default="yaml", words="Output format."),
        Flag("flatten", bool, words="Put file contents into the output."),
        Flag("merge", bool, default=True, words="Merge all kubeconfig files."),
        Flag("minify", bool, words="Leave out what the current context does not use."),
        Flag("raw", bool, words="Show secrets."),
    ),
    run=_run,
    source="k8s.io/kubectl pkg/cmd/config view.go",
    needs_config=False,
)
