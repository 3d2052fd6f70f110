"""The server's own cost: steps and resets over a WebSocket, beside the stock echo template. Rows 2 and 5."""

from __future__ import annotations

import os
import socket
import statistics
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson

from env_core.suites.tron.tasks import STEPS_MAX
from tests.bench import in_process
from tests.bench.measuring import Profile, rounded
from tests.bench.report import Row

_ROOT = Path(__file__).parents[2]
_TASK = "hard"
_CHEAPEST = "kubectl version --client"
_READ = "kubectl -n tron get pods"
_SESSIONS = 64
_START_S_MAX = 60.0


def _cores() -> tuple[int, int]:
    """Return a core for the server and one for the generator; -1, -1 where there are not two."""
    found = sorted(os.sched_getaffinity(0))
    return (found[0], found[1]) if len(found) >= 2 else (-1, -1)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@dataclass(frozen=True, slots=True)
class _Server:
    """A running server."""

    url: str
    pid: int

    def cpu_s(self) -> float:
        """Return the CPU time that it has used, user and system."""
        fields = Path(f"/proc/{self.pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


@contextmanager
def serving(command: list[str], *, core: int, **variables: str) -> Iterator[_Server]:
    """Yield a server in a process of its own, on a free port."""
    port = _free_port()
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith("KUBEDRILL_") and name not in ("PORT", "HOST")
    }
    path = os.pathsep.join(
        filter(None, (str(_ROOT), str(_ROOT / "client"), os.environ.get("PYTHONPATH", "")))
    )
    process = subprocess.Popen(
        [sys.executable, *command, "--port", str(port)],
        cwd=_ROOT,
        env={**kept, "PYTHONPATH": path, **variables},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        if core >= 0:
            os.sched_setaffinity(process.pid, {core})
        _await_health(process, port)
        yield _Server(f"http://127.0.0.1:{port}", process.pid)
    finally:
        process.terminate()
        try:
            process.wait(timeout=20)
        except subprocess.TimeoutExpired:
            process.kill()


def _await_health(process: subprocess.Popen[bytes], port: int) -> None:
    end = time.monotonic() + _START_S_MAX
    while time.monotonic() < end:
        if process.poll() is not None:
            raise RuntimeError(f"the server ended with {process.returncode}")
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/health", timeout=2) as answer:
                if answer.status == 200:
                    return
        except (urllib.error.URLError, OSError):
            time.sleep(0.05)
    raise RuntimeError("the server does not answer")


def _load(
    server: _Server,
    *,
    reset: dict[str, Any],
    step: dict[str, Any],
    steps: int,
    seconds: float,
    sessions: int = _SESSIONS,
    core: int = -1,
) -> dict[str, Any]:
    cpu_from = server.cpu_s()
    done = subprocess.run(
        [
            sys.executable, "-m", "tests.bench.load", "--url", server.url, "--sessions", str(sessions), "--seconds", str(seconds),
            "--reset", orjson.dumps({"type": "reset", "data": reset}).decode(),
            "--step", orjson.dumps({"type": "step", "data": step}).decode(),
            "--steps", str(steps), "--core", str(core),
        ],
        cwd=_ROOT, capture_output=True, check=True,
    )  # fmt: skip
    found: dict[str, Any] = orjson.loads(done.stdout)
    if found["errors"]:
        raise RuntimeError(f"{found['errors']} errors under load: {found['first_errors']}")
    found["server_cpu_ms_a_message"] = rounded((server.cpu_s() - cpu_from) * 1_000 / found["messages_in_all"])
    return found


def _ours(
    server: _Server,
    command: str,
    *,
    seconds: float,
    sessions: int = _SESSIONS,
    steps: int = 0,
    core: int = -1,
) -> dict[str, Any]:
    # One step less than the task allows: a verdict has its own row.
    return _load(
        server,
        reset={"task": _TASK, "seed": 7},
        step={"command": command},
        steps=steps or STEPS_MAX[_TASK] - 1,
        seconds=seconds,
        sessions=sessions,
        core=core,
    )


def _stock(server: _Server, *, seconds: float, core: int) -> dict[str, Any]:
    return _load(server, reset={}, step={"message": _CHEAPEST}, steps=-1, seconds=seconds, core=core)


def _median(runs: list[dict[str, Any]], name: str = "steps_a_second") -> float:
    return rounded(statistics.median(run[name] for run in runs))


def _has_workers() -> bool:
    done = subprocess.run(
        [sys.executable, "-m", "server.app", "--help"],
        cwd=_ROOT,
        env={
            **os.environ,
            "PYTHONPATH": os.pathsep.join(
                (str(_ROOT), str(_ROOT / "client"), os.environ.get("PYTHONPATH", ""))
            ),
        },
        capture_output=True,
        text=True,
        check=False,
    )
    return "--workers" in done.stdout


def rows(_profile: Profile, *, is_quick: bool) -> list[Row]:
    """Interleave runs on our server and on the stock one, and report medians."""
    rounds, seconds = (1, 0.5) if is_quick else (3, 3.0)
    server_core, load_core = _cores()
    stock_command = ["-m", "uvicorn", "tests.bench.echo:app"]
    cheapest: list[dict[str, Any]] = []
    stock: list[dict[str, Any]] = []
    read: list[dict[str, Any]] = []
    with (
        serving(["-m", "server.app"], core=server_core) as our_server,
        serving(stock_command, core=server_core) as stock_server,
    ):
        _ours(our_server, _READ, seconds=seconds, core=load_core)
        _stock(stock_server, seconds=seconds, core=load_core)
        for _ in range(rounds):
            cheapest.append(_ours(our_server, _CHEAPEST, seconds=seconds, core=load_core))
            stock.append(_stock(stock_server, seconds=seconds, core=load_core))
            read.append(_ours(our_server, _READ, seconds=seconds, core=load_core))
        # One session that resets after every step: the reset's own latency.
        again = _ours(our_server, _CHEAPEST, seconds=seconds, sessions=1, steps=1, core=load_core)
    shared = {"sessions": _SESSIONS, "rounds": rounds, "seconds_a_run": seconds}
    stock_rate = _median(stock)
    found = [
        Row(
            id="2w",
            what="reset built before, over WS, one session, p50",
            unit="ms",
            budget=5.0,
            measured=again["reset_ms_p50"],
            details=again,
        ),
        Row(
            id="5a",
            what="WS, 64 sessions, kubectl version --client",
            unit="steps/s",
            budget=stock_rate,
            is_higher_better=True,
            measured=_median(cheapest),
            peer="the stock echo template",
            peer_measured=stock_rate,
            details={**shared, "ours": cheapest, "stock": stock},
        ),
        Row(
            id="5b",
            what="WS, 64 sessions, kubectl get pods, 1 process",
            unit="steps/s",
            is_higher_better=True,
            measured=_median(read),
            peer="the stock echo template",
            peer_measured=stock_rate,
            details={**shared, "ours": read},
        ),
    ]
    return [
        *found,
        _own_cost(cheapest, stock, is_quick=is_quick),
        _with_workers(rounds, seconds, stock_rate),
    ]


def _own_cost(cheapest: list[dict[str, Any]], stock: list[dict[str, Any]], *, is_quick: bool) -> Row:
    """Return what the server adds to a step, beside the whole of a stock step, which has no world behind it.

    In CPU time, which a busy machine changes less than rates.
    """
    simulator_ms = in_process.step_cpu_ms(_CHEAPEST, is_quick=is_quick)
    whole_ms = _median(cheapest, "server_cpu_ms_a_message")
    return Row(
        id="5d",
        what="CPU of the server itself in such a step: all less in process",
        unit="ms",
        measured=rounded(max(whole_ms - simulator_ms, 0.0)),
        peer="a stock step",
        peer_measured=_median(stock, "server_cpu_ms_a_message"),
        details={"whole_ms": rounded(whole_ms), "in_process_ms": rounded(simulator_ms)},
    )


def _with_workers(rounds: int, seconds: float, stock_rate: float) -> Row:
    runs: list[dict[str, Any]] = []
    if _has_workers():
        with serving(["-m", "server.app", "--workers", "2"], core=-1) as server:
            runs = [_ours(server, _READ, seconds=seconds) for _ in range(rounds)]
    return Row(
        id="5c",
        what="WS, 64 sessions, kubectl get pods, 2 workers",
        unit="steps/s",
        budget=2_000.0,
        is_higher_better=True,
        measured=_median(runs) if runs else None,
        peer="the stock echo template" if runs else "",
        peer_measured=stock_rate if runs else None,
        skipped="" if runs else "the server has no --workers",
        details={"ours": runs},
    )
