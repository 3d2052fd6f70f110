"""`kubectl certificate`: the group of its sub-commands."""

from __future__ import annotations

import sys

from env_core.discovery import discover
from env_core.kubectl.verb import Verb

VERB = Verb(
    name="certificate",
    usage="certificate SUBCOMMAND",
    summary="Approves or denies certificate signing requests.",
    subverbs={verb.name: verb for verb in discover(sys.modules[__name__], "VERB", Verb).values()},
    helps_on_stdout=True,
    source="k8s.io/kubectl pkg/cmd/certificates",
)
