"""Port-forward over channels: who is refused, and in which words."""

from __future__ import annotations

import json

import pytest
from websocket import WebSocketBadStatusException, create_connection

from tests.server.kubernetes.pythonkit import LEAVES_SOCKETS, SECONDS_MAX, pod_of

pytestmark = LEAVES_SOCKETS
CHANNELS = ["v5.channel.k8s.io", "v4.channel.k8s.io"]


def opened(episode, pod, query, protocols=CHANNELS):
    base = episode.url.replace("http", "ws", 1)
    url = f"{base}/episodes/{episode.id}/k8s/api/v1/namespaces/tron/pods/{pod}/portforward{query}"
    header = [f"Authorization: Bearer {episode.token}"]
    return create_connection(url, SECONDS_MAX, subprotocols=protocols, header=header)


def test_refuses_what_cannot_be_forwarded(episode, core):
    pod = pod_of(core, "nginx")
    for query, protocols, said in (
        ("", CHANNELS, 'query parameter "port" is required'),
        ("?ports=0", CHANNELS, 'port "0" must be > 0'),
        ("?ports=" + ",".join(["80"] * 128), CHANNELS, "at most 127 ports can be forwarded"),
        ("?ports=80", ["v9.channel.k8s.io"], "unable to negotiate protocol"),
        (
            "?ports=http",
            CHANNELS,
            'cannot convert to []int32: strconv.ParseUint: parsing "http": invalid syntax',
        ),
        ("?ports=80,70000", CHANNELS, 'parsing "70000": value out of range'),
    ):
        with pytest.raises(WebSocketBadStatusException) as caught:
            opened(episode, pod, query, protocols)
        assert caught.value.status_code == 400
        body = caught.value.resp_body.decode()
        assert said in (json.loads(body)["message"] if body.startswith("{") else body)


def test_each_channel_begins_with_its_port(episode, core):
    socket = opened(episode, pod_of(core, "nginx"), "?ports=8080&ports=258")
    try:
        assert socket.subprotocol == "v4.channel.k8s.io"
        first = [socket.recv() for _ in range(4)]
        assert first == [b"\x00\x90\x1f", b"\x01\x90\x1f", b"\x02\x02\x01", b"\x03\x02\x01"]
        socket.send_binary(b"\x00GET /health HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
        assert socket.recv().startswith(b"\x00HTTP/1.1 200 OK\r\n")
        socket.send_binary(b"\x02no HTTP at all, but long enough\r\n\r\n")
        # Both connections have ended, so this one does.
        assert not socket.recv()
    finally:
        socket.close()
