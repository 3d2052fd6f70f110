"""`kubectl create ingress`."""

from __future__ import annotations

import re

from env_core.kubectl.context import Context
from env_core.kubectl.screen import Failure
from env_core.kubectl.verb import Args, Array, Flag, Verb
from env_core.kubectl.verbs.create._generator import (
    GENERATOR_FLAGS,
    create_generated,
    metadata_of,
    name_argument,
)
from env_core.objects.int_or_percent import parse_int_or_string
from env_core.world import Object, Output

_RULE = re.compile(r"([\w*\-.]*)(/.*)=([\w\-]+):([\w\-]+)(,(tls)=?([\w\-]+)?)?", re.ASCII)


def _run(ctx: Context, args: Args) -> Output:
    name = name_argument(args)
    rules, backend = args.items("rule"), args.text("default-backend")
    if not backend and not rules:
        raise Failure(
            "not enough information provided: every ingress has to either specify a default-backend (which catches all "
            "traffic) or a list of rules (which catch specific paths)"
        )
    for rule in rules:
        if not _RULE.match(rule):
            raise Failure(
                f"rule {rule} is invalid and should be in format host/path=svcname:svcport[,tls[=secret]]"
            )
    annotations: dict[str, str] = {}
    for text in args.items("annotation"):
        key, equals, value = text.partition("=")
        if not equals:
            raise Failure(f"annotation {text} is invalid and should be in format key=[value]")
        annotations[key] = value
    if backend and len(backend.split(":")) != 2:
        raise Failure("default-backend should be in format servicename:serviceport")
    metadata = metadata_of(ctx, name)
    if annotations:
        metadata["annotations"] = annotations
    obj = {
        "apiVersion": "networking.k8s.io/v1",
        "kind": "Ingress",
        "metadata": metadata,
        "spec": _spec(args.text("class"), backend, rules),
    }
    return create_generated(ctx, args, "ingresses.networking.k8s.io", obj, "failed to create ingress: ")


def _spec(class_name: str, backend: str, rules: tuple[str, ...]) -> Object:
    spec: Object = {}
    if class_name:
        spec["ingressClassName"] = class_name
    if backend:
        spec["defaultBackend"] = _backend(backend)
    tls = _tls(rules)
    if tls:
        spec["tls"] = tls
    by_host: dict[str, list[Object]] = {}
    for rule in rules:
        host, _, rest = rule.partition(",")[0].partition("/")
        by_host.setdefault(host, []).append(_path(rest))
    if by_host:
        spec["rules"] = [
            {**({"host": host} if host else {}), "http": {"paths": paths}} for host, paths in by_host.items()
        ]
    return spec


def _path(text: str) -> Object:
    path, _, service = text.partition("=")
    path = f"/{path}"
    is_prefix = path.endswith("*")
    return {
        "path": path[:-1] if is_prefix else path,
        "pathType": "Prefix" if is_prefix else "Exact",
        "backend": _backend(service),
    }


def _backend(text: str) -> Object:
    name, _, port_text = text.partition(":")
    port = parse_int_or_string(port_text)
    return {"service": {"name": name, "port": {"number": port} if isinstance(port, int) else {"name": port}}}


def _tls(rules: tuple[str, ...]) -> list[Object]:
    """Return the hosts with TLS, those of one secret together; a host counts once."""
    seen: set[str] = set()
    found: list[Object] = []
    for rule in rules:
        parts = rule.split(",")
        if len(parts) != 2:
            continue
        host = rule.partition("/")[0]
        if host in seen:
            continue
        seen.add(host)
        secret = parts[1].partition("=")[2]
        known = next((entry for entry in found if entry.get("secretName", "") == secret), None)
        if known is not None:
            known.setdefault("hosts", []).append(host)
            continue
        entry: Object = {}
        if host:
            entry["hosts"] = [host]
        if secret:
            entry["secretName"] = secret
        if entry:
            found.append(entry)
    return found


VERB = Verb(
    name="ingress",
    usage="create ingress NAME --rule=host/path=service:port[,tls[=secret]] ",
    aliases=("ing",),
    summary="Creates an ingress.",
    flags=(
        *GENERATOR_FLAGS,
        Flag("annotation", Array, words="KEY=VALUE."),
        Flag("class", str, words="Class of the ingress."),
        Flag("default-backend", str, words="SERVICE:PORT for everything else."),
        Flag("rule", Array, words="HOST/PATH=SERVICE:PORT[,tls[=SECRET]]."),
    ),
    run=_run,
    source="k8s.io/kubectl pkg/cmd/create create_ingress.go",
)
