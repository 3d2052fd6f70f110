"""A tiny HTTP server that answers what `kubectl get pods` asks: recorded discovery, and one Table."""

from __future__ import annotations

import gzip
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import orjson

from env_core.apiserver.kind import Kind
from env_core.world import Object

_DISCOVERY = Path(__file__).parents[1] / "golden" / "l2" / "facts" / "discovery"
_AGGREGATED = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"


def table_of(kind: Kind, objects: list[Object], now_ms: int) -> bytes:
    """Return the server-side Table of objects, as `kubectl get` asks for it."""
    columns = [
        {
            "name": column.name,
            "type": column.type,
            "format": column.format,
            "description": "",
            "priority": column.priority,
        }
        for column in kind.columns
    ]
    rows = [
        {
            "cells": [column.cell(obj, now_ms) for column in kind.columns],
            "object": {
                "kind": "PartialObjectMetadata",
                "apiVersion": "meta.k8s.io/v1",
                "metadata": obj["metadata"],
            },
        }
        for obj in objects
    ]
    return orjson.dumps(
        {
            "kind": "Table",
            "apiVersion": "meta.k8s.io/v1",
            "metadata": {"resourceVersion": "1"},
            "columnDefinitions": columns,
            "rows": rows,
        }
    )


def _recorded(name: str) -> bytes:
    return gzip.decompress((_DISCOVERY / f"{name}.json.gz").read_bytes())


@contextmanager
def serving(path: str, body: bytes) -> Iterator[str]:
    """Yield the URL of a server that answers discovery, and `path` with `body`."""
    answers = {
        "/api": (_recorded("aggregated_api"), _AGGREGATED),
        "/apis": (_recorded("aggregated_apis"), _AGGREGATED),
        path: (body, "application/json"),
    }

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            found, kind = answers.get(self.path.partition("?")[0], (b"{}", "application/json"))
            self.send_response(200)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(found)))
            self.end_headers()
            self.wfile.write(found)

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
