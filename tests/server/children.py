"""A server in a process of its own, on a free port."""

from __future__ import annotations

import contextlib
import os
import socket
import subprocess
import sys
import time
from pathlib import Path

import httpx

ROOT = Path(__file__).parents[2]


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def start(module="tests.server.toy", port=None, python=sys.executable, **variables):
    """Start a server and return its process and URL once it answers."""
    port = port or free_port()
    kept = {
        key: value
        for key, value in os.environ.items()
        if not key.startswith("KUBEDRILL_") and key not in ("PORT", "HOST")
    }
    environment = {**kept, "PYTHONPATH": f"{ROOT}:{ROOT / 'client'}", **variables}
    process = subprocess.Popen([python, "-m", module, "--port", str(port)], cwd=ROOT, env=environment)
    url = f"http://127.0.0.1:{port}"
    for _ in range(400):
        if process.poll() is not None:
            raise RuntimeError(f"the server ended with {process.returncode}")
        with contextlib.suppress(httpx.TransportError):
            if httpx.get(f"{url}/health", timeout=2).status_code == 200:
                return process, url
        time.sleep(0.05)
    process.kill()
    raise RuntimeError("the server does not answer")


@contextlib.contextmanager
def running(module="tests.server.toy", **variables):
    """Yield the URL of a server that ends with the block."""
    process, url = start(module, **variables)
    try:
        yield url
    finally:
        process.terminate()
        process.wait(timeout=20)
