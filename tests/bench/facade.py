"""An episode's Kubernetes API over HTTP: the real kubectl beside the native one, requests, and watchers. Row 9."""

from __future__ import annotations

import argparse
import asyncio
import http.client
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from time import perf_counter
from typing import Any
from urllib.parse import urlsplit

import orjson

from env_core.episode import Episode
from tests.bench import kubectl
from tests.bench.measuring import Profile, collected, rounded, spread, timed_ms
from tests.bench.over_websocket import serving
from tests.bench.report import Row

_ROOT = Path(__file__).parents[2]
_MANIFEST = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: bench\n  namespace: tron\ndata:\n  a: b\n"
_COMMANDS = {
    "get": "get pods -n tron",
    "describe": "describe deployment nginx -n tron",
    "apply": "apply -f bench.yaml",
    "logs": "logs deploy/redis -n tron",
}
_READ = "/api/v1/namespaces/tron/pods"
_WATCHED = "/api/v1/namespaces/tron/configmaps"
CLIENTS = 8
WATCHERS = 200
WRITES = 12
"""Each is a step; an episode has 18."""
RATIO_GOAL = 300.0


class _Remote:
    """One episode on a server, with its API."""

    def __init__(self, url: str, episode: str) -> None:
        place = urlsplit(url)
        self.address = (place.hostname or "", place.port or 0)
        begun = self._post("/reset", {"task": "hard", "seed": 7, "episode_id": episode})
        self.token = begun["metadata"]["episode_token"]
        self.episode = f"/episodes/{episode}"
        self.base = f"{self.episode}/tokens/{self.token}/k8s"
        # The clock goes by itself, so that reads are free and the episode does not run out of steps.
        self._post(f"{self.episode}/pace", {"speed": 0.01})

    def _post(self, path: str, body: dict[str, Any]) -> dict[str, Any]:
        connection = http.client.HTTPConnection(*self.address)
        headers = {
            "content-type": "application/json",
            "authorization": f"Bearer {getattr(self, 'token', '')}",
        }
        connection.request("POST", path, orjson.dumps(body), headers)
        answer = connection.getresponse()
        found: dict[str, Any] = orjson.loads(answer.read())
        if answer.status != 200:
            raise RuntimeError(f"POST {path}: {answer.status} {found}")
        return found

    def kubeconfig(self) -> bytes:
        """Return the kubeconfig that the server hands out."""
        connection = http.client.HTTPConnection(*self.address)
        connection.request(
            "GET", f"{self.episode}/kubeconfig", headers={"authorization": f"Bearer {self.token}"}
        )
        return connection.getresponse().read()


def rows(profile: Profile, *, is_quick: bool) -> list[Row]:
    """Measure all against one server in a process of its own."""
    with serving(["-m", "server.app"], core=-1) as server:
        return [
            *_ratios(profile, _Remote(server.url, "compared"), is_quick=is_quick),
            _requests(_Remote(server.url, "flooded"), seconds=0.5 if is_quick else 3.0),
            _fan_out(_Remote(server.url, "watched"), writes=3 if is_quick else WRITES),
        ]


def _ratios(profile: Profile, remote: _Remote, *, is_quick: bool) -> list[Row]:
    program = kubectl.binary()
    found = []
    with tempfile.TemporaryDirectory() as home:
        (Path(home) / "bench.yaml").write_text(_MANIFEST, encoding="utf-8")
        (Path(home) / "config").write_bytes(remote.kubeconfig())
        environment = {"HOME": home, "PATH": os.environ["PATH"], "KUBECONFIG": str(Path(home) / "config")}
        for name, words in _COMMANDS.items():
            ours = _native(profile, words, 20 if is_quick else 300)
            real: dict[str, float] | None = None
            if program is not None:
                command = [str(program), *words.split()]
                values = [_timed(command, environment, home) for _ in range(2 if is_quick else 12)]
                real = spread(values[1:])
            found.append(
                Row(
                    id=f"9{'abcd'[len(found)]}",
                    what=f"kubectl {name}: native, times faster than the real binary on the same episode",
                    unit="×",
                    budget=RATIO_GOAL,
                    is_higher_better=True,
                    measured=rounded(real["p50"] / ours["p50"]) if real else None,
                    skipped="" if real else "no kubectl in the environment",
                    details={"native": ours, "binary": real},
                )
            )
    return found


def _native(profile: Profile, words: str, count: int) -> dict[str, float]:
    episode, _ = Episode.reset(suite="tron", task="hard", seed=7)
    incident: Any = episode._incident
    terminal = incident._terminal
    terminal.run(f"cat > bench.yaml <<'EOF'\n{_MANIFEST}EOF", lambda _argv: None, 60_000)

    def run() -> None:
        output = terminal.run(f"kubectl {words}", lambda _argv: None, 60_000)
        if output.exit_code:
            raise RuntimeError(f"kubectl {words}: {output.stderr}")

    run()
    with collected(), profile.of("9"):
        return spread([timed_ms(run) for _ in range(count)])


def _timed(command: list[str], environment: dict[str, str], home: str) -> float:
    return timed_ms(
        lambda: subprocess.run(command, env=environment, cwd=home, capture_output=True, check=True)
    )


def _in_a_process(remote: _Remote, *words: str) -> dict[str, Any]:
    """Return what this module prints when it is run against the episode: the load has a process of its own."""
    host, port = remote.address
    command = [
        sys.executable,
        "-m",
        "tests.bench.facade",
        "--host",
        host,
        "--port",
        str(port),
        "--base",
        remote.base,
    ]
    done = subprocess.run([*command, *words], cwd=_ROOT, capture_output=True, check=True)
    found: dict[str, Any] = orjson.loads(done.stdout)
    return found


def _requests(remote: _Remote, *, seconds: float) -> Row:
    found = _in_a_process(remote, "--seconds", str(seconds))
    return Row(
        id="9e",
        what=f"requests to an episode's API, {CLIENTS} clients, a list of pods",
        unit="requests/s",
        is_higher_better=True,
        measured=found["requests_a_second"],
        details=found,
    )


def _fan_out(remote: _Remote, *, writes: int) -> Row:
    found = _in_a_process(remote, "--writes", str(writes))
    return Row(
        id="9f",
        what=f"from a write until the last of {WATCHERS} watchers has its event, p50",
        unit="ms",
        measured=found["last_ms_p50"],
        details=found,
    )


# The load itself.


class _Client:
    """One keep-alive connection that speaks just enough HTTP/1.1."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader, self._writer = reader, writer

    @classmethod
    async def to(cls, host: str, port: int) -> _Client:
        return cls(*await asyncio.open_connection(host, port, limit=1 << 22))

    def send(self, method: str, path: str, body: bytes = b"") -> None:
        head = f"{method} {path} HTTP/1.1\r\nHost: x\r\nAccept: application/json\r\nContent-Type: application/json\r\n"
        self._writer.write(f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body)

    async def head(self) -> tuple[int, int]:
        """Return the status of an answer and the length of its body, -1 for one in chunks."""
        text = (await self._reader.readuntil(b"\r\n\r\n")).lower()
        status = int(text.split(b" ", 2)[1])
        _, found, rest = text.partition(b"content-length:")
        return status, int(rest.split(b"\r\n", 1)[0]) if found else -1

    async def answer(self) -> int:
        """Read one whole answer and return its status."""
        status, length = await self.head()
        await self._reader.readexactly(max(length, 0))
        return status

    async def chunk(self) -> bytes:
        """Return one chunk of a body."""
        size = int(await self._reader.readline(), 16)
        data = await self._reader.readexactly(size)
        await self._reader.readexactly(2)
        return data


async def _flood(host: str, port: int, base: str, seconds: float) -> dict[str, Any]:
    clients = [await _Client.to(host, port) for _ in range(CLIENTS)]
    end = perf_counter() + seconds
    spent_ms: list[float] = []

    async def ask(client: _Client) -> None:
        while perf_counter() < end:
            began = perf_counter()
            client.send("GET", base + _READ)
            status = await client.answer()
            if status != 200:
                raise RuntimeError(f"status {status}")
            spent_ms.append((perf_counter() - began) * 1_000)

    await asyncio.gather(*(ask(client) for client in clients))
    return {"requests_a_second": rounded(len(spent_ms) / seconds), "ms": spread(spent_ms)}


async def _watched(host: str, port: int, base: str, writes: int) -> dict[str, Any]:
    watchers = [await _Client.to(host, port) for _ in range(WATCHERS)]
    for watcher in watchers:
        watcher.send("GET", f"{base}{_WATCHED}?watch=true&fieldSelector=metadata.name%3Dfan-out")
        status, _ = await watcher.head()
        if status != 200:
            raise RuntimeError(f"status {status}")
    writer = await _Client.to(host, port)
    last_ms, first_ms = [], []
    for number in range(writes):
        body = {"metadata": {"name": "fan-out"}, "data": {"n": str(number)}}
        began = perf_counter()
        if number:
            writer.send("PUT", f"{base}{_WATCHED}/fan-out", orjson.dumps(body))
        else:
            writer.send("POST", base + _WATCHED, orjson.dumps(body))
        seen = await asyncio.gather(writer.answer(), *(_event(watcher, began) for watcher in watchers))
        if seen[0] not in (200, 201):
            raise RuntimeError(f"status {seen[0]}")
        last_ms.append(max(seen[1:]))
        first_ms.append(min(seen[1:]))
    return {
        "last_ms_p50": rounded(statistics.median(last_ms)),
        "first_ms_p50": rounded(statistics.median(first_ms)),
        "watchers": WATCHERS,
        "writes": writes,
    }


async def _event(watcher: _Client, began: float) -> float:
    await asyncio.wait_for(watcher.chunk(), 30)
    return (perf_counter() - began) * 1_000


def main() -> None:
    """Load an episode's API and print JSON."""
    parser = argparse.ArgumentParser(description="Load an episode's Kubernetes API.")
    parser.add_argument("--host", required=True)
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--base", required=True, help="the path of the API")
    parser.add_argument("--seconds", type=float, help="flood it with reads for so long")
    parser.add_argument("--writes", type=int, help="write so often before many watchers")
    given = parser.parse_args()
    where = (given.host, given.port, given.base)
    found = asyncio.run(_flood(*where, given.seconds) if given.seconds else _watched(*where, given.writes))
    print(orjson.dumps(found).decode())


if __name__ == "__main__":
    main()
