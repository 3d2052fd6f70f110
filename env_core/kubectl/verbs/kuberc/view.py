"""`kubectl kuberc view`: there are no preferences here."""

from __future__ import annotations

from env_core.kubectl.context import Context
from env_core.kubectl.screen import Failure
from env_core.kubectl.verb import PRINT_FLAGS, Args, Flag, Verb
from env_core.world import Output

_DEFAULT_PATH = "/root/.kube/kuberc"


def _run(_ctx: Context, args: Args) -> Output:
    if args.text("kuberc"):
        raise Failure(f"kuberc file not found at {args.text('kuberc')}")
    args.screen.out(
        f"kuberc file not found at {_DEFAULT_PATH}\n"
        "Would you like to generate a default kuberc file with recommended options? (y/N): "
    )
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
    source="k8s.io/kubectl pkg/cmd/kuberc",
    unrecorded="no recording shows it",
)
