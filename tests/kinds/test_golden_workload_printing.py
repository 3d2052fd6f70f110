"""Workload kinds print as recorded: table cells, column definitions, describe."""

from __future__ import annotations

import re
from urllib.parse import parse_qs, urlsplit

import pytest

from env_core.apiserver.kind import Kind
from env_core.kinds import (
    controllerrevision,
    cronjob,
    daemonset,
    deployment,
    horizontalpodautoscaler,
    job,
    pod,
    replicaset,
    replicationcontroller,
    statefulset,
)
from env_core.kinds._columns_pod import row_conditions
from env_core.kinds._describe_template import same_template
from env_core.kinds._describe_text import LineWriter, annotations_lines, write_events
from env_core.objects.tabwriter import TabWriter
from env_core.sim import timefmt
from tests.kinds import replayer

KINDS: dict[str, Kind] = {
    replayer.key_of(module.KIND): module.KIND
    for module in (
        controllerrevision,
        cronjob,
        daemonset,
        deployment,
        horizontalpodautoscaler,
        job,
        pod,
        replicaset,
        replicationcontroller,
        statefulset,
    )
}


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
    matched = sum(got == wanted for _, got, wanted in pairs)
    assert matched >= 122, replayer.differences(pairs)


def test_describe_is_as_recorded():
    pairs = [
        (record["id"], replayer.describe_record(KINDS[record["key"]], record), record["output"])
        for record in replayer.records("l0/describe")
        if record["key"] in KINDS
    ]
    matched = sum(got == wanted for _, got, wanted in pairs)
    assert matched >= 128, replayer.differences(pairs)


def test_a_describer_asks_the_server_what_kubectl_asks():
    wrong = []
    asked = 0
    for record in replayer.records("l0/describe"):
        if record["key"] not in KINDS:
            continue
        reader = replayer.RecordReader([*record["others"], record["object"]], timefmt.parse_ms(record["now"]))
        KINDS[record["key"]].describe(record["object"], reader, record["showEvents"])
        wanted = [_question(request) for request in record["requests"][1:]]
        asked += len(wanted)
        if [_plain(question) for question in reader.asked] != wanted:
            wrong.append((record["id"], reader.asked, wanted))
    assert asked > 100
    assert wrong == []


def _question(request: str) -> str:
    """Return a recorded request in the words of `RecordReader.asked`."""
    url = urlsplit(request.removeprefix("GET "))
    *_, namespace, resource = url.path.split("/")
    query = parse_qs(url.query)
    if resource == "events":
        name = query["fieldSelector"][0].split("involvedObject.name=")[1].split(",")[0]
        return f"events {name}"
    return f"list {resource} {namespace} {query.get('labelSelector', [''])[0]}"


def _plain(question: str) -> str:
    return re.sub(r"^list (\w+)\.\S+", r"list \1", question)


@pytest.mark.parametrize("key", sorted(set(KINDS) & set(replayer.document("l0/printer_columns"))))
def test_column_definitions_are_as_recorded(key):
    wanted = [
        (column["name"], column["type"], column["format"], column["priority"])
        for column in replayer.document("l0/printer_columns")[key]
    ]
    assert [
        (column.name, column.type, column.format, column.priority) for column in KINDS[key].columns
    ] == wanted


@pytest.mark.parametrize("kind", KINDS.values(), ids=sorted(KINDS))
def test_the_server_s_column_definitions_are_those(kind):
    prefix = "/apis/" if kind.group else "/api/"
    table = replayer.document("l2/facts/tables")[f"{prefix}{kind.api_version}/{kind.plural}"]
    wanted = [
        (column["name"], column["type"], column["format"], column["priority"])
        for column in table["columnDefinitions"]
    ]
    assert [(column.name, column.type, column.format, column.priority) for column in kind.columns] == wanted


@pytest.mark.parametrize("kind", KINDS.values(), ids=sorted(KINDS))
def test_identity_is_as_discovered(kind):
    name = "aggregated_apis" if kind.group else "aggregated_api"
    found = next(
        resource
        for item in replayer.document(f"l2/facts/discovery/{name}")["items"]
        for version in item["versions"]
        if (item["metadata"].get("name") or "") == kind.group and version["version"] == kind.version
        for resource in version["resources"]
        if resource["resource"] == kind.plural
    )
    assert kind.kind == found["responseKind"]["kind"]
    assert kind.singular == found["singularResource"]
    assert list(kind.short_names) == found.get("shortNames", [])
    assert list(kind.categories) == found.get("categories", [])
    assert list(kind.verbs) == found["verbs"]
    assert list(kind.subresources) == [entry["subresource"] for entry in found.get("subresources", [])]
    assert kind.has_status is ("status" in kind.subresources)
    assert (kind.scale is not None) is ("scale" in kind.subresources)


def test_lists_print_as_recorded():
    pairs = []
    for record in replayer.records("l0/printer_lists"):
        kind = KINDS.get(record["key"])
        if kind is None:
            continue
        for option, is_wide in (("default", False), ("wide", True)):
            shown = [column for column in kind.columns if is_wide or column.priority == 0]
            now_ms = timefmt.parse_ms(record["now"])
            table = TabWriter(remember_widths=True)
            table.write("\t".join(column.name.upper() for column in shown) + "\n")
            for obj in record["objects"]:
                table.write("\t".join(str(column.cell(obj, now_ms)) for column in shown) + "\n")
            pairs.append((f"{record['id']} {option}", table.flush(), record["texts"][option]))
    matched = sum(got == wanted for _, got, wanted in pairs)
    assert matched >= 72, replayer.differences(pairs)


def test_describe_is_what_a_real_kubectl_printed_of_real_objects():
    """Cases whose objects changed between snapshot and command cannot match; ages may be off by a second."""
    matched = 0
    pairs = []
    for path in sorted((replayer.GOLDEN / "l2" / "kubectl").iterdir()):
        session = replayer.document(f"l2/kubectl/{path.name.removesuffix('.json.gz')}")
        objects = [obj for group in session["state"].values() for obj in group]
        for case in session["cases"]:
            found = _described(session, case)
            if not found:
                continue
            kind, described = found
            wanted = re.sub(r"  Resource Version: .*\n", "", case["stdout"])  # snapshots leave versions out
            got = ""
            for offset_ms in range(-1000, 2001, 125):
                now_ms = timefmt.parse_ms(session["start"]) + case["t_ms"] + offset_ms
                reader = replayer.RecordReader(objects, now_ms)
                got = "\n\n".join(kind.describe(obj, reader, len(described) == 1) for obj in described)
                if got == wanted:
                    break
            matched += got == wanted
            pairs.append((case["id"], got, wanted))
    assert matched >= 94, replayer.differences(pairs)


def _described(session, case):
    """Return the kind and the objects that a `describe` command is about, None for other commands."""
    if case["argv"][0] != "describe" or case["rc"] or len(case["argv"]) > 3 or len(case["argv"]) < 2:
        return None
    words = case["argv"][1].split("/") if len(case["argv"]) == 2 else case["argv"][1:]
    kind = next(
        (kind for kind in KINDS.values() if words[0] in (kind.plural, kind.singular, *kind.short_names)), None
    )
    if kind is None or kind.describe is None:
        return None
    objects = session["state"].get(kind.plural, [])
    if len(words) == 2:
        objects = [obj for obj in objects if obj["metadata"]["name"] == words[1]]
    return (kind, objects) if objects else None


def test_rows_of_pods_that_have_ended_carry_a_condition():
    for record in replayer.records("l0/printers"):
        if record["key"] == "v1/Pod":
            assert row_conditions(record["object"]) == (record.get("conditions") or []), record["id"]


def _pod(**metadata):
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "p", "namespace": "n", "uid": "u", **metadata},
        "spec": {"containers": [{"name": "c", "image": "i"}]},
        "status": {"phase": "Running"},
    }


def _event(message, last, **fields):
    return {
        "kind": "Event",
        "metadata": {"name": message, "namespace": "n"},
        "involvedObject": {"name": "p", "namespace": "n", "uid": "u"},
        "type": "Normal",
        "reason": "R",
        "message": message,
        "source": {"component": "kubelet"},
        "firstTimestamp": last,
        "lastTimestamp": last,
        **fields,
    }


NOW_MS = timefmt.parse_ms("2026-01-15T12:00:00Z")


def test_columns_of_different_pods_do_not_mix():
    first, second = _pod(), _pod(deletionTimestamp="2026-01-15T12:00:00Z")
    status = next(column.cell for column in pod.KIND.columns if column.name == "Status")
    ready = next(column.cell for column in pod.KIND.columns if column.name == "Ready")
    assert [status(first, NOW_MS), status(second, NOW_MS), ready(first, NOW_MS), status(first, NOW_MS)] == [
        "Running",
        "Terminating",
        "0/1",
        "Running",
    ]


def test_a_failed_container_outweighs_a_completed_one_unless_another_runs():
    completed = {"name": "a", "state": {"terminated": {"exitCode": 0, "reason": "Completed"}}}
    failed = {"name": "b", "state": {"terminated": {"exitCode": 3, "reason": "Error"}}}
    running = {"name": "c", "ready": True, "state": {"running": {}}}
    status = next(column.cell for column in pod.KIND.columns if column.name == "Status")

    def shown(*containers):
        return status(
            {**_pod(), "status": {"phase": "Failed", "containerStatuses": list(containers)}}, NOW_MS
        )

    assert shown(completed, failed) == "Error"
    assert shown(failed, completed) == "Error"
    assert shown(completed, failed, running) == "NotReady"


def test_events_of_a_mirror_pod_are_those_of_its_static_pod():
    mirror = _pod(annotations={"kubernetes.io/config.mirror": "static"})
    event = _event(
        "Pulled", "2026-01-15T11:59:00Z", involvedObject={"name": "p", "namespace": "n", "uid": "static"}
    )
    text = pod.KIND.describe(mirror, replayer.RecordReader([event], NOW_MS), True)
    assert "Pulled" in text


def test_events_name_the_container_they_are_about_and_stand_oldest_first():
    about = {"name": "p", "namespace": "n", "uid": "u", "fieldPath": "spec.containers{c}"}
    events = [
        _event(
            "late",
            "2026-01-15T11:59:50Z",
            involvedObject=about,
            count=3,
            firstTimestamp="2026-01-15T11:50:00Z",
        ),
        _event("early", "2026-01-15T11:59:00Z"),
    ]
    writer = LineWriter()
    write_events(writer, events, NOW_MS)
    assert writer.text() == (
        "Events:\n"
        "  Type    Reason  Age                From     Message\n"
        "  ----    ------  ----               ----     -------\n"
        "  Normal  R       60s                kubelet  early\n"
        "  Normal  R       10s (x3 over 10m)  kubelet  spec.containers{c}: late\n"
    )


def test_annotations_hide_what_apply_remembers_and_cut_long_lines():
    lines = annotations_lines(
        "Annotations",
        {
            "kubectl.kubernetes.io/last-applied-configuration": "{}",
            "long": "x" * 200,
            "a": "1\n",
            "m": "1\n2",
        },
    )
    assert lines == [
        "Annotations:\ta: 1",
        "\tlong:",
        "\t  " + "x" * 138 + "...",
        "\tm:",
        "\t  1",
        "\t  2",
    ]


def test_control_characters_are_made_visible():
    writer = LineWriter()
    writer.line(0, "Message:\t\x1b[31mred\rgone")
    assert writer.text() == "Message:  ^[[31mred\\rgone\n"


@pytest.mark.parametrize(
    ("first", "second", "is_same"),
    [
        (
            {"metadata": {"labels": {"a": "b", "pod-template-hash": "1"}}},
            {"metadata": {"labels": {"a": "b"}}},
            True,
        ),
        ({"metadata": {}, "spec": {"volumes": []}}, {"metadata": {"labels": {}}, "spec": {}}, True),
        ({"spec": {"containers": [{"image": "a"}]}}, {"spec": {"containers": [{"image": "b"}]}}, False),
        ({"spec": {"containers": [{"image": "a"}]}}, {"spec": {"containers": []}}, False),
    ],
)
def test_templates_are_compared_without_their_hash(first, second, is_same):
    assert same_template(first, second) is is_same
