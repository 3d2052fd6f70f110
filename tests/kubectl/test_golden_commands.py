"""Recorded commands over a small fixed cluster, and the tables of the Go libraries, byte for byte."""

from __future__ import annotations

from functools import cache
from typing import Any

import pytest

from env_core.kubectl.command import run
from env_core.kubectl.context import Context
from env_core.kubectl.events import EventTable, by_time
from env_core.kubectl.kubeconfig import Kubeconfig
from env_core.kubectl.manifests import read_manifests
from env_core.kubectl.output.table import TableOptions, format_table
from env_core.kubectl.pods import by_activity, by_logging
from env_core.kubectl.resolve import Info
from env_core.kubectl.screen import Failure
from env_core.kubectl.verbs.rollout._history import history, history_text
from env_core.kubectl.verbs.rollout._status import rollout_status
from env_core.kubectl.verbs.top._metrics import nodes_table, pods_table
from env_core.sim.timefmt import parse_ms
from tests.kubectl.golden_world import (
    MemoryFiles,
    TinyApi,
    context,
    declared_kinds,
    normalized,
    read_json,
    read_lines,
    registry,
)

NOW_MS = parse_ms("2026-01-15T12:00:00Z")
GROUPS = (
    "",
    "apps",
    "autoscaling",
    "batch",
    "discovery.k8s.io",
    "networking.k8s.io",
    "policy",
    "rbac.authorization.k8s.io",
    "scheduling.k8s.io",
    "storage.k8s.io",
)
VERBS = (
    "get", "describe", "logs", "exec", "events", "top", "explain", "api-versions", "auth", "cluster-info", "wait",
    "rollout", "nosuchcommand", "getpods", "--foo",
)  # fmt: skip


@cache
def _served() -> frozenset[str]:
    """Return what the recorder's server serves: README: "discovery is a fixed subset"."""
    asked = ["api-resources", "--no-headers", "-o", "name"]
    listed = next(each["stdout"] for each in read_lines("l0/kubectl_commands.jsonl") if each["args"] == asked)
    return frozenset(listed.split())


def _run_record(record: dict[str, Any], data: dict[str, Any]) -> tuple[int, str, str]:
    api = TinyApi(registry(groups=GROUPS, resources=_served()), data["objects"])
    ctx = context(api, NOW_MS, "default", files=data["files"], stdin=record.get("stdin") or "")
    ctx.server = "http://fake"
    ctx.files = MemoryFiles(dict(data["files"]), root=".")
    if record["args"][:1] == ["config"]:
        ctx.kubeconfig = Kubeconfig({}, {}, {})
    return normalized(run(list(record["args"]), ctx))


def test_commands_without_writes_print_what_the_real_code_printed() -> None:
    data = read_json("l0/kubectl_commands_data.json")
    matched, missed = 0, []
    for record in read_lines("l0/kubectl_commands.jsonl"):
        if not record["args"] or record["args"][0] not in VERBS:
            continue
        result = _run_record(record, data)
        if result == (record["exitCode"], record["stdout"], record["stderr"]):
            matched += 1
        else:
            missed.append(f"{record['args']}\n{result}")
    # Missed: prose of group helps (3), autoscaling/v1, and an Events line that the recorder's server could not answer.
    assert matched >= 75, "\n".join(missed)


def test_top_tables() -> None:
    for record in read_lines("l0/top.jsonl"):
        if record["kind"] == "pods":
            text = pods_table(
                record["metrics"],
                sort_by=record["sortBy"],
                has_containers=record["containers"],
                has_namespace=record["allNamespaces"],
                has_headers=not record["noHeaders"],
                has_sum=record["sum"],
            )
        else:
            text = nodes_table(
                record["metrics"],
                record["allocatable"],
                sort_by=record["sortBy"],
                has_headers=not record["noHeaders"],
                has_swap=record.get("showSwap", False),
            )
        assert text == record["output"], record["id"]


def test_events_tables() -> None:
    for record in read_lines("l0/events_table.jsonl"):
        table = EventTable(
            has_headers=not record.get("noHeaders", False), has_namespace=record.get("allNamespaces", False)
        )
        text = table.rows(record["events"], parse_ms(record["now"]))
        assert text == record["output"], record["id"]


def test_rollout_status_texts() -> None:
    for record in read_lines("l0/rollout_status.jsonl"):
        if record["id"].endswith("/unsupported"):
            continue
        message, is_done, error = _status(record)
        assert error == record.get("error"), record["id"]
        assert message == record["message"], record["id"]
        assert error or is_done == record["done"], record["id"]


def _status(record: dict[str, Any]) -> tuple[str, bool, str | None]:
    try:
        status = rollout_status(record["object"], record["revision"])
    except Failure as failure:
        return "", False, failure.text
    return status.message, status.is_done, None


def _history(ctx: Context, info: Info, revision: int) -> tuple[str, str | None]:
    try:
        return history_text(info, history(ctx, info), revision), None
    except Failure as failure:
        return "", failure.text


def test_rollout_history_texts() -> None:
    for record in read_lines("l0/rollout_history.jsonl"):
        obj = record["object"]
        api = TinyApi(registry(), [obj, *record["others"]])
        ctx = context(api, NOW_MS, obj["metadata"]["namespace"])
        kind = api.registry.by_gvk(obj["apiVersion"], obj["kind"])
        assert kind is not None
        info = Info(kind, obj["metadata"]["namespace"], obj["metadata"]["name"], obj)
        expected = (record["output"], record.get("error"))
        assert _history(ctx, info, record["revision"]) == expected, record["id"]


def test_manifests_are_read_like_the_builder_reads_them() -> None:
    for record in read_lines("l0/kubectl_decode.jsonl"):
        manifests = read_manifests(record["text"], "STDIN")
        error = manifests.error.text if manifests.error else None
        assert list(manifests.objects) == (record["objects"] or []), record["id"]
        assert error == (record.get("error") or None), record["id"]


def test_pods_are_preferred_in_the_order_of_the_go_code() -> None:
    for record in read_lines("l0/pod_order.jsonl"):
        pods = record["pods"]
        assert [pod["metadata"]["name"] for pod in by_logging(pods)] == record["byLogging"], record["id"]
        names = [pod["metadata"]["name"] for pod in by_activity(pods)]
        assert names == record["kubectlActivePodsReversed"], record["id"]


def test_lists_are_decorated_and_aligned() -> None:
    options = read_json("l0/printer_list_options.json")
    kinds = {(kind.api_version, kind.kind): kind for kind in declared_kinds().values()}
    matched, total = 0, 0
    for record in read_lines("l0/printer_lists.jsonl"):
        version, _, name = record["key"].rpartition("/")
        kind = kinds.get((version, name))
        if kind is None:
            continue
        for option, expected in record["texts"].items():
            total += 1
            matched += _table(kind, record, options[option]) == expected
    assert matched == total


def _table(kind: Any, record: dict[str, Any], option: dict[str, Any]) -> str:
    options = TableOptions(
        is_wide=option["Wide"],
        has_headers=not option["NoHeaders"],
        has_namespace=option["WithNamespace"],
        has_kind=option["WithKind"],
        label_columns=tuple(option["ColumnLabels"] or ()),
        has_labels=option["ShowLabels"],
    )
    return format_table(kind, record["objects"], parse_ms(record["now"]), options)


def test_events_are_ordered_by_their_last_time() -> None:
    events = [
        {"metadata": {"name": "b"}, "lastTimestamp": "2026-01-15T11:00:00Z"},
        {"metadata": {"name": "a"}, "eventTime": "2026-01-15T10:59:59.900000Z", "lastTimestamp": None},
        {"metadata": {"name": "c"}, "series": {"lastObservedTime": "2026-01-15T11:00:00.500000Z"}},
    ]
    assert [event["metadata"]["name"] for event in by_time(events)] == ["a", "b", "c"]


@pytest.mark.parametrize("line", [["get"], ["rollout", "status"], ["logs"]])
def test_help_names_the_real_usage(line: list[str]) -> None:
    ctx = context(TinyApi(registry(groups=("",)), []), NOW_MS, "default")
    output = run([*line, "--help"], ctx)
    assert output.exit_code == 0
    assert f"Usage:\n  kubectl {line[0]}" in output.stdout
    assert "--" in output.stdout
