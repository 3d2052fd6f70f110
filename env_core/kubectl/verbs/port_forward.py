"""`kubectl port-forward`: checked as far as the client checks, then refused: this terminal has no ports."""

from __future__ import annotations

import re

from env_core.kubectl import pods
from env_core.kubectl.context import Context
from env_core.kubectl.resolve import select_one
from env_core.kubectl.screen import Failure, usage_failure
from env_core.kubectl.verb import Args, Duration, Flag, Slice, Verb
from env_core.world import Object, Output

_INTEGER = re.compile(r"[+-]?[0-9]+\Z")


def _run(ctx: Context, args: Args) -> Output:
    words = args.positional
    if len(words) < 2:
        raise usage_failure(args.path, "TYPE/NAME and list of ports are required for port-forward")
    info = select_one(ctx, args, words[0], "pods").fetch(ctx)
    pods.refuse_custom(info)
    obj = info.found()
    pod = obj
    if info.kind.kind != "Pod":
        selector = pods.pod_selector(info, "cannot attach to")
        pod, _ = pods.first_pod(
            ctx, info.namespace, selector, args.number("pod-running-timeout"), pods.by_activity
        )
    for text in words[1:]:
        if info.kind.kind == "Service":
            _check_service_port(obj, pod, text)
        else:
            _check_pod_port(pod, text)
    phase = (pod.get("status") or {}).get("phase", "")
    if phase != "Running":
        raise Failure(f"unable to forward port because pod is not running. Current status={phase}")
    name = pod["metadata"]["name"]
    raise Failure(
        f"port-forward is not simulated: nothing in this terminal can listen on a port; "
        f"use kubectl exec {name} -- COMMAND, or kubectl run to reach it from inside the cluster"
    )


def _remote(text: str) -> str:
    parts = text.split(":")
    return parts[1] if len(parts) == 2 else parts[0]


def _check_pod_port(pod: Object, text: str) -> None:
    remote = _remote(text)
    name = pod["metadata"]["name"]
    ports = [port for container in pod["spec"]["containers"] for port in container.get("ports") or ()]
    if not remote:
        raise Failure("remote port cannot be empty")
    if _INTEGER.match(remote):
        number = int(remote)
    else:
        named = [port for port in ports if port.get("name") == remote]
        if not named:
            raise Failure(f"Pod '{name}' does not have a named port '{remote}'")
        number = named[0]["containerPort"]
    _refuse_udp([(port["containerPort"], port.get("protocol", "TCP")) for port in ports], number, remote)


def _check_service_port(service: Object, pod: Object, text: str) -> None:
    remote = _remote(text)
    name = service["metadata"]["name"]
    ports = (service.get("spec") or {}).get("ports") or []
    if _INTEGER.match(remote):
        number = int(remote)
    else:
        named = [port for port in ports if port.get("name") == remote]
        if not named:
            raise Failure(f"Service '{name}' does not have a named port '{remote}'")
        number = named[0]["port"]
    _refuse_udp([(port["port"], port.get("protocol", "TCP")) for port in ports], number, remote)
    found = [port for port in ports if port["port"] == number]
    if not found:
        raise Failure(f"Service {name} does not have a service port {number}")
    target = found[0].get("targetPort", number)
    if (service.get("spec") or {}).get("clusterIP") == "None" or not isinstance(target, str):
        return
    containers = pod["spec"]["containers"]
    if not any(port.get("name") == target for one in containers for port in one.get("ports") or ()):
        raise Failure(f"Pod '{pod['metadata']['name']}' does not have a named port '{target}'")


def _refuse_udp(ports: list[tuple[int, str]], number: int, remote: str) -> None:
    protocols = {protocol for port, protocol in ports if port == number}
    if "UDP" in protocols and "TCP" not in protocols:
        raise Failure(f"UDP protocol is not supported for {remote}")


VERB = Verb(
    name="port-forward",
    usage="port-forward TYPE/NAME [options] [LOCAL_PORT:]REMOTE_PORT [...[LOCAL_PORT_N:]REMOTE_PORT_N]",
    summary="Forwards local ports to a pod.",
    flags=(
        Flag("address", Slice, default=("localhost",), words="Addresses to listen on."),
        Flag("pod-running-timeout", Duration, default="1m0s", words="How long to wait for a pod."),
    ),
    run=_run,
    source="k8s.io/kubectl pkg/cmd/portforward",
    unrecorded="forwarding itself: it is refused",
)
