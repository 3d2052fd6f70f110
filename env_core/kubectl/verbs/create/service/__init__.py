"""`kubectl create service`: the group of its sub-commands."""

from __future__ import annotations

import sys

from env_core.discovery import discover
from env_core.kubectl.verb import Verb

VERB = Verb(
    name="service",
    usage="create service [flags]",
    aliases=("svc",),
    summary="Creates a service of one type.",
    subverbs={verb.name: verb for verb in discover(sys.modules[__name__], "VERB", Verb).values()},
    source="k8s.io/kubectl pkg/cmd/create create_service.go",
)
