"""`kubectl plugin`: the group of its sub-command."""

from __future__ import annotations

import sys

from env_core.discovery import discover
from env_core.kubectl.verb import Verb

VERB = Verb(
    name="plugin",
    usage="plugin [flags]",
    summary="Looks for plugins.",
    subverbs={verb.name: verb for verb in discover(sys.modules[__name__], "VERB", Verb).values()},
    source="k8s.io/kubectl pkg/cmd/plugin",
)
