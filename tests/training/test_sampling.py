"""A vLLM server's answers as turns. The server here is a stand-in that speaks its HTTP; the real one needs a GPU."""

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import httpx
import pytest

from training.rollouts import Turn
from training.sampling import ServerPolicy, cut

END = 2


class Stand(BaseHTTPRequestHandler):
    """Repeats the last token of the prompt three times, then ends; obeys `max_tokens`."""

    def log_message(self, *_):
        pass

    def do_GET(self):
        self._say({"data": [{"id": "the-model"}]})

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.asked.append(body)
        ids = [body["prompt"][-1]] * 3 + [END]
        ids = ids[: body["max_tokens"]]
        scores = {"token_logprobs": [-0.5 * (index + 1) for index in range(len(ids))]}
        self._say(
            {"choices": [{"token_ids": ids, "logprobs": scores}]}, 200 if body["prompt"][-1] != 13 else 500
        )

    def _say(self, body, status=200):
        content = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)


@pytest.fixture
def server():
    with ThreadingHTTPServer(("127.0.0.1", 0), Stand) as stand:
        stand.asked = []
        thread = threading.Thread(target=stand.serve_forever)
        thread.start()
        yield stand
        stand.shutdown()
        thread.join()


def policy(server, **given):
    return ServerPolicy(f"http://127.0.0.1:{server.server_port}", [END], **given)


def test_each_context_gets_its_own_turn_and_each_request_its_own_seed(server):
    turns = policy(server, temperature=0.7).generate([[5, 7], [5, 8], [5, 7]], 16)
    assert turns == [Turn([last, last, last, END], [-0.5, -1.0, -1.5, -2.0]) for last in (7, 8, 7)]
    assert {body["model"] for body in server.asked} == {"the-model"}
    assert len({body["seed"] for body in server.asked}) == 3
    assert all(
        (body["temperature"], body["max_tokens"], body["logprobs"]) == (0.7, 16, 0) for body in server.asked
    )


def test_a_seeded_policy_asks_the_same_again(server):
    for _ in range(2):
        policy(server, seed=4).generate([[1, 2], [1, 3]], 8)
    first, second = (sorted(body["seed"] for body in server.asked[start : start + 2]) for start in (0, 2))
    assert first == second


def test_a_turn_that_runs_out_of_tokens_is_cut(server):
    assert policy(server).generate([[9]], 2) == [Turn([9, 9], [-0.5, -1.0], is_cut=True)]


def test_a_server_that_refuses_stops_the_run(server):
    with pytest.raises(httpx.HTTPStatusError):
        policy(server).generate([[13]], 2)


def test_nothing_after_the_end_of_a_turn_is_kept():
    assert cut([4, END, 4, END], [-1, -2, -3, -4], [END], 9) == Turn([4, END], [-1.0, -2.0])
    assert cut([], [], [END], 9) == Turn([], [], is_cut=True)
