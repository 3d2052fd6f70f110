"""A data pipeline: events come in, are buffered, transformed and stored; a replica answers reports, jobs keep it all small."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final

from env_core.programs import _service_pipeline as products
from env_core.programs._service_model import tags
from env_core.scenarios import loader
from env_core.scenarios._app import CREDENTIAL, SETTING, UPSTREAM, App, Base, Entry, Need, Workload
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
    "ingest": "ingest", "buffer": "buffer", "transform": "transform", "archiver": "archiver", "query": "query", "dashboard": "dashboard",
    "compact": "compact", "backup": "backup", "database": "warehouse", "replica": "warehouse-replica", "migrate": "schema-migrate",
}  # fmt: skip
_OTHER: Final = {
    "ingest": "collector", "buffer": "stream", "transform": "enricher", "archiver": "cold-store", "query": "reports", "dashboard": "panel",
    "compact": "rollup", "backup": "db-dump", "database": "events-db", "replica": "events-db-read", "migrate": "db-schema",
}  # fmt: skip
_DISKS: Final = Node(
    name="node-disks", zone="zone-c", cpu="8", memory="32Gi", labels={"pool": "data"},
    taints=({"key": "workload", "value": "database", "effect": "NoSchedule"},),
)  # fmt: skip
_TAG: Final = "16.11-alpine"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Variant:
    namespace: str
    team: str
    style: Style
    words: Mapping[str, str]
    host: str
    database: str
    neighbour: tuple[str, str]
    nodes: tuple[Node, ...] = NODES
    bulk_class: str = "bulk"
    is_isolated: bool = False
    has_literal_urls: bool = False
    has_autoscaler: bool = False
    compact_schedule: str = "*/20 * * * *"
    backup_schedule: str = "15 1 * * *"
    released: tuple[str, ...] = ("query", "ingest")
    hung: str = "dashboard"


_STYLE: Final = Style(part_of="pipeline", naming="%s", label="app", prefix=products.PREFIXES[0])
_VARIANTS: Final = (
    _Variant(
        namespace="data", team="insights", style=replace(_STYLE, naming="%s", label="app", prefix=products.PREFIXES[0]), words=_PLAIN, host="insights.example.com", database="events",
        neighbour=("notebooks", "research"),
    ),
    _Variant(
        namespace="analytics", team="analytics", style=replace(_STYLE, naming="an-%s", label="app.kubernetes.io/name", prefix=products.PREFIXES[2], service_port=8080), words=_OTHER,
        host="analytics.example.net", database="facts", neighbour=("models", "research"), nodes=(*NODES, _DISKS), bulk_class="cold",
        is_isolated=True, backup_schedule="10 9 * * *", released=("transform", "dashboard"), hung="ingest",
    ),
    _Variant(
        namespace="insights-prod", team="insights", style=replace(_STYLE, naming="%s-svc", label="k8s-app", prefix=products.PREFIXES[1], has_named_ports=False, replicas_scale=1),
        words=_PLAIN, host="insights.example.org", database="tracks", neighbour=("insights-docs", "insights"), has_literal_urls=True,
        has_autoscaler=True, compact_schedule="*/15 * * * *", released=("buffer", "query"), hung="transform",
    ),
    _Variant(
        namespace="metrics-hub", team="hub", style=replace(_STYLE, naming="hub-%s", label="service", prefix=products.PREFIXES[0], service_port=9000, has_budgets=False), words=_OTHER,
        host="hub.example.com", database="hub", neighbour=("lab", "hub"), nodes=(*NODES, _DISKS), bulk_class="archive", is_isolated=True,
        has_autoscaler=True, backup_schedule="5 9 * * *", released=("archiver", "ingest"), hung="buffer",
    ),
)  # fmt: skip
_SERVICES: Final = ("transform", "buffer", "archiver", "ingest", "query", "dashboard")
_CALLERS: Final = {
    "transform": ("buffer",), "buffer": ("ingest", "dashboard"), "archiver": ("ingest",), "ingest": (), "query": ("dashboard",),
    "dashboard": (), "database": ("transform", "compact", "backup", "replica"), "replica": ("query",),
}  # fmt: skip


class _Pipeline:
    """The names and values of one variant."""

    def __init__(self, number: int) -> None:
        self.variant = _VARIANTS[number]
        self.style = self.variant.style
        self.user = ("pipeline", "etl", "loader", "hub")[number]
        self.password = f"wh-{number * 6_037 + 70_001:06d}-{self.user}"
        self.token = f"tok_{number * 32_452_843 + 15_485_867:010d}"

    def name(self, role: str) -> str:
        """Return the name of a role's objects."""
        return self.style.named(self.variant.words[role])

    def labels(self, role: str) -> dict[str, str]:
        """Return the labels that select a role's pods."""
        return {self.style.label: self.name(role)}

    def _url(self, role: str) -> Setting:
        return upstream(
            self.style.url(self.name(role)), role, "" if self.variant.has_literal_urls else CONFIG
        )

    def connection(self, role: str, pool: int) -> dict[str, Setting]:
        """Return the variables of those who connect to the database or its replica."""
        return _stores.connection(
            role,
            self.name(role),
            user=self.user,
            password=self.password,
            database=self.variant.database,
            pool=pool,
        )

    def _settings(self, role: str) -> dict[str, Setting]:
        found: dict[str, dict[str, Setting]] = {
            "ingest": {
                "BUFFER_URL": self._url("buffer"), "ARCHIVE_URL": self._url("archiver"), "BATCH_MAX": Setting("500"),
                "INGEST_TOKEN": credential(self.token, f"{self.name('ingest')}-token", "token"), "UPSTREAM_TIMEOUT_MS": Setting("1500"),
            },
            "buffer": {"SUBSCRIBER_URL": self._url("transform"), "CACHE_MB": Setting("24")},
            "transform": {
                "PORT": literal("8000"), **self.connection("database", 6), "WINDOW_SECONDS": Setting("60"), "SCHEMA_VERSION": Setting("7"),
            },
            "archiver": {"PORT": literal("8000"), "SPOOL_DIR": Setting("/var/spool/events"), "ROTATE_MINUTES": Setting("15")},
            "query": {**self.connection("replica", 8), "CACHE_MB": Setting("96"), "ROWS_MAX": Setting("10000")},
            "dashboard": {
                "PORT": literal("3000"), "QUERY_URL": self._url("query"), "BUFFER_URL": self._url("buffer"), "TITLE": Setting("Insights"),
                "UPSTREAM_TIMEOUT_MS": Setting("4000"),
            },
        }  # fmt: skip
        return found[role]

    def part(self, role: str, tag: str = "") -> Part:
        """Return one of the services; a tag starts it with another release than the present one."""
        product = next(each for each in products.FAMILY.products if each.name == _PLAIN[role])
        # Only one process may write to the spool's volume; a scale of the style would need as many volumes.
        replicas = 1 - self.style.replicas_scale if role == "archiver" else 1 if role == "buffer" else 2
        return Part(
            role=role, word=self.variant.words[role], product=product, namespace=self.variant.namespace, tag=tag,
            settings=self._settings(role), replicas=replicas, replicas_max=6 if self.variant.has_autoscaler and role == "ingest" else 0,
            cpu_request=100 if role == "query" else 50, cpu_limit=1000 if role == "query" else 500,
            peak_millis=450 if role == "query" else 220, claim=self.style.named("spool") if role == "archiver" else "",
            claim_path="/var/spool/events",
        )  # fmt: skip

    def values(self) -> dict[str, str]:
        """Return what the manifests' placeholders stand for."""
        variant, name = self.variant, self.name
        database = self.connection("database", 1)
        known = tags(products.COMPACT)
        batch: list[Object] = []
        return {
            "namespace": variant.namespace, "team": variant.team, "labels": json.dumps({"app.kubernetes.io/part-of": "pipeline"}),
            "quota_pods": "50", "quota_cpu": "8", "quota_memory": "14Gi", "prefix": self.style.prefix, "bulk_class": variant.bulk_class,
            "database": name("database"), "replica": name("replica"), "database_user": self.user, "database_password": self.password,
            "ingest": name("ingest"), "ingest_token": self.token, "spool": self.style.named("spool"), "backups": self.style.named("backups"),
            "compact": name("compact"), "compact_labels": json.dumps(self.labels("compact")), "compact_tag": known.present,
            "compact_schedule": variant.compact_schedule, "batch_tolerations": json.dumps(batch),
            "database_env": json.dumps(_stores.environment(database)), "backup": name("backup"),
            "backup_labels": json.dumps(self.labels("backup")), "backup_schedule": variant.backup_schedule,
            "dump_env": json.dumps(self._dump_env()), "migrate": name("migrate"), "ingress": self.style.named("edge"),
            "host": variant.host, "dashboard": name("dashboard"),
        }  # fmt: skip

    def store_values(self, role: str) -> dict[str, str]:
        """Return what the placeholders of a Postgres server's manifest stand for."""
        variant = self.variant
        has_pool = _DISKS in variant.nodes
        toleration = {"key": "workload", "operator": "Equal", "value": "database", "effect": "NoSchedule"}
        arguments = ["-c", "max_connections=60"] + (
            ["-c", "hot_standby=on"] if role == "replica" else ["-c", "wal_level=replica"]
        )
        return {
            "namespace": variant.namespace, "database": self.name(role), "database_labels": json.dumps(self.labels(role)),
            "database_tolerations": json.dumps([toleration] if has_pool else []), "database_tag": _TAG,
            "database_node_selector": json.dumps({"pool": "data"} if has_pool else {}), "database_args": json.dumps(arguments),
            "database_name": variant.database, "storage_class": "fast", "volume_size": "40Gi",
        }  # fmt: skip

    def _dump_env(self) -> list[Object]:
        secret = f"{self.name('database')}-credentials"
        return [
            {"name": "PGHOST", "value": self.name("database")},
            {"name": "PGDATABASE", "value": self.variant.database},
            {"name": "PGUSER", "valueFrom": {"secretKeyRef": {"name": secret, "key": "username"}}},
            {"name": "PGPASSWORD", "valueFrom": {"secretKeyRef": {"name": secret, "key": "password"}}},
        ]

    def workloads(self) -> dict[str, Workload]:
        """Return what is known of every workload."""
        found = {role: workload(self.style, self.part(role)) for role in _SERVICES}
        namespace, name = self.variant.namespace, self.name
        for role in ("database", "replica"):
            found[role] = _stores.postgres(
                role=role, namespace=namespace, name=name(role), labels=self.labels(role), tag=_TAG, user=self.user, password=self.password,
                database=self.variant.database, claims=(f"data-{name(role)}-0",), has_records=role == "database",
            )  # fmt: skip
        known = tags(products.COMPACT)
        found["compact"] = Workload(
            role="compact", namespace=namespace, name=name("compact"), resource="cronjobs.batch", container="compact",
            image=f"{self.style.prefix}/compact:{known.present}", labels=self.labels("compact"), replicas=0,
            needs=_stores.batch_needs(self.connection("database", 1)), working_set_bytes=72 << 20, peak_millis=100,
            earlier_tags=known.earlier, later_tags=known.later,
        )  # fmt: skip
        secret = f"{name('database')}-credentials"
        found["backup"] = Workload(
            role="backup", namespace=namespace, name=name("backup"), resource="cronjobs.batch", container="dump", image=f"postgres:{_TAG}",
            labels=self.labels("backup"), replicas=0,
            needs=(
                Need(variable="PGHOST", kind=UPSTREAM, source="", value=name("database"), target="database"),
                Need(variable="PGDATABASE", kind=SETTING, source="", value=self.variant.database),
                Need(variable="PGPASSWORD", kind=CREDENTIAL, source="secrets", name=secret, key="password", value=self.password),
            ),
            working_set_bytes=8 << 20, peak_millis=50, earlier_tags=("16.10-alpine",), claims=(self.style.named("backups"),),
        )  # fmt: skip
        return found

    def entries(self) -> tuple[Entry, ...]:
        """Return the ways in."""
        host = self.variant.host
        return (
            Entry(
                name="events", host=host, path="/events", method="POST", body='{"kind":"view"}', status=202, contains='"service":"archiver"',
                through=("ingest", "buffer", "archiver"),
            ),
            Entry(name="reports", host=host, path="/", contains='"service":"query"', through=("dashboard", "query", "replica")),
            Entry(
                name="lag", host=host, path="/api/lag", contains='"service":"transform"',
                through=("dashboard", "buffer", "transform", "database"),
            ),
        )  # fmt: skip


def _build(number: int) -> Base:
    pipeline = _Pipeline(number)
    variant = pipeline.variant
    cluster = with_platform(300 + number, variant.nodes)
    client = cluster.client()
    known = pipeline.workloads()
    values = pipeline.values()
    loader.create_filled(client, "apps/pipeline/10-namespace.yaml", values)
    loader.create_filled(client, "apps/pipeline/20-secrets.yaml", values)
    for role in ("database", "replica"):
        loader.create_filled(client, "apps/_parts/postgres.yaml", pipeline.store_values(role))
    for name in ("25-volumes", "40-jobs", "50-edge"):
        loader.create_filled(client, f"apps/pipeline/{name}.yaml", values)
    for role in _SERVICES:
        earlier = known[role].earlier_tags[0] if role in variant.released else ""
        apply_service(client, pipeline.style, pipeline.part(role, earlier))
    if variant.is_isolated:
        isolate(
            client, known, _CALLERS, ("ingest", "dashboard"), {role: pipeline.labels(role) for role in _PLAIN}
        )
    wait_healthy(cluster, variant.namespace)
    _history.fill(cluster, known.values())
    _history.neighbour(cluster, *variant.neighbour)
    _history.mistype_once(cluster, variant.namespace, "postgres:16-alpin")
    cluster.advance((7 + number) * _history.MINUTE_MS)
    _history.hang_once(cluster, known[variant.hung])
    _history.release(cluster, [known[role] for role in variant.released])
    cluster.advance((14 + 2 * number) * _history.MINUTE_MS)
    return Base(
        app="pipeline", variant=number, cluster=cluster, namespaces=(variant.namespace,), workloads=known, entries=pipeline.entries(),
    )  # fmt: skip


APP = App(
    id="pipeline",
    summary="A data pipeline with a database, its replica, volumes, batch jobs and an ingest API.",
    variants=len(_VARIANTS),
    build=_build,
)
