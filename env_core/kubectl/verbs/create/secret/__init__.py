"""`kubectl create secret`: the group of its sub-commands."""

from __future__ import annotations

import sys

from env_core.discovery import discover
from env_core.kubectl.verb import Verb

VERB = Verb(
    name="secret",
    usage="create secret (docker-registry | generic | tls)",
    summary="Creates a secret of one type.",
    subverbs={verb.name: verb for verb in discover(sys.modules[__name__], "VERB", Verb).values()},
    source="k8s.io/kubectl pkg/cmd/create create_secret.go",
)
