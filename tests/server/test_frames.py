"""The bytes of a WebSocket: however frames are cut, joined or mixed with others, each message has its one answer, in order."""

import json
import socket
import struct
from urllib.parse import urlsplit

import pytest

from tests.server.children import running

MASK = b"\x81\x85\x02\xfe"
TEXT, CONTINUATION, PING, PONG = 0x1, 0x0, 0x9, 0xA


@pytest.fixture(scope="module")
def url():
    with running() as found:
        yield found


def frame(payload, opcode=TEXT, *, final=True, masked=True):
    length = len(payload)
    first = (0x80 if final else 0) | opcode
    mark = 0x80 if masked else 0
    if length < 126:
        head = struct.pack("!BB", first, mark | length)
    elif length < 65_536:
        head = struct.pack("!BBH", first, mark | 126, length)
    else:
        head = struct.pack("!BBQ", first, mark | 127, length)
    if not masked:
        return head + payload
    return head + MASK + bytes(byte ^ MASK[at % 4] for at, byte in enumerate(payload))


class Raw:
    """A client that sends the bytes it is told to."""

    def __init__(self, url):
        place = urlsplit(url)
        self.socket = socket.create_connection((place.hostname, place.port), timeout=10)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.file = self.socket.makefile("rb")
        self.socket.sendall(
            b"GET /ws HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            b"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n"
        )
        assert self.file.readline().startswith(b"HTTP/1.1 101")
        while self.file.readline() != b"\r\n":
            pass

    def read(self):
        first, second = self.file.read(2)
        length = second & 0x7F
        if length == 126:
            length = int.from_bytes(self.file.read(2), "big")
        elif length == 127:
            length = int.from_bytes(self.file.read(8), "big")
        return first & 0x0F, self.file.read(length)

    def answer(self):
        opcode, payload = self.read()
        assert opcode == TEXT, (opcode, payload)
        return json.loads(payload)

    def ask(self, data):
        self.socket.sendall(data)
        return self.answer()

    def close(self):
        self.file.close()
        self.socket.close()


@pytest.fixture
def raw(url):
    client = Raw(url)
    client.ask(frame(b'{"type":"reset","data":{"seed":5,"episode_id":"ep"}}'))
    yield client
    client.close()


def step(command, **options):
    return frame(json.dumps({"type": "step", "data": {"command": command}}).encode(), **options)


def _let_the_server_look(client):
    """Return when the server has read what was sent: a later connection has been answered."""
    host, port = client.socket.getpeername()
    Raw(f"http://{host}:{port}").close()


@pytest.fixture(scope="module")
def expected(url):
    client = Raw(url)
    client.ask(frame(b'{"type":"reset","data":{"seed":5,"episode_id":"ep"}}'))
    found = [client.ask(step(f"line {at}")) for at in range(2)]
    client.close()
    return found


def test_a_frame_cut_anywhere_is_one_message(url, expected):
    whole = step("line 0")
    for at in range(1, len(whole)):
        client = Raw(url)
        client.ask(frame(b'{"type":"reset","data":{"seed":5,"episode_id":"ep"}}'))
        client.socket.sendall(whole[:at])
        _let_the_server_look(client)
        assert client.ask(whole[at:]) == expected[0], at
        assert client.ask(step("line 1")) == expected[1], at
        client.close()


def test_the_rest_of_a_frame_that_looks_like_a_whole_one_is_still_the_rest(raw):
    inner = json.dumps({"type": "step", "data": {"command": "x" * 150}}).encode()
    # The mask of the outer frame reads as the head of a frame of exactly what follows it.
    mask = struct.pack("!BBH", 0x81, 0xFE, len(inner))
    rest = mask + mask + bytes(byte ^ mask[at % 4] for at, byte in enumerate(inner))
    raw.socket.sendall(struct.pack("!BBH", 0x81, 0xFE, len(inner) + 4))
    _let_the_server_look(raw)
    answer = raw.ask(rest)
    assert (answer["type"], answer["data"]["code"]) == ("error", "INVALID_JSON")


def test_messages_in_one_packet_are_answered_in_order(raw, expected):
    raw.socket.sendall(step("line 0") + step("line 1"))
    assert [raw.answer(), raw.answer()] == expected


def test_a_step_right_behind_a_slow_message_waits_for_its_turn(raw):
    reset = frame(b'{"type":"reset","data":{"seed":5,"episode_id":"ep"}}')
    for _ in range(50):
        raw.socket.sendall(reset)
        raw.socket.sendall(step("line 0"))
        assert raw.answer()["data"]["reward"] is None
        assert raw.answer()["data"]["reward"] is not None


def test_a_fragmented_message_is_one_message_even_with_a_ping_inside(raw, expected):
    text = json.dumps({"type": "step", "data": {"command": "line 0"}}).encode()
    raw.socket.sendall(frame(text[:10], final=False))
    raw.socket.sendall(frame(b"are you there", PING))
    assert raw.read() == (PONG, b"are you there")
    assert raw.ask(frame(text[10:], CONTINUATION)) == expected[0]


def test_a_whole_text_frame_inside_a_fragmented_message_ends_the_connection(raw):
    raw.socket.sendall(frame(b'{"type":', final=False))
    _let_the_server_look(raw)
    raw.socket.sendall(step("line 0"))
    opcode, payload = raw.read()
    assert (opcode, payload[:2]) == (0x8, struct.pack("!H", 1002))


def test_an_unmasked_frame_ends_the_connection(raw):
    raw.socket.sendall(step("line 0", masked=False))
    opcode, payload = raw.read()
    assert (opcode, payload[:2]) == (0x8, struct.pack("!H", 1002))


@pytest.mark.parametrize(
    "text", [b"\xff\xfe\x00\x01", b"not json", b"[1]", b'{"type":"step","data":{"command":1}}']
)
def test_what_is_no_step_gets_the_same_answer_whole_and_fragmented(url, text):
    answers = []
    for parts in ([frame(text)], [frame(text[:2], final=False), frame(text[2:], CONTINUATION)]):
        client = Raw(url)
        client.ask(frame(b'{"type":"reset","data":{"seed":5}}'))
        client.socket.sendall(b"".join(parts))
        answers.append(client.read())
        client.close()
    assert answers[0] == answers[1]


def test_a_binary_step_is_answered_as_a_text_one(raw, expected):
    text = json.dumps({"type": "step", "data": {"command": "line 0"}}).encode()
    assert raw.ask(frame(text, 0x2)) == expected[0]


def test_a_long_answer_and_a_long_line_come_whole(raw):
    line = "x" * 3_000
    assert line in json.dumps(raw.ask(step(line)))
    assert "y" * 90 in json.dumps(raw.ask(step("y" * 100)))
