"""`kubectl kuberc view`: the preferences as their file has them."""

from __future__ import annotations

from env_core.kubectl.context import Context
from env_core.kubectl.output.printing import FORMATS, object_printer, to_ordered_json
from env_core.kubectl.screen import Failure
from env_core.kubectl.verb import PRINT_FLAGS, Args, Flag, Verb
from env_core.kubectl.verbs.kuberc._file import kuberc_path, ordered, read_preferences, write_preferences
from env_core.kubectl.writes import ordered_kyaml
from env_core.world import Object, Output

_QUESTION = "Would you like to generate a default kuberc file with recommended options? (y/N): "
_RECOMMENDED: Object = {
    "defaults": [
        {"command": "apply", "options": [{"name": "server-side", "default": "true"}]},
        {"command": "delete", "options": [{"name": "interactive", "default": "true"}]},
    ]
}


def _run(ctx: Context, args: Args) -> Output:
    path, _ = kuberc_path(ctx, args)
    try:
        preferences = read_preferences(ctx, path)
    except FileNotFoundError:
        return _offer(ctx, args, path)
    chosen = args.text("output") or "yaml"
    shown = ordered(preferences)
    if chosen in ("json", "kyaml"):
        args.screen.out(to_ordered_json(shown) if chosen == "json" else ordered_kyaml(shown))
        return args.screen.done()
    object_printer(ctx, args, chosen, formats=FORMATS).print(shown, args.screen)
    return args.screen.done()


def _offer(ctx: Context, args: Args, path: str) -> Output:
    args.screen.out(f"kuberc file not found at {path}\n{_QUESTION}")
    words = ctx.stdin.split()
    if words and words[0].lower() == "y":
        write_preferences(ctx, args, path, _RECOMMENDED)
    elif words:
        # The real command shows preferences that it has not got.
        raise Failure("", 2)
    return args.screen.done()


VERB = Verb(
    name="view",
    usage="kuberc view",
    summary="Shows the preferences.",
    flags=(
        *(flag for flag in PRINT_FLAGS if flag.name != "output"),
        Flag("kuberc", str, words="Path of the preferences file."),
        Flag("output", str, shorthand="o", default="yaml", words="Output format."),
    ),
    run=_run,
    needs_config=False,
    source="k8s.io/kubectl pkg/cmd/kuberc view.go",
    unrecorded="the crash that follows a no to the question; preferences are shown, but not applied to commands",
)
