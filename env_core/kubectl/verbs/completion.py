"""`kubectl completion`: the scripts belong to shells that this terminal does not run."""

from __future__ import annotations

from env_core.kubectl.context import Context
from env_core.kubectl.screen import Failure, usage_failure
from env_core.kubectl.verb import Args, Verb
from env_core.objects.problems import quoted
from env_core.world import Output

_SHELLS = ("bash", "zsh", "fish", "powershell")


def _run(_ctx: Context, args: Args) -> Output:
    words = args.positional
    if not words:
        raise usage_failure(args.path, "Shell not specified.")
    if len(words) > 1:
        raise usage_failure(args.path, "Too many arguments. Expected only the shell type.")
    if words[0] not in _SHELLS:
        raise usage_failure(args.path, f"Unsupported shell type {quoted(words[0])}.")
    raise Failure(f"completion is not simulated: this terminal has no use for a {words[0]} script")


VERB = Verb(
    name="completion",
    usage="completion SHELL",
    summary="Prints a completion script.",
    run=_run,
    needs_config=False,
    source="k8s.io/kubectl pkg/cmd/completion",
    unrecorded="the scripts: they are refused",
)
