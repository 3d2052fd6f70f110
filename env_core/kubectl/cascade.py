"""`--cascade` and `--grace-period`: how objects are deleted.

Source: k8s.io/kubectl pkg/cmd/delete delete_flags.go (parseCascadingFlag).
"""

from __future__ import annotations

from env_core.kubectl.parser import FALSE, TRUE
from env_core.kubectl.screen import Failure
from env_core.kubectl.verb import Args, Flag

CASCADE = Flag(
    "cascade", str, default="background", no_value="background", words="background, orphan or foreground."
)
_POLICIES = {"background": "Background", "foreground": "Foreground", "orphan": "Orphan"}


def cascade_of(args: Args) -> str:
    """Return the propagation policy.

    Raises:
        Failure: for another value.
    """
    value = args.text("cascade")
    if value in _POLICIES:
        return _POLICIES[value]
    if value in TRUE or value in FALSE:
        policy = "background" if value in TRUE else "orphan"
        args.screen.err(
            f"warning: --cascade={value} is deprecated (boolean value) and can be replaced with --cascade={policy}.\n"
        )
        return _POLICIES[policy]
    raise Failure(f'invalid cascade value ({value}). Must be "background", "foreground", or "orphan"')
