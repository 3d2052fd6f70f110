"""`kubectl config unset`: takes one value out of the kubeconfig."""

from __future__ import annotations

from env_core.kubectl.context import Context
from env_core.kubectl.kubeconfig import store
from env_core.kubectl.screen import Failure
from env_core.kubectl.verb import Args, Verb
from env_core.kubectl.verbs.config._editing import config_of, only_word
from env_core.kubectl.verbs.config._navigation import modified
from env_core.objects.problems import quoted
from env_core.world import Output


def _run(ctx: Context, args: Args) -> Output:
    path = only_word(args)
    if not path:
        raise Failure("you must specify a property")
    store(ctx, modified(config_of(ctx, args), path, None))
    args.screen.out(f"Property {quoted(path)} unset.\n")
    return args.screen.done()


VERB = Verb(
    name="unset",
    usage="config unset PROPERTY_NAME",
    summary="Removes one value.",
    run=_run,
    source="k8s.io/kubectl pkg/cmd/config unset.go",
    needs_config=False,
)
