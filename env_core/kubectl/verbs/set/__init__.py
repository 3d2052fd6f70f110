"""`kubectl set`: the group of its sub-commands."""

from __future__ import annotations

import sys

from env_core.discovery import discover
from env_core.kubectl.verb import Verb

VERB = Verb(
    name="set",
    usage="set SUBCOMMAND",
    summary="Changes parts of workloads, services and role bindings.",
    subverbs={verb.name: verb for verb in discover(sys.modules[__name__], "VERB", Verb).values()},
    source="k8s.io/kubectl pkg/cmd/set",
)
