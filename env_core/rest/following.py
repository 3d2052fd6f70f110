"""A container's log that goes on: what there was, then what comes, until the container ends or enough has been said.

Source: k8s.io/cri-client pkg/logs/logs.go (follow until the container is gone, or until `limitBytes` are written).
"""

from __future__ import annotations

import re
from collections import Counter
from typing import Final

from env_core.apiserver.errors import StatusError
from env_core.apiserver.request import ApiRequest, LogOptions
from env_core.apiserver.server import ApiServer
from env_core.rest.message import Headers

_STATUSES = ("containerStatuses", "initContainerStatuses", "ephemeralContainerStatuses")
_TIME: Final = re.compile(r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{9}Z ", re.MULTILINE)


class LogFollow:
    """One followed log. Whoever serves it polls it; it reads as the kubelet does, and asks nothing of the API."""

    __slots__ = (
        "_first",
        "_has_times",
        "_left",
        "_request",
        "_run",
        "_seen",
        "_server",
        "first",
        "headers",
        "is_over",
    )

    def __init__(self, server: ApiServer, request: ApiRequest, first: str, headers: Headers) -> None:
        self.headers = headers
        self.first = first
        self.is_over = False
        self._server = server
        self._first: str | None = first
        given = request.log or LogOptions()
        self._left = given.limit_bytes
        # With its time, a line is not taken for one that was shown before its file was rotated.
        plain = LogOptions(container=given.container, previous=given.previous, timestamps=True)
        self._has_times = given.timestamps
        self._request = request._replace(log=plain)
        self._run = self._running()
        self._seen = self._whole() or ""

    def poll(self) -> bytes:
        """Return what has come since the last call, b"" when nothing has."""
        if self.is_over:
            return b""
        said, self._first = self._first or "", None
        run = self._running()
        if not run or run != self._run:
            # A restarted container begins a log of its own, which nobody follows here.
            self.is_over = True
        if run == self._run or not run:
            whole = self._whole()
            if whole is not None and whole != self._seen:
                added = _added(self._seen, whole)
                said += added if self._has_times else _without_times(added)
                self._seen = whole
        return self._within_limit(said.encode("utf-8", "surrogateescape"))

    def _within_limit(self, said: bytes) -> bytes:
        if self._left is None:
            return said
        said = said[: self._left]
        self._left -= len(said)
        self.is_over = self.is_over or not self._left
        return said

    def _whole(self) -> str | None:
        pod = self._server.store.get("pods", self._request.namespace, self._request.name)
        if pod is None or self._server.backend is None:
            return None
        try:
            return self._server.backend.log(pod, self._request)
        except StatusError:
            return None

    def _running(self) -> str:
        """Return the id of the running container that is followed, "" when none runs."""
        pod = self._server.store.get("pods", self._request.namespace, self._request.name) or {}
        log = self._request.log
        name = log.container if log is not None else ""
        for part in _STATUSES:
            for one in (pod.get("status") or {}).get(part) or ():
                if (not name or one["name"] == name) and "running" in (one.get("state") or {}):
                    found: str = one.get("containerID", "")
                    return found
        return ""


def _without_times(lines: str) -> str:
    return _TIME.sub("", lines)


def _added(before: str, now: str) -> str:
    """Return the lines that have come; a line may be written late, before others that are there already."""
    if now.startswith(before):
        return now[len(before) :]
    known = Counter(before.split("\n"))
    added = []
    for line in now.removesuffix("\n").split("\n"):
        if known[line]:
            known[line] -= 1
        else:
            added.append(f"{line}\n")
    return "".join(added)
