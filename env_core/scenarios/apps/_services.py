"""Parts of applications: our own services as Deployments with all that belongs to one, and what is known of them."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from env_core.apiserver.client import ApiClient
from env_core.programs._service_model import JAVA, Product, common, tags
from env_core.programs._service_starting import working_set_bytes
from env_core.scenarios import loader
from env_core.scenarios._app import CREDENTIAL, SETTING, UPSTREAM, Need, Workload
from env_core.world import Object

CONFIG: Final = "configmaps"
SECRET: Final = "secrets"
_PARTS: Final = "apps/_parts"
_MIB: Final = 1 << 20
_ROLLING: Final = {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 1, "maxUnavailable": 0}}
_MARGIN: Final = 1.6
"""Memory limits over the working set, as owners who have measured set them."""


class Setting(NamedTuple):
    """The value of a variable and where a workload takes it from."""

    value: str
    kind: str = SETTING
    source: str = CONFIG
    name: str = ""
    """The object; "" with CONFIG for the service's own map."""
    key: str = ""
    """"" for the variable's own name."""
    target: str = ""
    """For an UPSTREAM, the role behind it."""


def literal(value: str) -> Setting:
    """Return a value that stands in the pod template itself."""
    return Setting(value, source="")


def upstream(value: str, target: str, source: str = CONFIG) -> Setting:
    """Return the address of another workload's Service."""
    return Setting(value, UPSTREAM, source, target=target)


def credential(value: str, name: str, key: str) -> Setting:
    """Return a value from a Secret."""
    return Setting(value, CREDENTIAL, SECRET, name, key)


@dataclass(frozen=True, slots=True, kw_only=True)
class Style:
    """How an application's owners name, label and size what they run: the same for all of its services."""

    part_of: str
    naming: str
    """With %s for the service's own name."""
    label: str
    """The label key of selectors."""
    prefix: str
    """Where the team's images are."""
    service_port: int = 80
    has_named_ports: bool = True
    """Whether probes and Services name the container's port."""
    has_budgets: bool = True
    replicas_scale: int = 0
    """How many replicas more than usual."""

    def named(self, word: str) -> str:
        """Return the object name of a service."""
        return self.naming % word

    def url(self, name: str, namespace: str = "") -> str:
        """Return the base URL of a Service, with its namespace where it is another one."""
        host = f"{name}.{namespace}.svc.cluster.local" if namespace else name
        return f"http://{host}" if self.service_port == 80 else f"http://{host}:{self.service_port}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """One of our services in one application."""

    role: str
    word: str
    """Its name as the owners' style takes it."""
    product: Product
    namespace: str
    settings: Mapping[str, Setting]
    replicas: int = 2
    cpu_request: int = 50
    cpu_limit: int = 500
    peak_millis: int = 200
    replicas_max: int = 0
    """Of its autoscaler; 0 for none."""
    tolerations: tuple[Object, ...] = ()
    node_selector: Mapping[str, str] = field(default_factory=dict)
    tag: str = ""
    """"" for the present release."""
    container: str = ""
    """The container's name; "" for the service's word."""
    claim: str = ""
    """A PersistentVolumeClaim that it mounts alone, so that its pods are replaced one after the other."""
    claim_path: str = ""
    is_shared: bool = False


def selector_of(style: Style, part: Part) -> dict[str, str]:
    """Return the labels by which a service's pods are selected."""
    return {style.label: style.named(part.word)}


def workload(style: Style, part: Part) -> Workload:
    """Return what its owners know of a service."""
    product = part.product
    known = tags(product)
    env = {name: setting.value for name, setting in part.settings.items()}
    name = style.named(part.word)
    return Workload(
        role=part.role,
        namespace=part.namespace,
        name=name,
        container=part.container or part.word,
        image=f"{style.prefix}/{product.name}:{known.present}",
        labels=selector_of(style, part),
        replicas=part.replicas + style.replicas_scale,
        service=name,
        service_port=style.service_port,
        container_port=int(env.get("PORT", product.port)),
        port_name="http",
        health_path="/healthz",
        ready_path="/readyz",
        needs=tuple(_need(name, product, variable, setting) for variable, setting in part.settings.items()),
        working_set_bytes=working_set_bytes(product, env) + (2 << 20),
        peak_millis=part.peak_millis,
        start_ms=product.start_ms + product.start_cpu_ms,
        earlier_tags=known.earlier,
        later_tags=known.later,
        leaking_tags=known.leaking,
        failing_tags=known.failing,
        slow_tags=known.slow,
        claims=(part.claim,) if part.claim else (),
        is_shared=part.is_shared,
    )


def _need(name: str, product: Product, variable: str, setting: Setting) -> Need:
    source_name = setting.name or (f"{name}-config" if setting.source == CONFIG else "")
    return Need(
        variable=variable,
        kind=setting.kind,
        source=setting.source,
        name=source_name,
        key=(setting.key or variable) if setting.source else "",
        value=setting.value,
        target=setting.target,
        is_required=variable in required(product),
    )


def required(product: Product) -> tuple[str, ...]:
    """Return the variables without which a product ends."""
    return tuple(variable.name for variable in common(product) if variable.default is None)


def memory_limit_mb(style: Style, part: Part) -> int:
    """Return a service's memory limit in MiB: its working set and a margin, in steps of 16."""
    used_mb = workload(style, part).working_set_bytes * _MARGIN / _MIB
    return (int(used_mb) // 16 + 1) * 16


def apply_service(client: ApiClient, style: Style, part: Part) -> Workload:
    """Create a service's objects; raises `StatusError` if the API refuses one."""
    known = workload(style, part)
    values = _values(style, part, known)
    if json.loads(values["data"]):
        _create(client, "config", values)
    files = ["account", "deployment", "service"]
    if style.has_budgets and known.replicas > 1:
        files.append("budget")
    if part.replicas_max:
        files.append("autoscaler")
    for name in files:
        _create(client, name, values)
    return known


def isolate(
    client: ApiClient,
    known: Mapping[str, Workload],
    callers: Mapping[str, Sequence[str]],
    from_ingress: Collection[str],
    labels: Mapping[str, Mapping[str, str]],
) -> None:
    """Close the workloads' namespace, but for DNS and what each workload's callers need.

    `callers` are roles, and `labels` says, by role, how its pods are known.
    """
    namespace = next(iter(known.values())).namespace
    loader.create_filled(client, f"{_PARTS}/isolation.yaml", {"namespace": namespace})
    for role, names in callers.items():
        sources: list[Object] = [{"podSelector": {"matchLabels": dict(labels[name])}} for name in names]
        if role in from_ingress:
            spaces = {"matchLabels": {"kubernetes.io/metadata.name": "kube-system"}}
            pods = {"matchLabels": {"app.kubernetes.io/name": "traefik"}}
            sources.append({"namespaceSelector": spaces, "podSelector": pods})
        values = {
            "name": known[role].name, "namespace": namespace, "selector": json.dumps(dict(known[role].labels)),
            "callers": json.dumps(sources), "container_port": str(known[role].container_port),
        }  # fmt: skip
        loader.create_filled(client, f"{_PARTS}/allow.yaml", values)


def _create(client: ApiClient, name: str, values: Mapping[str, str]) -> None:
    loader.create_filled(client, f"{_PARTS}/{name}.yaml", values)


def _values(style: Style, part: Part, known: Workload) -> dict[str, str]:
    own, plain = f"{known.name}-config", {}
    env: list[Object] = []
    for variable, setting in part.settings.items():
        if setting.source == CONFIG and setting.name in ("", own):
            plain[setting.key or variable] = setting.value
        elif setting.source:
            field_name = "configMapKeyRef" if setting.source == CONFIG else "secretKeyRef"
            found = {"name": setting.name, "key": setting.key or variable}
            env.append({"name": variable, "valueFrom": {field_name: found}})
        else:
            env.append({"name": variable, "value": setting.value})
    labels = {**known.labels, "app.kubernetes.io/part-of": style.part_of}
    limit_mb = memory_limit_mb(style, part)
    port: str | int = known.port_name if style.has_named_ports else known.container_port
    startup = {"httpGet": {"path": "/healthz", "port": port}, "periodSeconds": 3, "failureThreshold": 20}
    return {
        "name": known.name,
        "namespace": known.namespace,
        "labels": json.dumps(labels),
        "selector": json.dumps(known.labels),
        "pod_labels": json.dumps({**labels, "app.kubernetes.io/component": part.role}),
        "data": json.dumps(plain),
        "env_from": json.dumps([{"configMapRef": {"name": own}}] if plain else []),
        "env": json.dumps(env),
        "replicas": str(known.replicas),
        "replicas_max": str(part.replicas_max),
        "tag": part.tag or known.tag,
        "container": known.container,
        "image": f"{style.prefix}/{part.product.name}:{part.tag or known.tag}",
        "port_name": known.port_name,
        "container_port": str(known.container_port),
        "probe_port": str(port),
        "target_port": str(port),
        "service_port": str(known.service_port),
        "startup_probe": json.dumps(startup if part.product.language == JAVA else None),
        "ready_period": "5",
        "cpu_request": f"{part.cpu_request}m",
        "cpu_limit": f"{part.cpu_limit}m",
        "memory_request": f"{limit_mb // 2}Mi",
        "memory_limit": f"{limit_mb}Mi",
        "tolerations": json.dumps(part.tolerations),
        "strategy": json.dumps({"type": "Recreate"} if part.claim else _ROLLING),
        "mounts": json.dumps([{"name": "data", "mountPath": part.claim_path}] if part.claim else None),
        "volumes": json.dumps(
            [{"name": "data", "persistentVolumeClaim": {"claimName": part.claim}}] if part.claim else None
        ),
        "node_selector": json.dumps(dict(part.node_selector)),
    }
