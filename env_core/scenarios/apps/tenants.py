"""A platform with tenants: each has a portal, an API and a cache under quotas and policies; the platform guards and syncs."""

from __future__ import annotations

import base64
import json
from dataclasses import dataclass, replace
from importlib.resources import files
from typing import Final

from env_core.programs import _service_tenants as products
from env_core.programs._service_model import tags
from env_core.scenarios import loader
from env_core.scenarios._app import App, Base, Entry, Workload
from env_core.scenarios.apps import _history, _stores
from env_core.scenarios.apps._services import (
    Part,
    Setting,
    Style,
    apply_service,
    credential,
    isolate,
    literal,
    selector_of,
    upstream,
    workload,
)
from env_core.scenarios.platform import wait_healthy, with_platform

_FOLDER: Final = "apps/tenants"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Variant:
    platform: str
    """One of the names in the webhook server's certificate."""
    tenants: tuple[str, ...]
    space: str
    """A tenant's namespace, with %s for its name."""
    tenant_label: str
    style: Style
    words: tuple[str, str, str]
    """The names of portal, API and cache."""
    domain: str
    neighbour: tuple[str, str]
    released: str = "portal"


_STYLE: Final = Style(part_of="tenants", naming="%s", label="app", prefix=products.PREFIXES[0])
_VARIANTS: Final = (
    _Variant(
        platform="platform-system", tenants=("amber", "birch"), space="tenant-%s", tenant_label="example.com/tenant",
        style=replace(_STYLE, naming="%s", label="app", prefix=products.PREFIXES[0], service_port=8080), words=("portal", "api", "cache"), domain="apps.example.com",
        neighbour=("scratch", "interns"),
    ),
    _Variant(
        platform="tenancy", tenants=("north", "south", "west"), space="%s-prod", tenant_label="tenancy",
        style=replace(_STYLE, naming="%s-svc", label="app.kubernetes.io/name", prefix=products.PREFIXES[2]), words=("web", "backend", "redis"), domain="regions.example.net",
        neighbour=("docs", "writers"), released="api",
    ),
    _Variant(
        platform="kernel", tenants=("acme", "globex"), space="customer-%s", tenant_label="customer",
        style=replace(_STYLE, naming="%s", label="k8s-app", prefix=products.PREFIXES[1], service_port=9000, has_named_ports=False), words=("frontend", "service", "sessions"),
        domain="customers.example.org", neighbour=("demo", "sales"), released="portal",
    ),
)  # fmt: skip


class _Platform:
    """The names and values of one variant."""

    def __init__(self, number: int) -> None:
        self.number = number
        self.variant = _VARIANTS[number]
        self.style = self.variant.style
        self.signing_key = f"sk-{number * 86_028_121 + 49_979_693:010d}"

    def space(self, tenant: str) -> str:
        """Return a tenant's namespace."""
        return self.variant.space % tenant

    def host(self, tenant: str) -> str:
        """Return the host of a tenant's applications."""
        return f"{tenant}.{self.variant.domain}"

    def _password(self, tenant: str) -> str:
        return f"rd-{tenant}-{self.number * 911 + sum(map(ord, tenant)) * 7:05d}"

    def _cache(self) -> str:
        return self.style.named(self.variant.words[2])

    def _cache_labels(self) -> dict[str, str]:
        return {self.style.label: self._cache()}

    def identity(self) -> Part:
        """Return the service that all tenants ask who somebody is."""
        name = self.style.named("identity")
        settings = {
            "SIGNING_KEY": credential(self.signing_key, f"{name}-signing", "key"),
            "TOKEN_MINUTES": Setting("30"), "PORT": literal("8080"),
        }  # fmt: skip
        return Part(
            role="identity", word="identity", product=products.IDENTITY, namespace=self.variant.platform, settings=settings, replicas=3,
            cpu_request=100, cpu_limit=750, peak_millis=300, is_shared=True,
        )  # fmt: skip

    def agent(self) -> Part:
        """Return the program that applies the tenants' sources."""
        return Part(
            role="sync", word="config-sync", product=products.SYNC, namespace=self.variant.platform, replicas=1,
            settings={"INTERVAL_SECONDS": Setting("60")},
        )  # fmt: skip

    def parts(self, tenant: str, tag: str = "") -> tuple[Part, Part]:
        """Return a tenant's API and portal; a tag starts the one that is released later with another release."""
        index = self.variant.tenants.index(tenant)
        portal, api, _cache = self.variant.words
        settings = {
            "IDENTITY_URL": upstream(self.style.url(self.style.named("identity"), self.variant.platform), "identity"),
            "REDIS_HOST": upstream(self._cache(), f"cache-{index}"), "TENANT": Setting(tenant), "PAGE_SIZE": Setting("50"),
            "REDIS_PASSWORD": credential(self._password(tenant), f"{self._cache()}-auth", "password"),
            "READINESS_DEPENDENCIES": Setting("true"),
        }  # fmt: skip
        first = Part(
            role=f"api-{index}", word=api, product=products.API, namespace=self.space(tenant), settings=settings,
            tag=tag if self.variant.released == "api" else "", replicas=2,
        )  # fmt: skip
        settings = {
            "PORT": literal("3000"), "API_URL": upstream(self.style.url(self.style.named(api)), f"api-{index}"),
            "THEME": Setting(("plain", "dark", "wide")[index]),
        }  # fmt: skip
        second = Part(
            role=f"portal-{index}", word=portal, product=products.PORTAL, namespace=self.space(tenant), settings=settings,
            tag=tag if self.variant.released == "portal" else "", replicas=2,
        )  # fmt: skip
        return first, second

    def cache(self, tenant: str) -> Workload:
        """Return what is known of a tenant's cache."""
        return _stores.redis(
            role=f"cache-{self.variant.tenants.index(tenant)}", namespace=self.space(tenant), name=self._cache(), labels=self._cache_labels(),
            tag="7.4-alpine", password=self._password(tenant),
        )  # fmt: skip

    def guardrails(self) -> Workload:
        """Return what is known of the webhook's server."""
        return Workload(
            role="guardrails", namespace=self.variant.platform, name="guardrails", container="guardrails",
            image="kubedrill/admission-webhook:1.0", labels={self.style.label: "guardrails"}, replicas=2, service="guardrails",
            service_port=443, container_port=8443, port_name="https", working_set_bytes=10 << 20, peak_millis=50, start_ms=60, is_shared=True,
        )  # fmt: skip

    def bulletin(self, tenant: str) -> Workload:
        """Return what is known of the workload that is applied from a tenant's source."""
        known = tags(products.BULLETIN)
        return Workload(
            role=f"bulletin-{self.variant.tenants.index(tenant)}", namespace=self.space(tenant), name="bulletin", container="bulletin",
            image=f"{self.style.prefix}/bulletin:{known.present}", labels={self.style.label: "bulletin"}, replicas=2, service="bulletin",
            service_port=80, container_port=8000, port_name="http", health_path="/healthz", ready_path="/readyz",
            working_set_bytes=56 << 20, peak_millis=100, start_ms=products.BULLETIN.start_ms, earlier_tags=known.earlier,
            later_tags=known.later, leaking_tags=known.leaking, failing_tags=known.failing, slow_tags=known.slow,
            source=f"{self.variant.platform}/fleet-{tenant}",
        )  # fmt: skip

    def platform_values(self) -> dict[str, str]:
        """Return what the placeholders in the platform's manifests stand for."""
        place = files("env_core.scenarios").joinpath(_FOLDER)
        authority = place.joinpath("authority.pem").read_text()
        return {
            "namespace": self.variant.platform, "identity": self.style.named("identity"), "signing_key": self.signing_key,
            "guardrails_labels": json.dumps(dict(self.guardrails().labels)), "tenant_label": self.variant.tenant_label,
            "server_certificate": json.dumps(place.joinpath("guardrails.pem").read_text()),
            "authority": base64.b64encode(authority.encode()).decode(),
        }  # fmt: skip

    def tenant_values(self, tenant: str) -> dict[str, str]:
        """Return what the placeholders in a tenant's manifests stand for."""
        index = self.variant.tenants.index(tenant)
        portal, api, _cache = self.variant.words
        return {
            "namespace": self.space(tenant), "tenant": tenant, "tenant_label": self.variant.tenant_label, "platform": self.variant.platform,
            "quota_cpu": str(2 + index), "quota_memory": f"{2 + index}Gi", "quota_limits": f"{4 + index}Gi", "host": self.host(tenant),
            "portal": self.style.named(portal), "label": self.style.label,
            "api_labels": json.dumps({self.style.label: self.style.named(api)}), "redis": self._cache(), "redis_tag": "7.4-alpine", "storage_class": "standard",
            "redis_labels": json.dumps(self._cache_labels()),
            "redis_own_labels": json.dumps({**self._cache_labels(), "app.kubernetes.io/part-of": "tenants"}), "redis_password": self._password(tenant), "prefix": self.style.prefix,
            "bulletin_tag": tags(products.BULLETIN).present,
        }  # fmt: skip

    def workloads(self) -> dict[str, Workload]:
        """Return what is known of every workload that nothing brings back."""
        found = {"identity": workload(self.style, self.identity()), "guardrails": self.guardrails()}
        for tenant in self.variant.tenants:
            for part in self.parts(tenant):
                found[part.role] = workload(self.style, part)
            cache = self.cache(tenant)
            found[cache.role] = cache
        return found

    def entries(self) -> tuple[Entry, ...]:
        """Return the ways in: two for each tenant."""
        found: list[Entry] = []
        for index, tenant in enumerate(self.variant.tenants):
            found.append(
                Entry(
                    name=f"portal of {tenant}", host=self.host(tenant), path="/", contains='"service":"identity"',
                    through=(f"portal-{index}", f"api-{index}", f"cache-{index}", "identity"),
                )
            )  # fmt: skip
            found.append(
                Entry(
                    name=f"bulletin of {tenant}",
                    host=self.host(tenant),
                    path="/bulletin",
                    contains='"service":"bulletin"',
                    through=(f"bulletin-{index}",),
                )
            )
        return tuple(found)


def _build(number: int) -> Base:
    platform = _Platform(number)
    variant, style = platform.variant, platform.style
    cluster = with_platform(400 + number)
    client = cluster.client()
    known = platform.workloads()
    shared = platform.platform_values()
    loader.create_filled(client, f"{_FOLDER}/platform.yaml", shared)
    loader.create_filled(client, f"{_FOLDER}/monitoring.yaml", {})
    apply_service(client, style, platform.identity())
    # Its name is fixed, whatever the style: it is who the API server knows it as.
    apply_service(
        client,
        Style(part_of="tenants", naming="%s", label=style.label, prefix=style.prefix),
        platform.agent(),
    )
    wait_healthy(cluster, variant.platform)
    loader.create_filled(client, f"{_FOLDER}/policies.yaml", shared)
    cluster.advance(2_000)
    for tenant in variant.tenants:
        values = platform.tenant_values(tenant)
        loader.create_filled(client, f"{_FOLDER}/tenant.yaml", values)
        loader.create_filled(client, "apps/_parts/redis.yaml", values)
        api, portal = platform.parts(tenant)
        released = portal if variant.released == "portal" else api
        for part in platform.parts(tenant, known[released.role].earlier_tags[0]):
            apply_service(client, style, part)
        manifest = loader.text_of(f"{_FOLDER}/bulletin.yaml", values)
        loader.create_filled(client, f"{_FOLDER}/source.yaml", {**values, "manifest": json.dumps(manifest)})
        index = variant.tenants.index(tenant)
        own = {role: known[f"{role}-{index}"] for role in ("portal", "api", "cache")}
        labels = {
            "portal": selector_of(style, portal),
            "api": selector_of(style, api),
            "cache": dict(own["cache"].labels),
        }
        callers: dict[str, tuple[str, ...]] = {"portal": (), "api": ("portal",), "cache": ("api",)}
        isolate(client, own, callers, ("portal",), labels)
    cluster.advance(70_000)
    for tenant in variant.tenants:
        wait_healthy(cluster, platform.space(tenant))
    _history.fill(cluster, known.values())
    _history.neighbour(cluster, *variant.neighbour)
    _history.mistype_once(cluster, platform.space(variant.tenants[0]), "curlimages/curl:8.8")
    cluster.advance((8 + number) * _history.MINUTE_MS)
    _history.hang_once(cluster, known["portal-1"])
    _history.release(cluster, [known[f"{variant.released}-{index}"] for index in range(len(variant.tenants))])
    cluster.advance((10 + number) * _history.MINUTE_MS)
    managed = {f"bulletin-{index}": platform.bulletin(tenant) for index, tenant in enumerate(variant.tenants)}
    spaces = (*(platform.space(tenant) for tenant in variant.tenants), variant.platform)
    return Base(
        app="tenants", variant=number, cluster=cluster, namespaces=spaces, workloads=known, entries=platform.entries(), managed=managed,
    )  # fmt: skip


APP = App(
    id="tenants",
    summary="A platform with tenants under quotas and policies, an admission webhook, and delivery from declared sources.",
    variants=len(_VARIANTS),
    build=_build,
)
