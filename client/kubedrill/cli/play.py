"""`kubedrill play`: an incident for a person with tools of their own, kubectl, k9s or Helm.

Without a server's address it starts one as a child process. The cluster's clock follows the wall clock.
"""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
from pydantic import JsonValue

from kubedrill.http import HttpError, HttpResult, KubeHttpClient
from kubedrill.models import KubeState

_START_S_MAX = 60.0
_LOOK_S = 1.0


def play(task: str, *, seed: int | None, url: str, speed: float, kubeconfig: str, token: str = "") -> int:
    """Begin an episode, write its kubeconfig, tell how to attach, and wait for the end.

    Returns 0 when the incident is repaired, 2 when it is not.

    Raises:
        HttpError: for an unknown task, or a server that refuses.
        RuntimeError: if the server that it starts does not come up.
    """
    # A terminated command must not leave its server behind.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(2))
    with contextlib.ExitStack() as stack:
        base = url or stack.enter_context(_own_server())
        client = stack.enter_context(KubeHttpClient(base, token=token or None))
        begun = client.reset(task, seed)
        episode_id, episode_token = begun.observation.episode_id or "", begun.metadata["episode_token"]
        path = _written(kubeconfig, _kubeconfig(base, episode_id, episode_token))
        _pace(base, episode_id, episode_token, speed)
        _say(begun, path, speed)
        watch = _Watch(client, base, episode_id, episode_token)
        try:
            exit_code = watch.until_the_end()
        except KeyboardInterrupt:
            if not _ends_by_submission(begun):
                sys.stdout.write("\nleft; the episode is over for you\n")
                return 2
            # Here nothing ends by itself: leaving is handing in.
            client.step("submit")
            exit_code = watch.until_the_end()
        if not url and sys.stdin.isatty():
            _linger(base)
        return exit_code


def _ends_by_submission(begun: HttpResult) -> bool:
    """Whether the suite judges when one says so, not when all looks well."""
    return begun.observation.service_levels is not None


def _say(begun: HttpResult, path: Path, speed: float) -> None:
    seen = begun.observation
    pace = "in real time" if speed == 1 else f"at {speed:g} times real time" if speed else "only when you act"
    sys.stdout.write(
        f"{seen.incident_brief}\n{seen.recent_change_hint}\n\n"
        f"The cluster runs {pace}. In another terminal:\n\n"
        f"    export KUBECONFIG={path}\n"
        "    kubectl get pods -A\n\n"
        f"You have {seen.steps_max} changes (exec and cp count); looking is free. "
        + (
            "Ctrl-C hands your repair in for the verdict.\n"
            if _ends_by_submission(begun)
            else "This command ends when the service is repaired (Ctrl-C leaves).\n"
        )
    )
    sys.stdout.flush()


class _Watch:
    """Tells what the player does, change by change, and the verdict."""

    def __init__(self, client: KubeHttpClient, base: str, episode_id: str, token: str) -> None:
        self._client = client
        self._changes = f"{base}/episodes/{episode_id}/changes"
        self._headers = {"Authorization": f"Bearer {token}"}
        self._steps = 0

    def until_the_end(self) -> int:
        """Watch until the episode is over, and return 0 when it is repaired, 2 when it is not."""
        while True:
            state = self._client.state()
            if state.step_count != self._steps:
                self._tell()
                sys.stdout.write(f"  (service {state.service_score})\n")
                sys.stdout.flush()
            if state.done:
                _tell_verdict(state)
                return 0 if state.oracle_verdict == "success" else 2
            time.sleep(_LOOK_S)

    def _tell(self) -> None:
        """Show every change since the last look: one command may make several."""
        response = httpx.get(self._changes, params={"after": self._steps}, headers=self._headers, timeout=30)
        if not response.is_success:
            raise HttpError(response.status_code, "CHANGES", response.text)
        for change in response.json()["changes"]:
            self._steps = change["step"]
            sys.stdout.write(f"change {change['step']}: {change['action']}\n")


def _tell_verdict(state: KubeState) -> None:
    sys.stdout.write(f"{state.oracle_verdict or 'unfinished'}, score {state.oracle_score}\n")
    reasons: JsonValue = state.oracle_summary
    if isinstance(reasons, dict):
        reasons = reasons.get("reasons")
    for reason in reasons if isinstance(reasons, list) else [reasons]:
        if reason:
            sys.stdout.write(f"  {reason}\n")
    sys.stdout.flush()


def _linger(base: str) -> None:
    """Keep the own server up after the verdict, until the player has seen enough."""
    sys.stdout.write(f"The server stays up at {base}; Ctrl-C ends it.\n")
    sys.stdout.flush()
    with contextlib.suppress(KeyboardInterrupt, SystemExit):
        while True:
            time.sleep(_LOOK_S)


def _kubeconfig(base: str, episode_id: str, token: str) -> str:
    headers = {"Authorization": f"Bearer {token}"}
    response = httpx.get(f"{base}/episodes/{episode_id}/kubeconfig", headers=headers, timeout=30)
    if not response.is_success:
        raise HttpError(response.status_code, "KUBECONFIG", response.text)
    return response.text


def _pace(base: str, episode_id: str, token: str, speed: float) -> None:
    headers = {"Authorization": f"Bearer {token}"}
    body = {"speed": speed, "is_shifted": True}
    response = httpx.post(f"{base}/episodes/{episode_id}/pace", headers=headers, json=body, timeout=30)
    if not response.is_success:
        raise HttpError(response.status_code, "PACE", response.text)


def _written(path: str, text: str) -> Path:
    """Write a kubeconfig that only its owner may read, at a path or in a new directory."""
    target = Path(path) if path else Path(tempfile.mkdtemp(prefix="kubedrill-")) / "kubeconfig"
    with os.fdopen(
        os.open(target, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="utf-8"
    ) as file:
        file.write(text)
    return target.absolute()


@contextlib.contextmanager
def _own_server() -> Iterator[str]:
    """Yield the address of a server that ends with the block."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    child = subprocess.Popen([sys.executable, "-m", "server.app", "--host", "127.0.0.1", "--port", str(port)])
    url = f"http://127.0.0.1:{port}"
    try:
        _wait_for(url, child)
        yield url
    finally:
        child.terminate()
        try:
            child.wait(timeout=10)
        except subprocess.TimeoutExpired:
            child.kill()


def _wait_for(url: str, child: subprocess.Popen[bytes]) -> None:
    end_s = time.monotonic() + _START_S_MAX
    with KubeHttpClient(url, timeout_s=2.0) as client:
        while time.monotonic() < end_s:
            if child.poll() is not None:
                raise RuntimeError(f"the server ended with exit code {child.returncode}")
            if client.is_healthy():
                return
            time.sleep(0.1)
    raise RuntimeError("the server does not answer")
