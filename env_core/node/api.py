"""A kubelet's own HTTP API, as far as the API server's node proxy reaches it.

Source: tests/golden/kubelet/kubelet-api.json; kubernetes pkg/kubelet/server/server.go.
"""

from __future__ import annotations

from urllib.parse import parse_qs

from env_core.apiserver.errors import StatusError
from env_core.apiserver.proxying import Forward, Passed
from env_core.apiserver.request import ApiRequest, Identity, LogOptions
from env_core.node import logs
from env_core.node._host import Host
from env_core.objects.jsonout import to_compact_json

_CHECKS = ("ping", "log", "syncloop")
_TEXT = (("Content-Type", "text/plain; charset=utf-8"),)
_SELF = Identity("system:node", ("system:nodes",))
_NOT_FOUND = Passed(status=404, headers=_TEXT, body=b"404 page not found\n")


def answer(host: Host, request: Forward) -> Passed:
    """Answer one request to a node's kubelet."""
    node = host.node(request.node)
    if node is None or node.stopped_ms is not None:
        return Passed(error=f"dial tcp {request.address}:{request.port}: connect: no route to host")
    path, _, query = request.path.partition("?")
    options = {name: values[0] for name, values in parse_qs(query, keep_blank_values=True).items()}
    parts = path.strip("/").split("/")
    if request.method not in ("GET", "HEAD"):
        return Passed(status=405, headers=_TEXT, body=b"405: Method Not Allowed")
    if parts == ["healthz"]:
        text = "".join(f"[+]{name} ok\n" for name in _CHECKS) + "healthz check passed\n"
        return Passed(status=200, headers=_TEXT, body=text.encode() if "verbose" in options else b"ok")
    if parts == ["pods"]:
        items = [
            {key: value for key, value in pod.items() if key not in ("apiVersion", "kind")}
            for pod in host.store.indexed("node", request.node)
        ]
        listed = {"kind": "PodList", "apiVersion": "v1", "metadata": {}, "items": items}
        body = (to_compact_json(listed) + "\n").encode()
        return Passed(status=200, headers=(("Content-Type", "application/json"),), body=body)
    if parts[0] == "containerLogs" and len(parts) == 4:
        return _log(host, request, parts[1], parts[2], parts[3], options)
    return _NOT_FOUND


def _log(
    host: Host, request: Forward, namespace: str, name: str, container: str, options: dict[str, str]
) -> Passed:
    pod = host.store.get("pods", namespace, name)
    if pod is None or pod["spec"].get("nodeName") != request.node:
        return Passed(status=404, headers=_TEXT, body=f'pod "{name}" does not exist\n'.encode())
    tail = options.get("tailLines", "")
    wanted = LogOptions(
        container=container,
        previous=options.get("previous") == "true",
        tail_lines=int(tail) if tail.isdecimal() else None,
    )
    asked = ApiRequest(
        verb="get",
        resource="pods",
        namespace=namespace,
        name=name,
        subresource="log",
        log=wanted,
        identity=_SELF,
    )
    try:
        text = logs.log(host, pod, asked)
    except StatusError as error:
        return Passed(status=error.code, headers=_TEXT, body=f"{error.message}\n".encode())
    return Passed(status=200, headers=_TEXT, body=text.encode("utf-8", "surrogateescape"))
