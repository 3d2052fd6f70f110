"""What goes on for a while, with the official Python client: watches, informers, logs, commands, ports."""

from __future__ import annotations

import time
from contextlib import closing

import pytest
from kubernetes import informer, watch
from kubernetes.client import ApiException
from kubernetes.stream import portforward, stream

from tests.server.kubernetes.pythonkit import LEAVES_SOCKETS, SECONDS_MAX, config_map, pod_of, said

pytestmark = LEAVES_SOCKETS


def test_watches_from_where_it_listed(core):
    core.create_namespaced_config_map("default", config_map("a"))
    version = core.list_namespaced_config_map("default").metadata.resource_version
    core.patch_namespaced_config_map("a", "default", {"data": {"k": "v"}})
    core.delete_namespaced_config_map("a", "default")
    watching, seen = watch.Watch(), []
    for event in watching.stream(
        core.list_namespaced_config_map, "default", resource_version=version, allow_watch_bookmarks=True
    ):
        seen.append((event["type"], event["object"].metadata.name, event["object"].data))
        if event["type"] == "DELETED":
            watching.stop()
    assert seen == [("MODIFIED", "a", {"k": "v"}), ("DELETED", "a", {"k": "v"})]


def test_a_watch_ends_in_its_time(core):
    events = watch.Watch().stream(core.list_namespaced_pod, "tron", timeout_seconds=2)
    assert {event["type"] for event in events} >= {"ADDED"}


def test_an_informer_keeps_up(core):
    known = informer.SharedInformer(list_func=core.list_namespaced_config_map, namespace="default")
    seen = []
    for kind in ("ADDED", "DELETED"):
        known.add_event_handler(kind, lambda each, kind=kind: seen.append((kind, each.metadata.name)))
    known.start()
    try:
        core.create_namespaced_config_map("default", config_map("kept"))
        core.create_namespaced_config_map("default", config_map("gone"))
        core.delete_namespaced_config_map("gone", "default")
        for _ in range(SECONDS_MAX * 20):
            if ("DELETED", "gone") in seen:
                break
            time.sleep(0.05)
    finally:
        known.stop()
    assert ("DELETED", "gone") in seen
    assert {each.metadata.name for each in known.cache.list()} == {"kube-root-ca.crt", "kept"}


def test_reads_and_follows_logs(core):
    name = pod_of(core, "redis")
    text = core.read_namespaced_pod_log(name, "tron", tail_lines=1, timestamps=True)
    assert text.startswith("2026-01-05T")
    assert text.endswith("Ready to accept connections tcp\n")
    lines = watch.Watch().stream(
        core.read_namespaced_pod_log, name=name, namespace="tron", follow=True, limit_bytes=100
    )
    (line,) = lines
    assert line.startswith("1:C 05 Jan 2026")
    with pytest.raises(ApiException) as caught:
        core.read_namespaced_pod_log(name, "tron", container="nope")
    assert said(caught) == (400, "BadRequest", f"container nope is not valid for pod {name}")


def test_runs_commands(core):
    name = pod_of(core, "redis")
    connect = core.connect_get_namespaced_pod_exec
    assert stream(connect, name, "tron", command=["redis-cli", "ping"], stdout=True) == "PONG\n"
    both = {"stdout": True, "stderr": True, "_preload_content": False}
    ran = stream(connect, name, "tron", command=["sh", "-c", "echo a; echo b >&2; exit 3"], **both)
    ran.run_forever(timeout=SECONDS_MAX)
    assert (ran.read_stdout(), ran.read_stderr(), ran.returncode) == ("a\n", "b\n", 3)
    ran = stream(connect, name, "tron", command=["cat"], stdin=True, binary=True, **both)
    ran.write_stdin(bytes(range(256)))
    ran.close_channel(0)
    ran.run_forever(timeout=SECONDS_MAX)
    assert (ran.read_stdout(), ran.returncode) == (bytes(range(256)), 0)
    with pytest.raises(ApiException) as caught:
        stream(connect, "nope", "tron", command=["ls"], stdout=True)
    assert 'pods "nope" not found' in caught.value.reason.replace("\\", "")


def test_talks_to_a_shell(core):
    name = pod_of(core, "redis")
    shell = stream(
        core.connect_get_namespaced_pod_exec,
        name,
        "tron",
        command=["/bin/sh"],
        stdin=True,
        stdout=True,
        stderr=True,
        tty=False,
        _preload_content=False,
    )
    for written, lines in (
        ("cd /tmp\n", []),
        ("# a comment\n\n", []),
        ("pwd\n", ["/tmp"]),
        ("for each in 1 2\n", []),
        ("do echo $each; done\n", ["1", "2"]),
        ("cat <<END\nit is\n", []),
        ("here\nEND\n", ["it is", "here"]),
        ("nonsense; echo 'code", []),
        ("' $?\n", ["code 127"]),
    ):
        shell.write_stdin(written)
        for line in lines:
            assert shell.readline_stdout(timeout=SECONDS_MAX) == line
    assert "nonsense: not found" in shell.read_stderr()
    shell.write_stdin("(exit 4); exit $?\n")
    shell.run_forever(timeout=SECONDS_MAX)
    assert shell.returncode == 4


def test_forwards_ports(core):
    name = pod_of(core, "nginx")
    forwarded = portforward(core.connect_get_namespaced_pod_portforward, name, "tron", ports="8080,81")
    web, nothing = forwarded.socket(8080), forwarded.socket(81)
    with closing(web), closing(nothing):
        web.settimeout(SECONDS_MAX)
        web.sendall(b"GET /health HTTP/1.1\r\nHost: x\r\n")
        web.sendall(b"\r\nGET /health HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
        answers = b""
        while answers.count(b"\r\n\r\nok\n") < 2:
            answers += web.recv(1024)
        assert answers.count(b"HTTP/1.1 200 OK\r\n") == 2
        assert answers.count(b"\r\nConnection: keep-alive\r\n") == 1
        nothing.settimeout(SECONDS_MAX)
        nothing.sendall(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
        assert nothing.recv(1024) == b""
    assert forwarded.error(8080) is None
    assert forwarded.error(81).startswith("error forwarding port 81 to pod")
    assert forwarded.error(81).endswith("connect: connection refused")
    with pytest.raises(ApiException) as caught:
        portforward(core.connect_get_namespaced_pod_portforward, "nope", "tron", ports="80")
    assert "404" in caught.value.reason
