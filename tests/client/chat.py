"""A real HTTP server that speaks chat-completions from a script of answers and faults."""

from __future__ import annotations

import contextlib
import json
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


def call(command, call_id="c1"):
    """Return the answer of a model that calls the tool."""
    function = {"name": "run_command", "arguments": json.dumps({"command": command})}
    return said(None, [{"id": call_id, "type": "function", "function": function}])


def said(text, calls=None):
    message = {"role": "assistant", "content": text}
    if calls:
        message["tool_calls"] = calls
    choice = {"index": 0, "message": message, "finish_reason": "stop"}
    return {"id": "x", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice]}


class Chat:
    """Answers in order; the last answer repeats. An answer is JSON, a status, (status, headers), text, or seconds to hang."""

    def __init__(self, answers):
        self.answers = list(answers)
        self.requests = []
        self.keys = []

    def next(self):
        return self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]


@contextlib.contextmanager
def chatting(*answers):
    """Yield the base URL and the chat."""
    chat = Chat(answers)

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self):
            chat.requests.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
            chat.keys.append(self.headers["Authorization"])
            answer, status, headers = chat.next(), 200, {}
            if isinstance(answer, tuple):
                status, headers = answer
                answer = {"error": {"message": "try later"}}
            elif isinstance(answer, int):
                status, answer = answer, {"error": {"message": "no"}}
            elif isinstance(answer, float):
                time.sleep(answer)
                answer = call("kubectl get pods")
            body = answer.encode() if isinstance(answer, str) else json.dumps(answer).encode()
            with contextlib.suppress(BrokenPipeError):
                self.send_response(status)
                for name, value in {
                    "Content-Type": "application/json",
                    "Content-Length": str(len(body)),
                    **headers,
                }.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(body)

        def log_message(self, *_):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}/v1", chat
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
