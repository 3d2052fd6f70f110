"""`kubectl config set`: one value of the kubeconfig."""

from __future__ import annotations

from env_core.kubectl.context import Context
from env_core.kubectl.kubeconfig import store
from env_core.kubectl.screen import Failure
from env_core.kubectl.verb import Args, Flag, Verb
from env_core.kubectl.verbs.config._editing import config_of, unexpected
from env_core.kubectl.verbs.config._navigation import modified
from env_core.objects.problems import quoted
from env_core.world import Output


def _run(ctx: Context, args: Args) -> Output:
    if len(args.positional) != 2:
        raise unexpected(args)
    path, value = args.positional
    if not value:
        raise Failure("you cannot use set to unset a property")
    if not path:
        raise Failure("you must specify a property")
    store(ctx, modified(config_of(ctx, args), path, value, is_raw=args.is_set("set-raw-bytes")))
    args.screen.out(f"Property {quoted(path)} set.\n")
    return args.screen.done()


VERB = Verb(
    name="set",
    usage="config set PROPERTY_NAME PROPERTY_VALUE",
    summary="Changes one value.",
    flags=(Flag("set-raw-bytes", bool, words="The value is not base64."),),
    run=_run,
    source="k8s.io/kubectl pkg/cmd/config set.go",
    needs_config=False,
)
