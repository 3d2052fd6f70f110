"""`kubectl kustomize`: builds a kustomization and prints it, or writes it to files."""

from __future__ import annotations

import posixpath

from env_core.kubectl._manifest_files import built
from env_core.kubectl.context import Context
from env_core.kubectl.kustomize import Built, KustomizeError, Options
from env_core.kubectl.screen import Failure
from env_core.kubectl.verb import Args, Array, Flag, Verb
from env_core.world import Output

_ORDERS = ("legacy", "none")
_RESTRICTIONS = ("LoadRestrictionsRootOnly", "LoadRestrictionsNone")


def _run(ctx: Context, args: Args) -> Output:
    if len(args.positional) > 1:
        raise Failure("specify one path to kustomization.yaml")
    restrictor = args.text("load-restrictor")
    if restrictor not in ("", *_RESTRICTIONS):
        raise Failure(
            f"illegal flag value --load-restrictor {restrictor}; legal values: [{' '.join(_RESTRICTIONS)}]"
        )
    reorder = args.text("reorder")
    if reorder not in _ORDERS:
        raise Failure(f"illegal flag value --reorder {reorder}; legal values: [{' '.join(_ORDERS)}]")
    try:
        directory = args.positional[0] if args.positional else "."
        options = Options(
            is_restricted=restrictor != _RESTRICTIONS[1],
            reorder=reorder if "reorder" in args.given else "",
            is_labelled=args.is_set("enable-managedby-label"),
        )
        _write(ctx, args, built(ctx, args, directory, options))
    except KustomizeError as error:
        raise Failure(error.text) from None
    return args.screen.done()


def _write(ctx: Context, args: Args, found: Built) -> None:
    path = args.text("output")
    if not path:
        args.screen.out(found.as_yaml())
        return
    try:
        if not ctx.files.is_dir(path):
            ctx.files.write(path, found.as_yaml())
            return
        for name, text in found.as_files():
            ctx.files.write(posixpath.join(path, name), text)
    except OSError as error:
        raise Failure(str(error)) from None


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
        Flag(
            "reorder",
            str,
            default="legacy",
            words="Order of the resources.",
            deprecated="use the new 'sortOptions' field in kustomization.yaml instead.",
        ),
        Flag(
            "enable-managedby-label",
            bool,
            words="Label everything.",
            deprecated="The flag `enable-managedby-label` has been deprecated. "
            "Use the `managedByLabel` option in the `buildMetadata` field instead.",
        ),
        Flag("output", str, shorthand="o", words="File or directory to write to."),
    ),
    run=_run,
    needs_config=False,
    source="sigs.k8s.io/kustomize kustomize/commands/build",
    unrecorded="Helm charts, git repositories, functions and plugins: they are refused",
)
