"""`kubectl expose`: a service for what is there."""

from __future__ import annotations

import re
from dataclasses import dataclass

from env_core.apiserver.errors import StatusError
from env_core.kubectl import pods
from env_core.kubectl.context import Context
from env_core.kubectl.dry_run import dry_run_of
from env_core.kubectl.govalues import as_int32
from env_core.kubectl.last_applied import saved
from env_core.kubectl.overrides import OVERRIDE_FLAGS, overridden
from env_core.kubectl.pairs import read_labels
from env_core.kubectl.resolve import Info, select
from env_core.kubectl.screen import Failure, raise_all
from env_core.kubectl.verb import DRY_RUN, FILE_FLAGS, PRINT_FLAGS, Args, Flag, Verb, field_manager
from env_core.kubectl.writes import SAVE_CONFIG, as_typed, options_of, result_printer_of
from env_core.objects.int_or_percent import parse_int_or_string
from env_core.objects.problems import quoted
from env_core.world import Object, Output

_EXPOSABLE = (
    ("", "ReplicationController"),
    ("", "Service"),
    ("", "Pod"),
    ("apps", "Deployment"),
    ("apps", "ReplicaSet"),
)
_INTROSPECTED = "couldn't find port via --port flag or introspection"
_INTEGER = re.compile(r"[+-]?[0-9]+\Z")
_NAME_LENGTH_MAX = 63


@dataclass(slots=True)
class _Wanted:
    """What the service is made of; the first object's answers stay for those after it."""

    selector: dict[str, str] | None
    labels: dict[str, str] | None
    ports: list[str]


def _run(ctx: Context, args: Args) -> Output:
    dry_run = dry_run_of(ctx, args)
    printer = result_printer_of(ctx, args, dry_run, is_typed=True)("exposed")
    selection = select(ctx, args, args.positional, label_selector="", is_typed=True)
    infos, errors = selection.read(ctx)
    port = args.text("port")
    wanted = _Wanted(None, None, [port] if port else [])
    failures: list[Exception] = []
    for info in infos:
        try:
            obj = overridden(args, as_typed(_service(args, info, wanted)))
            if dry_run == "client":
                if ctx.is_namespace_explicit:
                    obj = {**obj, "metadata": {**obj["metadata"], "namespace": ctx.namespace}}
            else:
                obj = saved(obj, is_wanted=args.is_set("save-config"), is_typed=True)
                obj = ctx.api.create("services", ctx.namespace, obj, options=options_of(args, dry_run))
            printer.print(obj, args.screen)
        except (Failure, StatusError) as error:
            failures.append(error)
    raise_all([*failures, *errors])
    return args.screen.done()


def _service(args: Args, info: Info, wanted: _Wanted) -> Object:
    pods.refuse_custom(info)
    kind = info.kind
    if (kind.group, kind.kind) not in _EXPOSABLE:
        raise Failure(
            f"cannot expose a {kind.kind}.{kind.group}" if kind.group else f"cannot expose a {kind.kind}"
        )
    obj = info.found()
    if wanted.selector is None:
        wanted.selector = _labels(args.text("selector")) if args.text("selector") else _selector_of(info, obj)
    if not wanted.selector:
        raise Failure("selector must be specified")
    is_headless = args.text("cluster-ip") == "None"
    if not wanted.ports:
        wanted.ports = _ports_of(info, obj)
        if not wanted.ports and not is_headless:
            raise Failure(_INTROSPECTED)
    protocols = _protocols_of(info, obj)
    if wanted.labels is None:
        if args.text("labels"):
            wanted.labels = _labels(args.text("labels"))
        else:
            wanted.labels = dict((obj.get("metadata") or {}).get("labels") or {})
    name = args.text("name") or info.name[:_NAME_LENGTH_MAX]
    metadata: Object = {"name": name}
    if wanted.labels:
        metadata["labels"] = wanted.labels
    spec: Object = {"selector": wanted.selector}
    ports = _service_ports(args, wanted.ports, protocols)
    if ports:
        spec["ports"] = ports
    _add_details(args, spec)
    return {"apiVersion": "v1", "kind": "Service", "metadata": metadata, "spec": spec}


def _labels(text: str) -> dict[str, str]:
    return read_labels(text)


def _add_details(args: Args, spec: Object) -> None:
    if args.text("external-ip"):
        spec["externalIPs"] = [args.text("external-ip")]
    if args.text("type"):
        spec["type"] = args.text("type")
    if args.text("type") == "LoadBalancer" and args.text("load-balancer-ip"):
        spec["loadBalancerIP"] = args.text("load-balancer-ip")
    affinity = args.text("session-affinity")
    if affinity:
        if affinity not in ("None", "ClientIP"):
            raise Failure(f"unknown session affinity: {affinity}")
        spec["sessionAffinity"] = affinity
    if args.text("cluster-ip"):
        spec["clusterIP"] = args.text("cluster-ip")


def _selector_of(info: Info, obj: Object) -> dict[str, str]:
    head = "couldn't retrieve selectors via --selector flag or introspection: "
    spec = obj.get("spec") or {}
    kind = info.kind.kind
    if kind == "Pod":
        labels = (obj.get("metadata") or {}).get("labels") or {}
        if not labels:
            raise Failure(f"{head}the pod has no labels and cannot be exposed")
        return dict(labels)
    if kind == "Service":
        if not spec.get("selector"):
            raise Failure(f"{head}the service has no pod selector set")
        return dict(spec["selector"])
    if kind == "ReplicationController":
        return dict(spec.get("selector") or {})
    selector = spec.get("selector") or {}
    if not selector.get("matchLabels"):
        raise Failure(f"{head}invalid {kind.lower()}: no selectors, therefore cannot be exposed")
    if selector.get("matchExpressions"):
        shown = " ".join(
            f"{{Key:{item['key']} Operator:{item['operator']} Values:[{' '.join(item.get('values') or ())}]}}"
            for item in selector["matchExpressions"]
        )
        raise Failure(f'{head}couldn\'t convert expressions - "[{shown}]" to map-based selector format')
    return dict(selector["matchLabels"])


def _container_ports(info: Info, obj: Object) -> list[Object]:
    spec = obj.get("spec") or {}
    if info.kind.kind != "Pod":
        spec = (spec.get("template") or {}).get("spec") or {}
    return [port for container in spec.get("containers") or () for port in container.get("ports") or ()]


def _ports_of(info: Info, obj: Object) -> list[str]:
    if info.kind.kind == "Service":
        found = [str(port["port"]) for port in (obj.get("spec") or {}).get("ports") or ()]
    else:
        found = [str(port["containerPort"]) for port in _container_ports(info, obj)]
    return list(dict.fromkeys(found))


def _protocols_of(info: Info, obj: Object) -> dict[str, list[str]]:
    """Return the protocols of every port."""
    found: dict[str, list[str]] = {}
    if info.kind.kind == "Service":
        rows = [(str(port["port"]), port) for port in (obj.get("spec") or {}).get("ports") or ()]
    else:
        rows = [(str(port["containerPort"]), port) for port in _container_ports(info, obj)]
    for number, port in rows:
        protocols = found.setdefault(number, [])
        protocol = port.get("protocol") or "TCP"
        if protocol not in protocols:
            protocols.append(protocol)
    return found


def _service_ports(args: Args, texts: list[str], protocols: dict[str, list[str]]) -> list[Object]:
    texts = [text for joined in texts for text in joined.split(",")]
    target = args.text("target-port")
    ports: list[Object] = []
    for index, text in enumerate(texts, 1):
        if not _INTEGER.match(text):
            raise Failure(f"strconv.Atoi: parsing {quoted(text)}: invalid syntax")
        number = as_int32(int(text))
        name = f"port-{index}" if len(texts) > 1 else ""
        known = protocols.get(text, [])
        if args.text("protocol"):
            rows = [(name, args.text("protocol"))]
        elif len(known) > 1:
            rows = [(f"port-{index}-{protocol.lower()}", protocol) for protocol in known]
        else:
            rows = [(name, known[0] if known else "TCP")]
        for row_name, protocol in rows:
            port: Object = {"port": number, "protocol": protocol}
            port["targetPort"] = parse_int_or_string(target) if target else number
            if row_name:
                port["name"] = row_name
            ports.append(port)
    return ports


VERB = Verb(
    name="expose",
    usage=(
        "expose (-f FILENAME | TYPE NAME) [--port=port] [--protocol=TCP|UDP|SCTP] [--target-port=number-or-name] "
        "[--name=name] [--external-ip=external-ip-of-service] [--type=type]"
    ),
    summary="Creates a service for a workload, pod or service.",
    flags=(
        *PRINT_FLAGS,
        *FILE_FLAGS,
        *OVERRIDE_FLAGS,
        DRY_RUN,
        SAVE_CONFIG,
        field_manager("kubectl-expose"),
        Flag("cluster-ip", str, words="Cluster IP, or None."),
        Flag("external-ip", str, words="Another address of the service."),
        Flag("labels", str, shorthand="l", words="Labels of the service."),
        Flag("load-balancer-ip", str, words="Address of the load balancer."),
        Flag("name", str, words="Name of the service."),
        Flag("port", str, words="Port of the service."),
        Flag("protocol", str, words="TCP, UDP or SCTP."),
        Flag("selector", str, words="Selector of the service."),
        Flag("session-affinity", str, words="None or ClientIP."),
        Flag("target-port", str, words="Port of the container, by number or name."),
        Flag("type", str, words="Type of the service."),
    ),
    run=_run,
    source="k8s.io/kubectl pkg/cmd/expose",
)
