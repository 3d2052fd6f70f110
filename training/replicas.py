"""Server replicas behind one object: the least loaded is chosen, a dead one is left out until it answers again.

    with Replicas.started(2) as replicas:          # two servers of this checkout, ended with the block
    with Replicas.at(["http://a:8000", "http://b:8000"]) as replicas:

An episode lives in one process, so a replica is one process behind one URL; never a port that several share.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import BinaryIO, Protocol

from kubedrill.http import KubeHttpClient

ROOT = Path(__file__).resolve().parents[1]
START_S_MAX = 180.0
STOP_S_MAX = 10.0
HANG_S_MAX = 30.0
"""A server of ours that runs and has not answered for this long is started again."""
CHECK_S = 0.25
_WATCHED = """
import os, sys, threading

def wait_for_the_end():
    sys.stdin.buffer.read()
    os._exit(0)

threading.Thread(target=wait_for_the_end, daemon=True).start()
from server.app import main
main()
"""
"""Serves until its standard input ends, as it does when whoever started it is gone, however it went."""
_OWN = ("HOST", "PORT", "KUBEDRILL_JOURNAL")
"""Variables that replicas must not share with each other or with the trainer."""


class ReplicaError(RuntimeError):
    """Raised when a server does not start, or none is left to play on."""


class Host(Protocol):
    """Whatever holds the server's process."""

    url: str

    def start(self) -> None:
        """Start the process, again if there was one. Returns at once; the server answers later."""

    def is_running(self) -> bool:
        """Whether the process is there, so far as one can know."""

    def said(self) -> str:
        """Return the last lines of what it wrote, as far as is known."""

    def stop(self) -> None:
        """End the process. May be called more than once."""


class Elsewhere:
    """A server that others run."""

    def __init__(self, url: str) -> None:
        self.url = url.rstrip("/")

    def start(self) -> None:
        """Do nothing: it comes back when its owners bring it back."""

    def is_running(self) -> bool:
        """Return True: nobody here knows better."""
        return True

    def said(self) -> str:
        """Return nothing: its words are with its owners."""
        return ""

    def stop(self) -> None:
        """Do nothing."""


class Child:
    """A server of this checkout in a process of its own, on a free port of this machine."""

    def __init__(
        self, *, host: str = "127.0.0.1", python: str = "", variables: Mapping[str, str] | None = None
    ) -> None:
        self._host = host
        self._python = python or server_python()
        self._variables = dict(variables or {})
        self._log: BinaryIO | None = None
        self._process: subprocess.Popen[bytes] | None = None
        self.url = ""

    def start(self) -> None:
        """Start the server, at the port that it had before if there was one."""
        self.stop()
        if not self.url:
            self.url = f"http://{self._host}:{free_port(self._host)}"
        inherited = {name: value for name, value in os.environ.items() if name not in _OWN}
        paths = [str(ROOT), str(ROOT / "client"), inherited.get("PYTHONPATH", "")]
        environment = {**inherited, "PYTHONPATH": os.pathsep.join(filter(None, paths)), **self._variables}
        port = self.url.rpartition(":")[2]
        self._log = tempfile.TemporaryFile()  # noqa: SIM115 - the process writes to it until `stop` closes it
        self._process = subprocess.Popen(
            [self._python, "-c", _WATCHED, "--host", self._host, "--port", port],
            cwd=ROOT,
            env=environment,
            stdin=subprocess.PIPE,
            stdout=self._log,
            stderr=self._log,
        )

    def is_running(self) -> bool:
        """Whether the process has been started and has not ended."""
        return self._process is not None and self._process.poll() is None

    @property
    def pid(self) -> int:
        """The process id.

        Raises:
            ReplicaError: before the start.
        """
        if self._process is None:
            raise ReplicaError("the server has not been started")
        return self._process.pid

    def said(self) -> str:
        """Return the last lines of what the server wrote."""
        if self._log is None:
            return ""
        self._log.seek(0)
        return "\n".join(self._log.read().decode(errors="replace").splitlines()[-8:])

    def stop(self) -> None:
        """End the process: politely at first."""
        process, self._process = self._process, None
        log, self._log = self._log, None
        if log is not None:
            log.close()
        if process is None:
            return
        # Leaving the block closes the pipe and waits for the process.
        with process:
            process.terminate()
            try:
                process.wait(timeout=STOP_S_MAX)
            except subprocess.TimeoutExpired:
                process.kill()


class Replica:
    """One server, with what is known of it."""

    def __init__(self, host: Host) -> None:
        self.host = host
        self.load = 0
        """How many episodes of ours it plays."""
        self.is_up = True
        self.hopeless_at_s = 0.0
        """When to start it again, if it runs and has not come back."""

    @property
    def url(self) -> str:
        """Where it listens."""
        return self.host.url

    def is_healthy(self, token: str = "") -> bool:
        """Whether it answers, within 2 s, that it is well."""
        if not self.url:
            return False
        try:
            with KubeHttpClient(self.url, token=token or None, timeout_s=2.0) as client:
                return client.is_healthy()
        except OSError:
            return False


class Replicas:
    """A set of replicas. Its methods may be called from any thread."""

    def __init__(self, hosts: Sequence[Host], *, token: str = "", latency_s: float = 0.0) -> None:
        """Take charge of servers that run or are about to.

        Args:
            hosts: Who runs them.
            token: The bearer token that they ask for; empty for none.
            latency_s: Added to each answer of an environment, as a far network would; for measuring.

        Raises:
            ReplicaError: if there are none.
        """
        if not hosts:
            raise ReplicaError("no server to play on: give at least one URL, or a number of servers to start")
        self.members = tuple(Replica(host) for host in hosts)
        self.token = token
        self.latency_s = latency_s
        self.failures = 0
        """How often a replica was found dead."""
        self._lock = threading.Lock()
        self._closed = threading.Event()
        self._nurse: threading.Thread | None = None

    @classmethod
    def at(cls, urls: Sequence[str], *, token: str | None = None, latency_s: float = 0.0) -> Replicas:
        """Return the servers at these URLs, which others run. The token is KUBEDRILL_TOKEN if none is given."""
        return cls([Elsewhere(url) for url in urls], token=_token(token), latency_s=latency_s)

    @classmethod
    def started(
        cls,
        count: int,
        *,
        latency_s: float = 0.0,
        python: str = "",
        variables: Mapping[str, str] | None = None,
    ) -> Replicas:
        """Start servers of this checkout on this machine and return them once they answer.

        Args:
            count: How many.
            latency_s: As above.
            python: The interpreter that has the server's dependencies; found by `server_python` if empty.
            variables: Environment variables of the servers, beyond those of this process.

        Raises:
            ReplicaError: if one does not come up.
        """
        given = {"KUBEDRILL_TOKEN": _token(None), **(variables or {})}
        hosts = [Child(python=python, variables=given) for _ in range(count)]
        replicas = cls(hosts, token=given["KUBEDRILL_TOKEN"], latency_s=latency_s)
        replicas.start()
        return replicas

    def start(self) -> None:
        """Start what is ours to start, and wait until every replica answers.

        Raises:
            ReplicaError: if one does not in three minutes; the others are ended.
        """
        atexit.register(self.close)
        try:
            for replica in self.members:
                replica.host.start()
            ends_at_s = time.monotonic() + START_S_MAX
            for replica in self.members:
                while not replica.is_healthy(self.token):
                    if not replica.host.is_running() or time.monotonic() > ends_at_s:
                        where, said = replica.url or "its port", replica.host.said()
                        raise ReplicaError(f"the server at {where} did not start\n{said}".rstrip())
                    time.sleep(0.05)
        except BaseException:
            self.close()
            raise

    def wait_for_any(self, seconds: float = START_S_MAX) -> None:
        """Wait until one replica answers; the others may come later.

        Raises:
            ReplicaError: if none does in that time.
        """
        ends_at_s = time.monotonic() + seconds
        is_told = False
        while not any(replica.is_healthy(self.token) for replica in self.members):
            if time.monotonic() > ends_at_s:
                raise ReplicaError(f"no server answers at {', '.join(self.urls)}")
            if not is_told:
                sys.stderr.write(f"waiting up to {seconds:g} s for a server at {', '.join(self.urls)}\n")
                is_told = True
            time.sleep(CHECK_S)

    def __enter__(self) -> Replicas:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def urls(self) -> tuple[str, ...]:
        """Where they listen."""
        return tuple(replica.url for replica in self.members)

    def acquire(self, but: Collection[Replica] = ()) -> Replica | None:
        """Return the least loaded replica that is up and not among `but`, now busier by one episode; None if there is none."""
        with self._lock:
            up = [replica for replica in self.members if replica.is_up and replica not in but]
            if not up:
                return None
            chosen = min(up, key=lambda replica: replica.load)
            chosen.load += 1
            return chosen

    def release(self, replica: Replica) -> None:
        """Say that an episode has left the replica."""
        with self._lock:
            replica.load -= 1

    def report(self, replica: Replica) -> None:
        """Say that the replica did not answer: it is left out until it is well again; ours are started again."""
        with self._lock:
            if not replica.is_up or self._closed.is_set():
                return
            replica.is_up = False
            replica.hopeless_at_s = time.monotonic() + HANG_S_MAX
            self.failures += 1
            if self._nurse is None or not self._nurse.is_alive():
                self._nurse = threading.Thread(target=self._nursed, name="replicas", daemon=True)
                self._nurse.start()

    def close(self) -> None:
        """End the servers that are ours. May be called more than once."""
        self._closed.set()
        if self._nurse is not None and self._nurse is not threading.current_thread():
            self._nurse.join(timeout=START_S_MAX)
        for replica in self.members:
            replica.host.stop()
        atexit.unregister(self.close)

    def _nursed(self) -> None:
        """Bring back those that are down; return when none is, or at the end."""
        while not self._closed.wait(CHECK_S):
            with self._lock:
                down = [replica for replica in self.members if not replica.is_up]
                if not down:
                    self._nurse = None
                    return
            for replica in down:
                if replica.is_healthy(self.token):
                    with self._lock:
                        replica.is_up = True
                elif not replica.host.is_running() or time.monotonic() > replica.hopeless_at_s:
                    replica.hopeless_at_s = time.monotonic() + START_S_MAX
                    # A machine that is short of memory or processes may have some again the next time.
                    with contextlib.suppress(OSError, ReplicaError):
                        replica.host.start()


def _token(given: str | None) -> str:
    return os.environ.get("KUBEDRILL_TOKEN", "") if given is None else given


def server_python() -> str:
    """Return the interpreter for servers: KUBEDRILL_SERVER_PYTHON, else that of this checkout's environment, else this one.

    The trainer's environment has torch and not the server's dependencies.
    """
    named = os.environ.get("KUBEDRILL_SERVER_PYTHON", "")
    usual = ROOT / ".venv" / "bin" / "python"
    return named or (str(usual) if usual.exists() else sys.executable)


def free_port(host: str = "127.0.0.1") -> int:
    """Return a port that nobody listens on now."""
    with socket.socket() as probe:
        probe.bind((host, 0))
        port: int = probe.getsockname()[1]
        return port
