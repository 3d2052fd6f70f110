"""`kubectl kuberc`: the group of its sub-commands."""

from __future__ import annotations

import sys

from env_core.discovery import discover
from env_core.kubectl.verb import Verb

VERB = Verb(
    name="kuberc",
    usage="kuberc SUBCOMMAND",
    summary="Looks after preferences of kubectl.",
    subverbs={verb.name: verb for verb in discover(sys.modules[__name__], "VERB", Verb).values()},
    source="k8s.io/kubectl pkg/cmd/kuberc",
)
