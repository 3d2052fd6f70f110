"""`kubectl config view`: the kubeconfig, secrets hidden."""

from __future__ import annotations

from env_core.kubectl.context import Context
from env_core.kubectl.output.printing import FORMATS, object_printer, to_ordered_json
from env_core.kubectl.screen import usage_failure
from env_core.kubectl.verb import PRINT_FLAGS, Args, Flag, Verb
from env_core.kubectl.verbs.config._kubeconfig import kubeconfig
from env_core.world import Output


def _run(ctx: Context, args: Args) -> Output:
    if args.positional:
        raise usage_failure(args.path, f"unexpected arguments: [{' '.join(args.positional)}]")
    shown = kubeconfig(ctx, shows_secrets=args.is_set("raw"))
    if args.text("output") == "json":
        args.screen.out(to_ordered_json(shown))
    else:
        object_printer(ctx, args, formats=FORMATS).print(shown, args.screen)
    return args.screen.done()


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
