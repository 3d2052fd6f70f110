"""`kubectl kustomize`: refused, this terminal builds no kustomizations."""

from __future__ import annotations

from env_core.kubectl.context import Context
from env_core.kubectl.resolve import kustomization_missing
from env_core.kubectl.screen import Failure
from env_core.kubectl.verb import Args, Array, Flag, Verb
from env_core.world import Output


def _run(ctx: Context, args: Args) -> Output:
    if len(args.positional) > 1:
        raise Failure(f"specify one path to a kustomization directory, got {len(args.positional)}")
    directory = args.positional[0] if args.positional else "."
    raise kustomization_missing(ctx, directory)


VERB = Verb(
    name="kustomize",
    usage="kustomize DIR [flags]",
    summary="Builds a kustomization.",
    flags=(
        Flag("as-current-user", bool, words="Run functions as the current user."),
        Flag("enable-alpha-plugins", bool, words="Allow plugins."),
        Flag("enable-helm", bool, words="Allow Helm."),
        Flag("env", Array, shorthand="e", words="Variables for functions."),
        Flag("helm-api-versions", Array, words="API versions for Helm."),
        Flag("helm-command", str, default="helm", words="Helm's command."),
        Flag("helm-debug", bool, words="Debug Helm."),
        Flag("helm-kube-version", str, words="Kubernetes version for Helm."),
        Flag("load-restrictor", str, default="LoadRestrictionsRootOnly", words="Where files may come from."),
        Flag("mount", Array, words="Mounts for functions."),
        Flag("network", bool, words="Allow functions the network."),
        Flag("network-name", str, default="bridge", words="Network for functions."),
        Flag("output", str, shorthand="o", words="File or directory to write to."),
    ),
    run=_run,
    source="sigs.k8s.io/kustomize kustomize/commands/build",
    unrecorded="building itself: it is refused",
)
