"""A container's log that goes on: what there was, then what comes, until the container ends.

Source: k8s.io/kubernetes pkg/kubelet/kuberuntime/logs (follow until the container is gone).
"""

from __future__ import annotations

from dataclasses import replace

from env_core.apiserver.errors import StatusError
from env_core.apiserver.request import ApiRequest, LogOptions
from env_core.apiserver.server import ApiServer
from env_core.rest.message import Headers

_STATUSES = ("containerStatuses", "initContainerStatuses", "ephemeralContainerStatuses")


class LogFollow:
    """One followed log. Whoever serves it polls it; it reads as the kubelet does, and asks nothing of the API."""

    __slots__ = ("_first", "_request", "_seen", "_server", "_uid", "first", "headers", "is_over")

    def __init__(self, server: ApiServer, request: ApiRequest, first: str, headers: Headers) -> None:
        self.headers = headers
        self.first = first
        self.is_over = False
        self._server = server
        self._first: str | None = first
        given = request.log or LogOptions()
        plain = LogOptions(container=given.container, previous=given.previous, timestamps=given.timestamps)
        self._request = replace(request, log=plain)
        pod = server.store.get("pods", request.namespace, request.name) or {}
        self._uid = (pod.get("metadata") or {}).get("uid", "")
        self._seen = self._whole() or ""

    def poll(self) -> bytes:
        """Return what has come since the last call, b"" when nothing has."""
        if self.is_over:
            return b""
        said, self._first = self._first or "", None
        whole = self._whole()
        if whole is None:
            self.is_over = True
        elif whole != self._seen:
            # A restarted container begins a log of its own.
            said += whole[len(self._seen) :] if whole.startswith(self._seen) else whole
            self._seen = whole
        if not self._is_running():
            self.is_over = True
        return said.encode("utf-8", "surrogateescape")

    def _whole(self) -> str | None:
        pod = self._server.store.get("pods", self._request.namespace, self._request.name)
        if pod is None or pod["metadata"]["uid"] != self._uid or self._server.backend is None:
            return None
        try:
            return self._server.backend.log(pod, self._request)
        except StatusError:
            return None

    def _is_running(self) -> bool:
        pod = self._server.store.get("pods", self._request.namespace, self._request.name) or {}
        log = self._request.log
        name = log.container if log is not None else ""
        for part in _STATUSES:
            for one in (pod.get("status") or {}).get(part) or ():
                if not name or one["name"] == name:
                    return "running" in (one.get("state") or {})
        return bool(pod)
