"""Services, their endpoints, ingresses, network policies, config maps and secrets behave as recorded."""

from __future__ import annotations

import gzip
import json
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from env_core.apiserver.kind import Kind
from env_core.kinds import (
    configmap,
    endpoints,
    endpointslice,
    ingress,
    ingressclass,
    networkpolicy,
    secret,
    service,
)
from env_core.kinds._service_strategy import drop_type_dependent
from env_core.objects.problems import Problem, aggregate_text
from env_core.objects.tabwriter import TabWriter
from env_core.sim import timefmt
from tests.kinds import replayer

KINDS: dict[str, Kind] = {
    replayer.key_of(module.KIND): module.KIND
    for module in (
        configmap,
        endpoints,
        endpointslice,
        ingress,
        ingressclass,
        networkpolicy,
        secret,
        service,
    )
}
ALLOCATED = ("clusterIP", "clusterIPs", "healthCheckNodePort")


def _defaulting() -> list[tuple[Kind, dict[str, Any]]]:
    found = []
    for record in replayer.records("l0/defaulting"):
        kind = KINDS.get(f"{record['apiVersion']}/{record['kind']}")
        if kind is not None and record.get("decoded"):
            found.append((kind, record))
    return found


def test_defaults_are_as_recorded():
    pairs = [
        (record["id"], kind.default(record["decoded"]), record["defaulted"]) for kind, record in _defaulting()
    ]
    assert sum(got == wanted for _, got, wanted in pairs) >= 30, replayer.differences(pairs)


def test_defaulting_a_defaulted_object_changes_nothing():
    for kind, record in _defaulting():
        assert kind.default(record["defaulted"]) == record["defaulted"], record["id"]


def _without_allocation(obj: dict[str, Any]) -> dict[str, Any]:
    """What a created object is before the server names it and allocates addresses and ports."""
    spec = obj.get("spec")
    bare = {key: value for key, value in obj.items() if key != "metadata"}
    if obj["kind"] != "Service" or spec is None:
        return bare
    headless = spec.get("clusterIP") == "None"
    spec = {key: value for key, value in spec.items() if key not in ALLOCATED or headless}
    spec["ports"] = [
        {key: value for key, value in port.items() if key != "nodePort"} for port in spec.get("ports") or []
    ]
    return {**bare, "spec": spec}


def test_created_objects_are_as_recorded():
    pairs = [
        (
            record["id"],
            _without_allocation(kind.prepare_create(record["defaulted"])),
            _without_allocation(record["created"]),
        )
        for kind, record in _defaulting()
        if record.get("created")
    ]
    assert sum(got == wanted for _, got, wanted in pairs) >= 29, replayer.differences(pairs)


def test_warnings_are_as_recorded():
    pairs = [
        (record["id"], kind.warnings(kind.prepare_create(record["defaulted"])), record["warnings"])
        for kind, record in _defaulting()
        if record.get("created")
    ]
    assert sum(got == wanted for _, got, wanted in pairs) >= 29, replayer.differences(pairs)


def _validated(kind: Kind, record: dict[str, Any]) -> list[Problem]:
    obj = kind.default(record["object"])
    if record["op"] == "create":
        return kind.validate(kind.prepare_create(obj))
    old = record["old"]
    # The recorder has no storage layer, so nothing keeps a service's allocated addresses there.
    prepare = drop_type_dependent if kind.kind == "Service" else kind.prepare_update
    new = prepare(obj, old)
    return kind.validate(new) if kind.validate_update is None else kind.validate_update(new, old)


def _is_generic(cause: dict[str, Any]) -> bool:
    """Whether the server's metadata rules say it, not the kind."""
    return cause["field"].startswith("metadata.") and not cause["field"].startswith("metadata.annotations[")


def test_problems_are_as_recorded():
    pairs = []
    for record in replayer.records("l0/validation"):
        kind = KINDS.get(record["key"])
        if kind is None or record.get("decode") or record.get("subresource"):
            continue
        details = (record.get("status") or {}).get("details") or {}
        wanted = [cause for cause in details.get("causes") or [] if not _is_generic(cause)]
        pairs.append((record["id"], [problem.cause() for problem in _validated(kind, record)], wanted))
    assert sum(got == wanted for _, got, wanted in pairs) >= 128, replayer.differences(pairs)


def test_names_of_services_are_refused_as_recorded():
    checked = 0
    for record in replayer.records("l0/validation"):
        if record["key"] != "v1/Service" or not record.get("mutation", "").startswith("metadata.name = "):
            continue
        if record["op"] != "create":
            continue
        name = record["object"]["metadata"]["name"]
        wanted = (
            [cause["message"].split(": ", 2)[2] for cause in record["status"]["details"]["causes"]]
            if not record["valid"]
            else []
        )
        assert service.KIND.validate_name is not None
        assert service.KIND.validate_name(name, False) == wanted, record["id"]
        checked += 1
    assert checked >= 4


def test_answers_to_dry_run_creations_are_as_recorded():
    pairs = []
    for record in replayer.records("l2/defaults"):
        request = record["request"]
        if not isinstance(request, dict) or record["status"] not in (201, 422):
            continue
        kind = KINDS.get(f"{request.get('apiVersion')}/{request.get('kind')}")
        if kind is None or "failed to allocate" in str(record["response"].get("message")):
            continue
        obj = kind.prepare_create(kind.default(request))
        problems = kind.validate(obj)
        if record["status"] == 422:
            got: Any = aggregate_text(problems) if problems else ""
            wanted = record["response"]["message"].split(" is invalid: ", 1)[1]
        else:
            got = (_without_allocation(obj), problems)
            wanted = (_without_allocation(record["response"]), [])
        pairs.append((record["id"], got, wanted))
    assert sum(got == wanted for _, got, wanted in pairs) >= 48, replayer.differences(pairs)


def test_cells_are_as_recorded():
    pairs = [
        (
            record["id"],
            replayer.cells_of(KINDS[record["key"]], record["object"], record["now"]),
            record["cells"],
        )
        for record in replayer.records("l0/printers")
        if record["key"] in KINDS
    ]
    assert sum(got == wanted for _, got, wanted in pairs) >= 45, replayer.differences(pairs)


def test_columns_are_as_recorded():
    recorded = replayer.document("l0/printer_columns")
    for key, kind in KINDS.items():
        wanted = [
            (entry["name"], entry["type"], entry["format"], entry["priority"]) for entry in recorded[key]
        ]
        assert [
            (column.name, column.type, column.format, column.priority) for column in kind.columns
        ] == wanted, key


def test_lists_print_as_recorded():
    pairs = []
    for record in replayer.records("l0/printer_lists"):
        kind = KINDS.get(record["key"])
        for option, is_wide in (("default", False), ("wide", True)) if kind is not None else ():
            shown = [column for column in kind.columns if is_wide or column.priority == 0]
            now_ms = timefmt.parse_ms(record["now"])
            table = TabWriter(remember_widths=True)
            table.write("\t".join(column.name.upper() for column in shown) + "\n")
            for obj in record["objects"]:
                table.write("\t".join(str(column.cell(obj, now_ms)) for column in shown) + "\n")
            pairs.append((f"{record['id']} {option}", table.flush(), record["texts"][option]))
    assert sum(got == wanted for _, got, wanted in pairs) >= 32, replayer.differences(pairs)


def test_describe_is_as_recorded():
    pairs = [
        (record["id"], replayer.describe_record(KINDS[record["key"]], record), record["output"])
        for record in replayer.records("l0/describe")
        if record["key"] in KINDS
    ]
    assert sum(got == wanted for _, got, wanted in pairs) >= 62, replayer.differences(pairs)


def _asked(requests: list[str]) -> list[str]:
    """The recorded requests, but for the first (the object itself), as `RecordReader` notes them."""
    found = []
    for request in requests[1:]:
        parts = urlsplit(request.removeprefix("GET "))
        query = {key: values[0] for key, values in parse_qs(parts.query).items()}
        steps = parts.path.strip("/").split("/")
        if steps[-1] == "events":
            name = next(
                term for term in query["fieldSelector"].split(",") if term.startswith("involvedObject.name=")
            )
            found.append(f"events {name.partition('=')[2]}")
        elif "labelSelector" in query:
            group = f".{steps[1]}" if steps[0] == "apis" else ""
            found.append(f"list {steps[-1]}{group} {steps[-2]} {query['labelSelector']}")
        else:
            found.append(f"get {steps[-2]} {steps[-3]}/{steps[-1]}")
    return found


def test_describe_asks_the_server_what_kubectl_asks():
    for record in replayer.records("l0/describe"):
        kind = KINDS.get(record["key"])
        if kind is None or kind.describe is None:
            continue
        reader = replayer.RecordReader([*record["others"], record["object"]], timefmt.parse_ms(record["now"]))
        kind.describe(record["object"], reader, record["showEvents"])
        assert reader.asked == _asked(record["requests"]), record["id"]


@pytest.mark.parametrize("kind", KINDS.values(), ids=lambda kind: kind.kind)
def test_identity_is_what_discovery_says(kind: Kind):
    file = "api" if not kind.group else "apis"
    document = replayer.document(f"l2/facts/discovery/aggregated_{file}")
    groups = document.get("body", document)["items"]
    entry = next(
        resource
        for group in groups
        if group["metadata"].get("name", "") == kind.group
        for version in group["versions"]
        if version["version"] == kind.version
        for resource in version["resources"]
        if resource["resource"] == kind.plural
    )
    assert entry["responseKind"]["kind"] == kind.kind
    assert entry["singularResource"] == kind.singular
    assert tuple(entry["verbs"]) == kind.verbs
    assert tuple(entry.get("shortNames", ())) == kind.short_names
    assert tuple(entry.get("categories", ())) == kind.categories
    assert (entry["scope"] == "Namespaced") == kind.is_namespaced
    assert tuple(sub["subresource"] for sub in entry.get("subresources", ())) == kind.subresources


def _described(argv: list[str], state: dict[str, Any]) -> str | None:
    """What `kubectl describe` prints of a recorded cluster state; None when it is not about these kinds."""
    kinds = {
        word: kind for kind in KINDS.values() for word in (kind.plural, kind.singular, *kind.short_names)
    }
    if argv[0] != "describe" or any(word.startswith("-") or "," in word for word in argv[1:]):
        return None
    word, _, name = argv[1].partition("/")
    if word not in kinds or len(argv) > 3 or (name and len(argv) > 2):
        return None
    kind = kinds[word]
    wanted = name or (argv[2] if len(argv) > 2 else "")
    named = {kind.plural: kind.kind for kind in KINDS.values()}
    objects = [{**obj, "kind": named[plural]} for plural in named for obj in state.get(plural) or ()]
    chosen = [obj for obj in objects if obj["kind"] == kind.kind and wanted in ("", obj["metadata"]["name"])]
    reader = replayer.RecordReader(objects, 0)
    assert kind.describe is not None
    return "\n\n".join(
        kind.describe(obj, reader, len(chosen) == 1)
        for obj in sorted(chosen, key=lambda obj: obj["metadata"]["name"])
    )


def test_kubectl_describes_recorded_clusters_as_recorded():
    pairs = []
    for path in sorted((replayer.GOLDEN / "l2" / "kubectl").glob("*.json.gz")):
        recording = json.loads(gzip.decompress(path.read_bytes()))
        for case in recording["cases"] if recording.get("state") else ():
            got = _described(case["argv"], recording["state"]) if case["rc"] == 0 else None
            # The recorder shifts times, but not those of "Created on:".
            if got is not None and "Created on:" not in got:
                pairs.append((case["id"], got, case["stdout"]))
    assert sum(got == wanted for _, got, wanted in pairs) >= 31, replayer.differences(pairs)


def test_server_side_rows_of_recorded_clusters_are_as_recorded():
    plurals = {kind.plural: kind for kind in KINDS.values()}
    pairs = []
    for path in sorted((replayer.GOLDEN / "l2" / "kubectl").glob("*.json.gz")):
        recording = json.loads(gzip.decompress(path.read_bytes()))
        for plural in sorted(plurals.keys() & (recording.get("tables") or {}).keys()):
            table = recording["tables"][plural]
            now_ms = timefmt.parse_ms(recording["start"]) + table["t_ms"]
            objects = {obj["metadata"]["name"]: obj for obj in recording["state"].get(plural) or ()}
            pairs += [
                (
                    f"{recording['id']}/{row['name']}",
                    [column.cell(objects[row["name"]], now_ms) for column in plurals[plural].columns],
                    row["cells"],
                )
                for row in table["rows"]
                if row["name"] in objects
            ]
    assert sum(got == wanted for _, got, wanted in pairs) >= 86, replayer.differences(pairs)
