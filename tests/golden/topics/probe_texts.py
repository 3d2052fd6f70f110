"""l0/probe_texts: what a probe says of an answer."""

import re
from types import SimpleNamespace

from env_core.node import _asking
from env_core.programs import EMPTY, REFUSED, TIMEOUT, Reply, Request
from tests.golden.comparison import Comparison, Topic
from tests.golden.recordings import Folder, Record

ANSWERS = ("result", "output", "eventMessage")
_ADDRESS, _PORT = "10.244.1.12", 8080
_BODILESS = (204, 304)


def _served(request: Request) -> Reply:
    """Answer as the recorder's local server did, by path."""
    path = request.path
    code = re.fullmatch(r"/code/(\d+)", path)
    if code:
        status = int(code[1])
        return Reply(status=status, body="" if status in _BODILESS else f"body of {status}")
    if path == "/slow":
        return Reply(failure=TIMEOUT, latency_ms=request.timeout_ms)
    if path == "/drop":
        return Reply(failure=EMPTY)
    if path == "/loop":
        return Reply(status=302, headers=(("Location", "/loop"),))
    if path == "/local":
        return Reply(status=302, headers=(("Location", "/code/200"),))
    if path == "/remote":
        return Reply(status=302, headers=(("Location", "http://example.com/"),), body="")
    return Reply(status=500 if path == "/long" else 404, body="x" * 20_000)


def _judge(record: Record, _folder: Folder) -> Comparison:
    # Whether the port was open and how the client spoke is told by the recorded text only.
    is_closed = "connection refused" in record["output"]
    scheme = "HTTPS" if "https://" in record["output"] else "HTTP"
    listener = SimpleNamespace(port=_PORT, protocol="http")
    run = SimpleNamespace(
        program="p",
        container=None,
        launch=SimpleNamespace(listeners=(listener,)),
        listens_on=lambda port, _now_ms: port == _PORT and not is_closed,
    )

    def request_pod(_ip: str, _port: int, request: Request, _source: str) -> Reply:
        if is_closed:
            return Reply(failure=REFUSED)
        return _served(request) if request.protocol == "http" else Reply()

    host = SimpleNamespace(
        now_ms=0,
        runtime=SimpleNamespace(run=lambda _uid, _name: run),
        network=SimpleNamespace(request_pod=request_pod, probe_pod=request_pod),
        node=lambda _name: None,
        images=SimpleNamespace(program_called=lambda _name: None),
    )
    pod = SimpleNamespace(uid="u", node="n", sandbox=SimpleNamespace(address=_ADDRESS))
    if record["kind"] == "tcp":
        probe: Record = {"tcpSocket": {"port": _PORT}}
    else:
        probe = {"httpGet": {"port": _PORT, "path": record["path"], "scheme": scheme}}
    answer = _asking.ask(host, pod, {"name": "app"}, probe)
    got = {"result": answer.outcome, "output": answer.message}
    if answer.outcome == _asking.FAILURE:
        kind = "Readiness" if record["kind"] == "http" else "Liveness"
        got["eventMessage"] = f"{kind} probe failed: {answer.message}"
    return Comparison({field: record[field] for field in ANSWERS if field in record}, got)


TOPIC = Topic(name="l0/probe_texts", files=("probe_texts.jsonl",), answers=ANSWERS, judge=_judge)
