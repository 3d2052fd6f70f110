"""`kubectl kuberc set`: refused, this terminal keeps no preferences."""

from __future__ import annotations

from env_core.kubectl.context import Context
from env_core.kubectl.screen import Failure
from env_core.kubectl.verb import Args, Array, Flag, Verb
from env_core.world import Output


def _run(_ctx: Context, _args: Args) -> Output:
    raise Failure("kuberc is not simulated: this terminal keeps no preferences")


VERB = Verb(
    name="set",
    usage="kuberc set --section (defaults|aliases) --command COMMAND",
    summary="Changes the preferences.",
    flags=(
        Flag("allowlist-entry", Array, words="Entry of the allow list."),
        Flag("appendarg", Array, words="Argument behind those given."),
        Flag("command", str, words="Command that the preference is for."),
        Flag("kuberc", str, words="Path of the preferences file."),
        Flag("name", str, words="Name of the alias."),
        Flag("option", Array, words="OPTION=VALUE."),
        Flag("overwrite", bool, words="Replace what is there."),
        Flag("policy", str, words="Policy for credential plugins."),
        Flag("prependarg", Array, words="Argument before those given."),
        Flag("section", str, words="defaults or aliases."),
    ),
    run=_run,
    needs_config=False,
    source="k8s.io/kubectl pkg/cmd/kuberc",
    unrecorded="the refusal",
)
