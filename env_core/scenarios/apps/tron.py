"""The tron pair: a web server with a bridge beside it, and the Redis that the bridge reads."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from env_core.scenarios import loader
from env_core.scenarios._app import SETTING, UPSTREAM, App, Base, Entry, Need, Workload
from env_core.scenarios.apps import _history
from env_core.scenarios.platform import DELIVERY, wait_healthy, with_platform


@dataclass(frozen=True, slots=True, kw_only=True)
class _Variant:
    namespace: str
    team: str
    web: str
    cache: str
    bridge: str
    label: str
    host: str
    replicas: int
    neighbour: tuple[str, str]


_VARIANTS: Final = (
    _Variant(
        namespace="tron", team="arcade", web="nginx", cache="redis", bridge="redis-bridge", label="app", host="tron.localhost", replicas=1,
        neighbour=("docs", "writers"),
    ),
    _Variant(
        namespace="grid", team="arcade", web="grid-web", cache="grid-cache", bridge="bridge", label="app.kubernetes.io/name",
        host="grid.example.com", replicas=2, neighbour=("arena", "arcade"),
    ),
    _Variant(
        namespace="telemetry", team="signals", web="edge", cache="store", bridge="reader", label="k8s-app", host="data.example.net", replicas=3,
        neighbour=("playground", "interns"),
    ),
    _Variant(
        namespace="kiosk-prod", team="kiosk", web="kiosk", cache="kiosk-data", bridge="data-bridge", label="service",
        host="kiosk.example.org", replicas=2, neighbour=("press", "press"),
    ),
)  # fmt: skip


def _settings(variant: _Variant) -> str:
    return "app-config" if variant.namespace == "tron" else f"{variant.web}-settings"


def _key(variant: _Variant) -> str:
    return f"{variant.namespace}:data"


def _workloads(variant: _Variant) -> dict[str, Workload]:
    labels = {variant.label: variant.web}
    settings = _settings(variant)

    def need(variable: str, value: str, kind: str = SETTING, target: str = "") -> Need:
        return Need(
            variable=variable, kind=kind, source="configmaps", name=settings, key=variable, value=value, target=target,
            is_required=variable == "REDIS_HOST",
        )  # fmt: skip

    return {
        "web": Workload(
            role="web", namespace=variant.namespace, name=variant.web, container="nginx", image="nginx:1.27-alpine", labels=labels,
            replicas=variant.replicas, service=variant.web, service_port=80, container_port=8080, port_name="http", health_path="/health",
            ready_path="/health", working_set_bytes=6 << 20, peak_millis=50, start_ms=100, earlier_tags=("1.26-alpine",),
            later_tags=("1.28-alpine",),
        ),
        "bridge": Workload(
            role="bridge", namespace=variant.namespace, name=variant.web, container=variant.bridge, image="python:3.12-alpine",
            labels=labels, replicas=variant.replicas, container_port=9000, port_name="bridge",
            needs=(
                need("REDIS_HOST", variant.cache, UPSTREAM, "cache"), need("REDIS_PORT", "6379"), need("REDIS_KEY", _key(variant)),
                need("BRIDGE_CPU_BURN_MS", "0"), need("BRIDGE_MEMORY_BURST_MB", "0"),
            ),
            working_set_bytes=12 << 20, peak_millis=80, start_ms=120, earlier_tags=("3.11-alpine",), later_tags=("3.13-alpine",),
        ),
        "cache": Workload(
            role="cache", namespace=variant.namespace, name=variant.cache, container="redis", image="redis:7-alpine",
            labels={variant.label: variant.cache}, service=variant.cache, service_port=6379, container_port=6379, port_name="redis",
            working_set_bytes=12 << 20, peak_millis=50, start_ms=40, earlier_tags=("7.2-alpine",), later_tags=("8.0-alpine",),
        ),
    }  # fmt: skip


def _build(number: int) -> Base:
    variant = _VARIANTS[number]
    cluster = with_platform(200 + number)
    values = {
        "namespace": variant.namespace, "team": variant.team, "web": variant.web, "cache": variant.cache, "bridge": variant.bridge,
        "label": variant.label, "host": variant.host, "replicas": str(variant.replicas), "settings": _settings(variant),
        "key": _key(variant), "ingress": "tron-ingress" if number == 0 else f"{variant.web}-edge",
    }  # fmt: skip
    loader.apply_filled(cluster.client(), "apps/tron", values)
    wait_healthy(cluster, variant.namespace)
    _history.neighbour(cluster, *variant.neighbour)
    cluster.advance((9 + number) * _history.MINUTE_MS)
    _history.mistype_once(cluster, variant.namespace, "redis:7-alpne")
    notes = {"delivery.example.com/release": f"2026.1.{number + 2}"}
    release = {"spec": {"template": {"metadata": {"annotations": notes}}}}
    cluster.client(DELIVERY).patch("deployments", variant.namespace, variant.web, release)
    wait_healthy(cluster, variant.namespace)
    cluster.advance((12 + 2 * number) * _history.MINUTE_MS)
    return Base(
        app="tron",
        variant=number,
        cluster=cluster,
        namespaces=(variant.namespace,),
        workloads=_workloads(variant),
        entries=(
            Entry(name="data", host=variant.host, path="/data", contains='"status": "ok"', through=("web", "bridge", "cache")),
            Entry(name="health", host=variant.host, path="/health", contains="ok", through=("web",)),
        ),
    )  # fmt: skip


APP = App(
    id="tron",
    summary="A web server with a bridge to Redis beside it, and the Redis.",
    variants=len(_VARIANTS),
    build=_build,
)
