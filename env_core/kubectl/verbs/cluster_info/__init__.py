"""`kubectl cluster-info`: where the control plane and its services are."""

from __future__ import annotations

import sys

from env_core.discovery import discover
from env_core.kubectl.context import Context
from env_core.kubectl.verb import Args, Verb
from env_core.world import Object, Output

_HINT = "\nTo further debug and diagnose cluster problems, use 'kubectl cluster-info dump'.\n"


def _run(ctx: Context, args: Args) -> Output:
    services = ctx.api.list("services", "kube-system", label_selector="kubernetes.io/cluster-service=true")
    args.screen.out(f"Kubernetes control plane is running at {ctx.server}\n")
    for service in services:
        metadata = service["metadata"]
        name = (metadata.get("labels") or {}).get("kubernetes.io/name") or metadata["name"]
        args.screen.out(f"{name} is running at {_address(ctx, service)}\n")
    args.screen.out(_HINT)
    return args.screen.done()


def _address(ctx: Context, service: Object) -> str:
    metadata, spec = service["metadata"], service.get("spec") or {}
    ports = spec.get("ports") or []
    ingress = ((service.get("status") or {}).get("loadBalancer") or {}).get("ingress") or []
    if ingress:
        host = ingress[0].get("ip") or ingress[0].get("hostname", "")
        return " ".join(f"http://{host}:{port['port']}" for port in ports)
    name = metadata["name"]
    if ports:
        first = ports[0]
        if first.get("port") == 443 or first.get("name") == "https":
            name = f"https:{name}"
        if first.get("name"):
            name = f"{name}:{first['name']}"
    return f"{ctx.server}/api/v1/namespaces/{metadata['namespace']}/services/{name}/proxy"


VERB = Verb(
    name="cluster-info",
    usage="cluster-info [flags]",
    summary="Tells where the control plane and its services are.",
    subverbs={verb.name: verb for verb in discover(sys.modules[__name__], "VERB", Verb).values()},
    run=_run,
    source="k8s.io/kubectl pkg/cmd/clusterinfo",
)
