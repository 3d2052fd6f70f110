"""What the service generators share: ports, and the service itself.

Source: k8s.io/kubectl pkg/cmd/create create_service.go; tests/golden/l0/kubectl_commands.
"""

from __future__ import annotations

import re

from env_core.kubectl.context import Context
from env_core.kubectl.govalues import as_int32
from env_core.kubectl.screen import Failure
from env_core.kubectl.verb import Args, Flag, Slice
from env_core.kubectl.verbs.create._generator import create_generated, metadata_of, name_argument
from env_core.objects import names
from env_core.objects.problems import quoted
from env_core.world import Object, Output

TCP = Flag("tcp", Slice, words="Pairs PORT:TARGETPORT.")
_DIGITS = re.compile(r"[0-9]+\Z")
_SIGNED = re.compile(r"[+-]?[0-9]+\Z")


def run_service(ctx: Context, args: Args, service_type: str) -> Output:
    """Create a service of a type from the flags.

    Raises:
        Failure: for flags that make no service.
    """
    name = name_argument(args)
    cluster_ip = args.text("clusterip") if args.has("clusterip") else ""
    external_name = args.text("external-name") if args.has("external-name") else ""
    if cluster_ip != "None" and not args.items("tcp") and service_type != "ExternalName":
        raise Failure("at least one tcp port specifier must be provided")
    if service_type == "ExternalName" and names.is_dns1123_subdomain(external_name):
        raise Failure(f"invalid service external name {external_name}")
    node_port = args.number("node-port") if args.has("node-port") else 0
    spec: Object = {"selector": {"app": name}, "type": service_type}
    ports = [_port(text, node_port) for text in args.items("tcp")]
    if ports:
        spec["ports"] = ports
    if external_name:
        spec["externalName"] = external_name
    if cluster_ip:
        spec["clusterIP"] = cluster_ip
    obj = {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {**metadata_of(ctx, name), "labels": {"app": name}},
        "spec": spec,
    }
    return create_generated(ctx, args, "services", obj, f"failed to create {service_type} service: ")


def _port(text: str, node_port: int) -> Object:
    parts = text.split(":")
    port = parse_port(parts[0])
    target: int | str = port
    if len(parts) > 1:
        if _SIGNED.match(parts[1]):
            target = int(parts[1])
            complaints = names.is_port_number(target)
        else:
            target = parts[1]
            complaints = names.is_port_name(target)
        if complaints:
            raise Failure(",".join(complaints))
    found: Object = {"name": text.replace(":", "-"), "port": port, "protocol": "TCP", "targetPort": target}
    if node_port:
        found["nodePort"] = as_int32(node_port)
    return found


def parse_port(text: str) -> int:
    """Return a port number, zero allowed.

    Raises:
        Failure: in the words of Go's strconv.
    """
    if not _DIGITS.match(text):
        raise Failure(f"strconv.ParseUint: parsing {quoted(text)}: invalid syntax")
    if int(text) > 65535:
        raise Failure(f"strconv.ParseUint: parsing {quoted(text)}: value out of range")
    return int(text)
