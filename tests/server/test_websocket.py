"""The WebSocket protocol: the frames of the stock server, and what we add to it."""

import json

import pytest
from openenv.core.env_server.http_server import create_fastapi_app
from openenv.core.env_server.interfaces import Environment
from openenv.core.env_server.types import Action, Observation, State
from starlette.testclient import TestClient
from starlette.websockets import WebSocketDisconnect


def ask(socket, message):
    socket.send_text(message if isinstance(message, str) else json.dumps(message))
    return json.loads(socket.receive_text())


def begin(socket, **fields):
    frame = ask(socket, {"type": "reset", "data": fields})
    assert frame["type"] == "observation", frame
    return frame["data"]


def step(socket, command):
    return ask(socket, {"type": "step", "data": {"command": command}})


class Echo(Action):
    command: str


class Echoed(Observation):
    output: str = ""


class EchoEnvironment(Environment):
    SUPPORTS_CONCURRENT_SESSIONS = True

    def __init__(self):
        super().__init__()
        self._state = State()

    def reset(self, seed=None, episode_id=None, **_):
        self._state = State(episode_id=episode_id or "generated")
        return Echoed(output="ready", reward=0.0, metadata={"note": 1})

    def step(self, action, timeout_s=None, **_):
        self._state.step_count += 1
        return Echoed(output=action.command, reward=0.5, metadata={"note": 1})

    @property
    def state(self):
        return self._state


@pytest.fixture(scope="module")
def stock():
    app = create_fastapi_app(EchoEnvironment, Echo, Echoed, env_name="echo", max_concurrent_envs=4)
    with TestClient(app, raise_server_exceptions=False) as client:
        yield client


MESSAGES = [
    '{"type":"reset"}',
    '{"type":"reset","data":{"seed":7,"episode_id":"ep"}}',
    '{"type":"reset","data":{"seed":7,"unknown":1}}',
    '{"type":"reset","data":5}',
    '{"type":"reset","seed":7}',
    '{"type":"state"}',
    '{"type":"state","x":1}',
    '{"type":"step","data":{"command":"a"}}',
    '{"type":"step","data":{}}',
    '{"type":"step","data":{"command":5}}',
    '{"type":"step","data":{"command":"a","extra":1}}',
    '{"type":"step","data":{"command":"a","metadata":{}}}',
    '{"type":"step"}',
    '{"type":"step","data":5}',
    '{"type":"step","data":{"command":"a"},"id":1}',
    '{"type":"nope"}',
    '{"type":5}',
    "{}",
    "not json",
    "",
    '{"type":"mcp","data":{"jsonrpc":"2.0","id":1,"method":"tools/list"}}',
    '{"type":"mcp","data":{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{}}}',
    '{"type":"mcp","data":{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x"}}}',
    '{"type":"mcp","data":{"jsonrpc":"2.0","id":1,"method":"initialize"}}',
    '{"type":"mcp","data":{"jsonrpc":"2.0","id":1,"method":"openenv/session/create"}}',
    '{"type":"mcp","data":{}}',
    '{"type":"mcp"}',
]


def shape(frame):
    data = frame["data"]
    if frame["type"] == "error":
        errors = [
            (entry["type"], entry["loc"], entry["msg"], sorted(entry)) for entry in data.get("errors", [])
        ]
        return ("error", data["code"], data["message"], errors, sorted(data))
    if frame["type"] == "observation":
        return ("observation", list(data), type(data["done"]), next(iter(data["observation"])))
    if frame["type"] == "mcp":
        return ("mcp", sorted(data), data.get("error", {}).get("code"))
    return (frame["type"], {"episode_id", "step_count"} <= set(data))


def test_the_same_messages_get_the_same_frames_and_codes_as_from_the_stock_server(http, stock):
    with http.websocket_connect("/ws") as ours, stock.websocket_connect("/ws") as theirs:
        begin(ours)
        ask(theirs, {"type": "reset"})
        for message in MESSAGES:
            assert shape(ask(ours, message)) == shape(ask(theirs, message)), message


def test_a_message_that_is_no_object_closes_the_socket_as_the_stock_server_does(http, stock):
    for client in (http, stock):
        with client.websocket_connect("/ws") as socket:
            assert ask(socket, "[1]")["data"]["code"] == "SESSION_ERROR"
            with pytest.raises(WebSocketDisconnect):
                socket.receive_text()


def test_close_closes_with_1000_and_no_message(http, stock):
    for client in (http, stock):
        with client.websocket_connect("/ws") as socket:
            socket.send_text('{"type":"close"}')
            with pytest.raises(WebSocketDisconnect) as closed:
                socket.receive_text()
            assert closed.value.code == 1000


def test_at_capacity_a_socket_is_told_and_closed_as_by_the_stock_server(serve, stock):
    ours = serve(episodes_max=4)
    frames = []
    for client in (ours, stock):
        sockets = [client.websocket_connect("/ws") for _ in range(5)]
        for socket in sockets:
            socket.__enter__()
        frames.append(json.loads(sockets[4].receive_text())["data"])
        with pytest.raises(WebSocketDisconnect):
            sockets[4].receive_text()
        for socket in reversed(sockets):
            socket.__exit__(None, None, None)
    for name in ("code", "message", "active_sessions", "max_sessions"):
        assert frames[0][name] == frames[1][name]
    assert frames[0]["retry_after_s"] > 0


def test_the_same_bodies_get_the_same_http_errors_as_from_the_stock_server(http, stock):
    http.post("/reset", json={})
    bodies = ["null", "[1]", "xx", '{"seed":-1}', '{"seed":"a"}', '{"episode_id":5}', '{"seed":1.5}']
    bodies_step = [
        "",
        "{}",
        "null",
        "[1]",
        "xx",
        '{"action":{"msg":"hi"}}',
        '{"action":5}',
        '{"action":{"command":"a"},"timeout_s":-1}',
    ]
    for path, given in (("/reset", bodies), ("/step", bodies_step)):
        for body in given:
            answers = [
                client.post(path, content=body, headers={"content-type": "application/json"})
                for client in (http, stock)
            ]
            assert [answer.status_code for answer in answers] == [422, 422], body
            assert answers[0].json() == answers[1].json(), body
    answers = [
        client.post("/reset", content="{}", headers={"content-type": "text/plain"})
        for client in (http, stock)
    ]
    assert answers[0].json() == answers[1].json()
    assert http.get("/reset").json() == stock.get("/reset").json()


def test_resets_and_steps_over_http_have_the_stock_keys(http, stock):
    for path, body in (("/reset", {"seed": 1}), ("/step", {"action": {"command": "a"}})):
        ours, theirs = (client.post(path, json=body).json() for client in (http, stock))
        assert list(ours)[:4] == list(theirs)


def test_reset_data_is_validated(http):
    with http.websocket_connect("/ws") as socket:
        for fields, code in (
            ({"seed": -5}, "VALIDATION_ERROR"),
            ({"options": {"nope": 1}}, "VALIDATION_ERROR"),
            ({"task": "nope"}, "UNKNOWN_TASK"),
        ):
            assert ask(socket, {"type": "reset", "data": fields})["data"]["code"] == code
        begin(socket, seed=5)


def test_the_wrapped_and_the_tool_form_of_an_action_are_accepted(http):
    frames = []
    for fields in (
        {"command": "a"},
        {"action": {"command": "a"}},
        {"tool": "run_command", "arguments": {"command": "a"}},
    ):
        with http.websocket_connect("/ws") as socket:
            begin(socket, seed=5)
            frames.append(ask(socket, {"type": "step", "data": fields}))
    assert frames[0] == frames[1] == frames[2]


def test_a_step_before_reset_and_after_the_end_are_told_apart_and_change_nothing(http):
    with http.websocket_connect("/ws") as socket:
        assert step(socket, "a")["data"]["code"] == "EPISODE_NOT_STARTED"
        begin(socket)
        assert step(socket, "kubectl fix")["data"]["done"] is True
        assert step(socket, "a")["data"]["code"] == "EPISODE_ENDED"
        assert ask(socket, {"type": "state"})["data"]["step_count"] == 1
        begin(socket)
        assert step(socket, "a")["type"] == "observation"


def test_a_refused_reset_leaves_the_episode_alone(http):
    with http.websocket_connect("/ws") as socket:
        begin(socket)
        step(socket, "a")
        ask(socket, {"type": "reset", "data": {"task": "nope"}})
        assert ask(socket, {"type": "state"})["data"]["step_count"] == 1


def test_an_error_frame_never_carries_an_exceptions_text(http):
    with http.websocket_connect("/ws") as socket:
        begin(socket)
        frame = step(socket, "kubectl boom")
        assert frame["data"]["code"] == "EXECUTION_ERROR"
        assert frame["data"]["error_id"] in frame["data"]["message"]
        assert "telltale" not in json.dumps(frame)
        assert step(socket, "a")["data"]["error_id"] == frame["data"]["error_id"]
        begin(socket)
        assert step(socket, "a")["type"] == "observation"


@pytest.mark.parametrize("command", ["\\ud800", "a\\u0000b", "é", "🚨", "a" * 65_536])
def test_odd_characters_never_break_a_session(http, command):
    with http.websocket_connect("/ws") as socket:
        begin(socket)
        frame = ask(socket, f'{{"type":"step","data":{{"command":"{command}"}}}}')
        assert frame["type"] in ("observation", "error")
        assert frame["data"].get("code") in (None, "VALIDATION_ERROR")
        assert step(socket, "a")["type"] == "observation"


def test_a_lost_episode_is_resumed_by_id_and_token(http):
    with http.websocket_connect("/ws") as socket:
        data = begin(socket, seed=9, episode_id="ep")
        token = data["metadata"]["episode_token"]
        last = step(socket, "a")
    with http.websocket_connect("/ws") as socket:
        assert (
            ask(socket, {"type": "reset", "data": {"episode_id": "ep", "episode_token": "wrong"}})["data"][
                "code"
            ]
            == "UNKNOWN_EPISODE"
        )
        resumed = ask(socket, {"type": "reset", "data": {"episode_id": "ep", "episode_token": token}})
        assert resumed == last
        assert step(socket, "b")["data"]["observation"]["step_count"] == 2
    with http.websocket_connect(f"/ws?episode_id=ep&episode_token={token}") as socket:
        assert ask(socket, {"type": "state"})["data"]["step_count"] == 2


def test_the_newest_connection_holds_the_episode(http):
    with http.websocket_connect("/ws") as old:
        token = begin(old, episode_id="ep")["metadata"]["episode_token"]
        with http.websocket_connect(f"/ws?episode_id=ep&episode_token={token}") as new:
            assert step(new, "a")["type"] == "observation"
            assert step(old, "a")["data"]["code"] == "EPISODE_TAKEN"
            assert step(new, "a")["data"]["observation"]["step_count"] == 2


def test_a_closed_episode_cannot_be_resumed(http):
    with http.websocket_connect("/ws") as socket:
        token = begin(socket, episode_id="ep")["metadata"]["episode_token"]
        socket.send_text('{"type":"close"}')
        with pytest.raises(WebSocketDisconnect):
            socket.receive_text()
    with http.websocket_connect("/ws") as socket:
        frame = ask(socket, {"type": "reset", "data": {"episode_id": "ep", "episode_token": token}})
        assert frame["data"]["code"] in ("EPISODE_EXPIRED", "UNKNOWN_EPISODE")
    assert http.get("/ready").json()["sessions"] == 0


def test_two_sockets_with_the_same_episode_id_never_meet(http):
    with http.websocket_connect("/ws") as one, http.websocket_connect("/ws") as two:
        begin(one, episode_id="same", seed=1)
        begin(two, episode_id="same", seed=2)
        step(one, "a")
        assert ask(one, {"type": "state"})["data"]["seed"] == 1
        assert ask(two, {"type": "state"})["data"] | {"step_count": 0} == ask(two, {"type": "state"})["data"]


def test_http_reaches_a_sockets_episode_only_with_its_token(http):
    with http.websocket_connect("/ws") as socket:
        token = begin(socket, episode_id="ep")["metadata"]["episode_token"]
        assert http.get("/state").status_code == 409
        assert http.get("/state", headers={"X-Episode-Id": "ep"}).status_code == 404
        answer = http.get("/state", headers={"X-Episode-Id": "ep", "X-Episode-Token": token})
        assert answer.json()["episode_id"] == "ep"


def test_an_idle_episode_on_an_open_socket_ends_with_an_explicit_frame(serve):
    client = serve(idle_s_max=30)
    table = client.app.state.play.table
    with client.websocket_connect("/ws") as socket:
        begin(socket)
        for session in table:
            session.touched_s -= 31
        assert table.sweep() == 1
        assert step(socket, "a")["data"]["code"] == "EPISODE_EXPIRED"
        assert step(socket, "a")["data"]["code"] == "EPISODE_EXPIRED"
        begin(socket)
        assert step(socket, "a")["type"] == "observation"


def test_a_session_of_the_stock_mcp_route_is_not_attached_to(http):
    with http.websocket_connect("/ws?session_id=x") as socket:
        assert json.loads(socket.receive_text())["data"]["code"] == "SESSION_ERROR"


def test_the_token_guards_the_socket(serve):
    client = serve(token="s3cret")
    with pytest.raises(WebSocketDisconnect), client.websocket_connect("/ws"):
        pass
    with client.websocket_connect("/ws", headers={"Authorization": "Bearer s3cret"}) as socket:
        begin(socket)
    with client.websocket_connect("/ws?token=s3cret") as socket:
        begin(socket)


def test_same_seed_and_actions_give_the_same_frames_on_every_socket(http):
    frames = []
    for _ in range(2):
        with http.websocket_connect("/ws") as socket:
            first = begin(socket, seed=5, episode_id="ep")
            del first["metadata"]
            frames.append(
                [first, step(socket, "a"), step(socket, "kubectl delete x"), ask(socket, {"type": "state"})]
            )
    assert frames[0] == frames[1]
