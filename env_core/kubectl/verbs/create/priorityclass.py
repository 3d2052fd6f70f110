"""`kubectl create priorityclass`."""

from __future__ import annotations

from env_core.kubectl.context import Context
from env_core.kubectl.verb import Args, Flag, Int32, Verb
from env_core.kubectl.verbs.create._generator import GENERATOR_FLAGS, create_generated, name_argument
from env_core.world import Object, Output


def _run(ctx: Context, args: Args) -> Output:
    obj: Object = {
        "apiVersion": "scheduling.k8s.io/v1",
        "kind": "PriorityClass",
        "metadata": {"name": name_argument(args)},
        "value": args.number("value"),
        "preemptionPolicy": args.text("preemption-policy"),
    }
    if args.is_set("global-default"):
        obj["globalDefault"] = True
    if args.text("description"):
        obj["description"] = args.text("description")
    return create_generated(
        ctx,
        args,
        "priorityclasses.scheduling.k8s.io",
        obj,
        "failed to create priorityclass: ",
        is_namespaced=False,
    )


VERB = Verb(
    name="priorityclass",
    usage="create priorityclass NAME --value=VALUE --global-default=BOOL [--dry-run=server|client|none]",
    aliases=("pc",),
    summary="Creates a priority class.",
    flags=(
        *GENERATOR_FLAGS,
        Flag("description", str, words="What the class is for."),
        Flag("global-default", bool, words="Make it the default."),
        Flag(
            "preemption-policy", str, default="PreemptLowerPriority", words="Never or PreemptLowerPriority."
        ),
        Flag("value", Int32, words="The priority."),
    ),
    run=_run,
    source="k8s.io/kubectl pkg/cmd/create create_priorityclass.go",
)
