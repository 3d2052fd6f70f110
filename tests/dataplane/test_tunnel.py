"""What goes through a forwarded port is HTTP as the program speaks it."""

from __future__ import annotations

import pytest

from env_core.dataplane.tunnel import exchange, split_request
from tests.dataplane.world import World, tron_world


@pytest.fixture
def world() -> World:
    return tron_world()


@pytest.mark.parametrize(
    ("request_head", "is_last"),
    [
        ("GET /health HTTP/1.1\r\nHost: x", False),
        ("GET /health HTTP/1.1\r\nHost: x\r\nConnection: close", True),
        ("GET /health HTTP/1.0", True),
        ("GET /health HTTP/1.0\r\nConnection: keep-alive", False),
        ("HEAD /health HTTP/1.1\r\nHost: x\r\nconnection: Close", True),
    ],
)
def test_nginx_keeps_a_connection_for_whom_it_should(world: World, request_head: str, is_last: bool) -> None:
    exchanged = exchange(world.network, "tron", "nginx", 8080, f"{request_head}\r\n\r\n".encode())
    head, _, body = exchanged.answer.partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 200 OK\r\nServer: nginx/")
    assert head.endswith(b"\r\nConnection: close" if is_last else b"\r\nConnection: keep-alive")
    assert body == (b"" if request_head.startswith("HEAD") else b"ok\n")
    assert (exchanged.problem, exchanged.is_last) == ("", is_last)


def test_an_old_server_names_its_version_and_closes(world: World) -> None:
    exchanged = exchange(world.network, "tron", "nginx", 9000, b"GET /data HTTP/1.1\r\nHost: x\r\n\r\n")
    lines = exchanged.answer.split(b"\r\n")
    assert lines[0] == b"HTTP/1.0 200 OK"
    assert [line for line in lines if line.startswith(b":")] == []
    assert exchanged.is_last


def test_a_server_of_another_protocol_hangs_up(world: World) -> None:
    exchanged = exchange(world.network, "tron", "redis", 6379, b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
    assert (exchanged.answer, exchanged.problem) == (b"", "")


def test_nobody_listens(world: World) -> None:
    exchanged = exchange(world.network, "tron", "nginx", 9, b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
    assert exchanged.problem.endswith("dial tcp4 127.0.0.1:9: connect: connection refused")


def test_requests_are_cut_where_they_end() -> None:
    first = b"POST /a HTTP/1.1\r\nContent-Length: 3\r\n\r\nabc"
    assert split_request(first + b"GET") == (first, b"GET")
    assert split_request(first[:-1]) is None
    with pytest.raises(ValueError, match="no HTTP request"):
        split_request(b"*1\r\n$4\r\nPING\r\n\r\n")
