"""`kubectl rollout`: the group of its sub-commands."""

from __future__ import annotations

import sys

from env_core.discovery import discover
from env_core.kubectl.verb import Verb

VERB = Verb(
    name="rollout",
    usage="rollout SUBCOMMAND",
    summary="Looks after the rollout of a workload.",
    subverbs={verb.name: verb for verb in discover(sys.modules[__name__], "VERB", Verb).values()},
    helps_on_stdout=True,
    source="k8s.io/kubectl pkg/cmd/rollout",
)
