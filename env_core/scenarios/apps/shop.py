"""A web shop: twelve services with their stores, a queue with a worker behind it, and a nightly report."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final

from env_core.programs import _service_shop as products
from env_core.programs._service_model import tags
from env_core.scenarios import loader
from env_core.scenarios._app import App, Base, Entry, Workload
from env_core.scenarios.apps import _history, _stores
from env_core.scenarios.apps._services import (
    CONFIG,
    Part,
    Setting,
    Style,
    apply_service,
    credential,
    isolate,
    literal,
    upstream,
    workload,
)
from env_core.scenarios.platform import NODES, Node, wait_healthy, with_platform
from env_core.world import Object

_PLAIN: Final = {
    "gateway": "gateway", "catalogue": "catalogue", "cart": "cart", "checkout": "checkout", "payment": "payment", "user": "user",
    "recommendation": "recommendation", "search": "search", "queue": "queue", "worker": "fulfilment", "mailer": "mailer",
    "redis": "redis", "postgres": "postgres", "reports": "reports",
}  # fmt: skip
_OTHER: Final = {
    "gateway": "frontend", "catalogue": "products", "cart": "basket", "checkout": "orders", "payment": "billing", "user": "accounts",
    "recommendation": "suggestions", "search": "finder", "queue": "events", "worker": "packing", "mailer": "notifications",
    "redis": "sessions", "postgres": "database", "reports": "daily-report",
}  # fmt: skip
_BATCH: Final = Node(
    name="node-batch", zone="zone-a", cpu="8", memory="32Gi", labels={"pool": "batch"},
    taints=({"key": "dedicated", "value": "batch", "effect": "NoSchedule"},),
)  # fmt: skip
_DATA: Final = Node(
    name="node-data", zone="zone-b", cpu="8", memory="32Gi", labels={"pool": "data"},
    taints=({"key": "dedicated", "value": "data", "effect": "NoSchedule"},),
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class _Variant:
    namespace: str
    team: str
    style: Style
    words: Mapping[str, str]
    host: str
    neighbour: tuple[str, str]
    nodes: tuple[Node, ...] = NODES
    has_autoscalers: bool = False
    is_isolated: bool = False
    has_literal_urls: bool = False
    storage_class: str = "standard"
    schedule: str = "30 2 * * *"
    released: tuple[str, ...] = ("gateway", "catalogue")
    hung: str = "mailer"


_STYLE: Final = Style(part_of="shop", naming="%s", label="app", prefix=products.PREFIXES[0])
_VARIANTS: Final = (
    _Variant(
        namespace="shop", team="commerce", style=replace(_STYLE, naming="%s", label="app", prefix=products.PREFIXES[0]), words=_PLAIN, host="shop.example.com",
        neighbour=("docs", "writers"),
    ),
    _Variant(
        namespace="storefront", team="storefront", style=replace(_STYLE, naming="sf-%s", label="app.kubernetes.io/name", prefix=products.PREFIXES[1], service_port=8080), words=_PLAIN,
        host="www.storefront.example.com", neighbour=("playground", "interns"), nodes=(*NODES, _BATCH), has_autoscalers=True,
        is_isolated=True, schedule="12 9 * * *", released=("cart", "search"), hung="recommendation",
    ),
    _Variant(
        namespace="retail-prod", team="retail", style=replace(_STYLE, naming="%s-svc", label="k8s-app", prefix=products.PREFIXES[2], has_named_ports=False, has_budgets=False),
        words=_OTHER, host="retail.example.net", neighbour=("retail-docs", "retail"), nodes=(*NODES, _DATA), is_isolated=True,
        storage_class="fast", released=("checkout", "payment"), hung="search",
    ),
    _Variant(
        namespace="webshop", team="web", style=replace(_STYLE, naming="%s", label="app", prefix=products.PREFIXES[1], service_port=8000), words=_OTHER, host="webshop.example.org",
        neighbour=("landing", "marketing"), has_literal_urls=True, schedule="8 9 * * *", released=("user", "gateway"), hung="queue",
    ),
    _Variant(
        namespace="market", team="market", style=replace(_STYLE, naming="market-%s", label="service", prefix=products.PREFIXES[0], replicas_scale=1), words=_PLAIN,
        host="market.example.com", neighbour=("press", "press"), nodes=(*NODES, _BATCH, _DATA), has_autoscalers=True, is_isolated=True,
        storage_class="fast", released=("recommendation", "catalogue"), hung="user",
    ),
    _Variant(
        namespace="boutique", team="boutique", style=replace(_STYLE, naming="%s-api", label="app.kubernetes.io/name", prefix=products.PREFIXES[2], service_port=3000), words=_OTHER,
        host="boutique.example.net", neighbour=("lookbook", "studio"), nodes=(*NODES, _BATCH), has_literal_urls=True,
        schedule="20 9 * * *", released=("payment", "mailer"), hung="cart",
    ),
)  # fmt: skip
_CALLERS: Final = {
    "catalogue": ("gateway", "recommendation", "search"), "cart": ("gateway", "checkout"), "checkout": ("gateway",), "payment": ("checkout",),
    "user": ("gateway",), "recommendation": ("gateway",), "queue": ("gateway", "checkout"), "worker": ("queue",), "mailer": ("worker",),
    "redis": ("cart",), "postgres": ("catalogue", "checkout", "user", "worker", "reports"), "gateway": (), "search": ("gateway",),
}  # fmt: skip
_FROM_INGRESS: Final = ("gateway", "search")


class _Shop:
    """The names and values of one variant."""

    def __init__(self, number: int) -> None:
        self.number = number
        self.variant = _VARIANTS[number]
        self.style = self.variant.style
        self.database_user = ("shop", "app", "retail", "webshop", "market", "boutique")[number]
        self.database_name = ("shop", "storefront", "retail", "webshop", "market", "orders")[number]
        self.password = f"pg-{number * 7919 + 40_487:06d}-{self.database_user}"
        self.redis_password = f"rd-{number * 6_113 + 20_011:06d}"
        self.provider_key = f"pk_live_{number * 104_729 + 9_973_331:09d}"
        self.session_secret = f"s{number * 15_485_863 + 49_979_687:010d}"

    def name(self, role: str) -> str:
        """Return the name of a role's objects."""
        return self.style.named(self.variant.words[role])

    def labels(self, role: str) -> dict[str, str]:
        """Return the labels that select a role's pods."""
        return {self.style.label: self.name(role)}

    def _url(self, role: str) -> Setting:
        source = "" if self.variant.has_literal_urls else CONFIG
        return upstream(self.style.url(self.name(role)), role, source)

    def _database(self, pool: int) -> dict[str, Setting]:
        return _stores.connection(
            "postgres", self.name("postgres"), user=self.database_user, password=self.password, database=self.database_name, pool=pool,
        )  # fmt: skip

    def _settings(self, role: str) -> dict[str, Setting]:
        name = self.name
        found: dict[str, dict[str, Setting]] = {
            "gateway": {
                "PORT": literal("3000"), "CATALOGUE_URL": self._url("catalogue"), "CART_URL": self._url("cart"),
                "CHECKOUT_URL": self._url("checkout"), "USER_URL": self._url("user"), "SEARCH_URL": self._url("search"),
                "QUEUE_URL": self._url("queue"), "RECOMMENDATION_URL": self._url("recommendation"),
                "UPSTREAM_TIMEOUT_MS": Setting("3000"),
            },
            "catalogue": {**self._database(5), "CACHE_MB": Setting("32")},
            "cart": {
                "REDIS_HOST": upstream(name("redis"), "redis"), "REDIS_PORT": Setting("6379"), "CART_TTL_MINUTES": Setting("1440"),
                "REDIS_PASSWORD": credential(self.redis_password, f"{name('redis')}-auth", "password"),
                "READINESS_DEPENDENCIES": Setting("true"),
            },
            "checkout": {
                "CART_URL": self._url("cart"), "PAYMENT_URL": self._url("payment"), "QUEUE_URL": self._url("queue"), **self._database(8),
                "UPSTREAM_TIMEOUT_MS": Setting("2500"),
            },
            "payment": {
                "PORT": literal("8000"), "PROVIDER_MODE": Setting("live"),
                "PROVIDER_KEY": credential(self.provider_key, f"{name('payment')}-provider", "api-key"),
            },
            "user": {
                "PORT": literal("8000"), **self._database(5), "SESSION_HOURS": Setting("12"),
                "SESSION_SECRET": credential(self.session_secret, f"{name('user')}-session", "secret"),
            },
            "recommendation": {"PORT": literal("8000"), "CATALOGUE_URL": self._url("catalogue"), "CACHE_MB": Setting("64")},
            "search": {"CATALOGUE_URL": self._url("catalogue"), "CACHE_MB": Setting("72"), "INDEX_SHARDS": Setting("2")},
            "queue": {"SUBSCRIBER_URL": self._url("worker")},
            "worker": {"MAILER_URL": self._url("mailer"), "CONCURRENCY": Setting("4"), **self._database(4)},
            "mailer": {"PORT": literal("8000"), "SENDER": Setting(f"orders@{self.variant.host}"), "BATCH_SIZE": Setting("20")},
        }  # fmt: skip
        return found[role]

    def part(self, role: str, tag: str = "") -> Part:
        """Return one of the services; a tag starts it with another release than the present one."""
        product = next(each for each in products.FAMILY.products if each.name == _PLAIN[role])
        scaled = self.variant.has_autoscalers and role in ("gateway", "catalogue")
        sizes = {"gateway": 3, "checkout": 2, "queue": 1, "mailer": 1, "recommendation": 1}
        return Part(
            role=role, word=self.variant.words[role], product=product, namespace=self.variant.namespace, tag=tag,
            settings=self._settings(role), replicas=sizes.get(role, 2), replicas_max=7 if scaled else 0,
            cpu_request=100 if role in ("gateway", "checkout") else 50, cpu_limit=750 if role == "checkout" else 500,
            peak_millis=350 if role == "checkout" else 200,
        )  # fmt: skip

    def _pool(self, name: str) -> tuple[tuple[Object, ...], dict[str, str]]:
        has = any(node.labels.get("pool") == name for node in self.variant.nodes)
        toleration = {"key": "dedicated", "operator": "Equal", "value": name, "effect": "NoSchedule"}
        return ((toleration,), {"pool": name}) if has else ((), {})

    def values(self) -> dict[str, str]:
        """Return what the manifests' placeholders stand for."""
        variant, name = self.variant, self.name
        tolerations, selector = self._pool("data")
        return {
            "namespace": variant.namespace, "team": variant.team, "labels": json.dumps({"app.kubernetes.io/part-of": "shop"}),
            "quota_pods": "60", "quota_cpu": "8", "quota_memory": "12Gi", "prefix": self.style.prefix,
            "database": name("postgres"), "database_labels": json.dumps(self.labels("postgres")), "database_tag": "16.11-alpine",
            "database_user": self.database_user, "database_password": self.password, "database_name": self.database_name,
            "database_tolerations": json.dumps(tolerations), "database_node_selector": json.dumps(selector),
            "database_args": json.dumps(["-c", "max_connections=100"]), "storage_class": variant.storage_class, "volume_size": "20Gi",
            "redis": name("redis"), "redis_labels": json.dumps(self.labels("redis")),
            "redis_own_labels": json.dumps({**self.labels("redis"), "app.kubernetes.io/part-of": "shop"}), "redis_tag": "7.4-alpine",
            "redis_password": self.redis_password, "payment": name("payment"), "provider_key": self.provider_key,
            "user": name("user"), "session_secret": self.session_secret, "gateway": name("gateway"), "search": name("search"),
            "ingress": self.style.named("edge"), "host": variant.host, "search_host": f"search.{variant.host.partition('.')[2]}",
            "reports": name("reports"), "reports_word": variant.words["reports"], "schedule": variant.schedule,
            "reports_labels": json.dumps(self.labels("reports")), "reports_tag": tags(products.REPORTS).present,
            "batch_tolerations": json.dumps(self._pool("batch")[0]), "reports_env": json.dumps(_stores.environment(self._database(1))),
        }  # fmt: skip

    def workloads(self) -> dict[str, Workload]:
        """Return what is known of every workload."""
        found = {role: workload(self.style, self.part(role)) for role in _SERVICES}
        namespace, name = self.variant.namespace, self.name
        found["postgres"] = _stores.postgres(
            role="postgres", namespace=namespace, name=name("postgres"), labels=self.labels("postgres"), tag="16.11-alpine",
            user=self.database_user, password=self.password, database=self.database_name, claims=(f"data-{name('postgres')}-0",),
        )  # fmt: skip
        found["redis"] = _stores.redis(
            role="redis", namespace=namespace, name=name("redis"), labels=self.labels("redis"), tag="7.4-alpine", password=self.redis_password,
        )  # fmt: skip
        known = tags(products.REPORTS)
        found["reports"] = Workload(
            role="reports", namespace=namespace, name=name("reports"), resource="cronjobs.batch", container=self.variant.words["reports"],
            image=f"{self.style.prefix}/reports:{known.present}", labels=self.labels("reports"), replicas=0,
            needs=_stores.batch_needs(self._database(1)),
            working_set_bytes=48 << 20, peak_millis=100, earlier_tags=known.earlier, later_tags=known.later,
        )  # fmt: skip
        return found

    def entries(self) -> tuple[Entry, ...]:
        """Return the ways in."""
        host = self.variant.host
        search_host = f"search.{host.partition('.')[2]}"

        def served(by: str) -> str:
            return f'"service":"{_PLAIN[by]}"'

        return (
            Entry(name="home", host=host, path="/", contains=served("catalogue"), through=("gateway", "catalogue", "postgres")),
            Entry(name="products", host=host, path="/api/products", contains=served("catalogue"), through=("gateway", "catalogue", "postgres")),
            Entry(name="cart", host=host, path="/api/cart", contains=served("cart"), through=("gateway", "cart", "redis")),
            Entry(name="account", host=host, path="/api/account", contains=served("user"), through=("gateway", "user", "postgres")),
            Entry(
                name="checkout", host=host, path="/api/checkout", method="POST", body='{"cart":"guest"}', status=201, contains=served("payment"),
                through=("gateway", "checkout", "cart", "redis", "payment", "postgres", "queue"),
            ),
            Entry(name="orders", host=host, path="/api/orders/status", contains=served("mailer"), through=("gateway", "queue", "worker", "mailer")),
            Entry(name="search", host=search_host, path="/search", contains=served("search"), through=("search", "catalogue", "postgres")),
        )  # fmt: skip


_SERVICES: Final = (
    "catalogue", "cart", "payment", "user", "recommendation", "search", "mailer", "worker", "queue", "checkout", "gateway",
)  # fmt: skip


def _build(number: int) -> Base:
    shop = _Shop(number)
    variant = shop.variant
    cluster = with_platform(100 + number, variant.nodes)
    client = cluster.client()
    known = shop.workloads()
    loader.apply_filled(client, "apps/shop", shop.values())
    for name in ("postgres", "redis"):
        loader.create_filled(client, f"apps/_parts/{name}.yaml", shop.values())
    for role in _SERVICES:
        earlier = known[role].earlier_tags[0] if role in variant.released else ""
        apply_service(client, shop.style, shop.part(role, earlier))
    if variant.is_isolated:
        isolate(client, known, _CALLERS, _FROM_INGRESS, {role: shop.labels(role) for role in _PLAIN})
    wait_healthy(cluster, variant.namespace)
    _history.fill(cluster, known.values())
    _history.neighbour(cluster, *variant.neighbour)
    _history.mistype_once(cluster, variant.namespace, "busybox:1.73")
    cluster.advance((6 + number) * _history.MINUTE_MS)
    _history.hang_once(cluster, known[variant.hung])
    _history.release(cluster, [known[role] for role in variant.released])
    cluster.advance((9 + 2 * number) * _history.MINUTE_MS)
    return Base(
        app="shop", variant=number, cluster=cluster, namespaces=(variant.namespace,), workloads=known, entries=shop.entries(),
    )  # fmt: skip


APP = App(
    id="shop",
    summary="A web shop of twelve services with Postgres, Redis, a queue and a nightly report.",
    variants=len(_VARIANTS),
    build=_build,
)
