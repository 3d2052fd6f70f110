"""programs/services: what the client libraries of our services in Python, Node and Java say of calls that fail.

Our services use httpx, redis-py and psycopg, axios and pg, and Java's own HTTP client; the recordings' other libraries, and what
their scripts and servers do beside such calls, are counted apart. Of an exception its own text is compared, and in Java the root
cause where ours names one; the frames between are those of the recorder's script.
"""

import re
from typing import Final
from urllib.parse import urlsplit

from env_core.programs._model import (
    DNS_TIMEOUT,
    EMPTY,
    NETWORK_UNREACHABLE,
    NXDOMAIN,
    REFUSED,
    RESET,
    SERVFAIL,
    TIMEOUT,
    UNREACHABLE,
)
from env_core.programs._service_errors import Failed, text
from env_core.programs._service_model import HTTP, JAVA, NODE, POSTGRES, PYTHON, REDIS
from tests.golden.comparison import NOT_IMPLEMENTED, Comparison, Topic
from tests.golden.program_cluster import SERVICES
from tests.golden.recordings import Folder, Record

_LIBRARIES: Final = {
    "python.client.httpx": (PYTHON, HTTP), "python.client.redis": (PYTHON, REDIS), "python.client.psycopg": (PYTHON, POSTGRES),
    "node.client.ioredis-noretry": (NODE, REDIS), "node.ioredis-noretry": (NODE, REDIS),
    "node.client.axios": (NODE, HTTP), "node.client.pg": (NODE, POSTGRES), "java.client.get": (JAVA, HTTP),
    "python.psycopg": (PYTHON, POSTGRES), "node.pg": (NODE, POSTGRES), "python.redis": (PYTHON, REDIS),
}  # fmt: skip
_FAILURES: Final = {
    "nxdomain": NXDOMAIN, "servfail": SERVFAIL, "dns_timeout": DNS_TIMEOUT, "connect_timeout": TIMEOUT, "response_timeout": TIMEOUT,
    "no_route_to_host": UNREACHABLE, "network_unreachable_icmp": NETWORK_UNREACHABLE, "connection_refused": REFUSED,
    "reset_after_request": RESET, "empty_reply": EMPTY, "protocol_mismatch": TIMEOUT,
}  # fmt: skip
_ANSWERS: Final = {
    "wrongpass": "WRONGPASS invalid username-password pair or user is disabled.",
    "nouser": "WRONGPASS invalid username-password pair or user is disabled.",
    "badpassword": 'password authentication failed for user "app"',
    "norole": 'password authentication failed for user "nosuch"',
    "nodb": 'database "nosuch" does not exist',
    "toomany": "sorry, too many clients already",
    "startingup": "the database system is starting up",
    "readonly": "READONLY You can't write against a read only replica.",
    "oom": "OOM command not allowed when used memory > 'maxmemory'.",
    "loading": "LOADING Redis is loading the dataset in memory",
    "noreplicas": "NOREPLICAS Not enough good replicas to write.",
    "clusterdown": "CLUSTERDOWN Hash slot not served",
    "maxclients": "ERR max number of clients reached",
}
"""What the servers answer, by the names of the records."""
_ADDRESSES: Final = {f"{name}.svc.cluster.local": entry[0] for name, entry in SERVICES.items()}
_TIMEOUT_MS: Final = 2_000
_PORTS: Final = {HTTP: 80, REDIS: 6379, POSTGRES: 5432}


def _failed(record: Record, protocol: str) -> Failed | None:
    """Return the call that failed as our services see it, None for what they do not meet."""
    kind, url = record["condition"]["kind"], next((word for word in record["argv"] if "://" in word), "")
    name = record["id"].rsplit(".", 1)[-1]
    is_answered = kind.startswith("http_") and kind != "http_200"
    if not url.startswith(("http://", "redis://", "postgresql://")) or not (
        kind in _FAILURES or is_answered or name in _ANSWERS
    ):
        return None
    parts = urlsplit(url)
    host = parts.hostname or ""
    failure = "" if name in _ANSWERS else _FAILURES.get(kind, "")
    return Failed(
        protocol, host, parts.port or _PORTS[protocol], failure, _ADDRESSES.get(host, ""), kind == "connect_timeout",
        int(kind.removeprefix("http_")) if is_answered else 0, _ANSWERS.get(name, ""), url, timeout_ms=_TIMEOUT_MS,
    )  # fmt: skip


def _said(language: str, stderr: str) -> list[str]:
    """Return the exception's own lines."""
    lines = stderr.rstrip("\n").split("\n")
    if language == PYTHON:
        return lines[max(at for at, line in enumerate(lines) if re.match(r"[a-z]\w*(?:\.\w+)+: ", line)) :]
    if language == NODE:
        # The recorder's scripts added the code, and of some only the message.
        first = next((each for each in lines if "rror" in each), lines[0])
        return [re.sub(r" \(code \w+\)$", "", first).replace("redis error: ", "Error: ", 1)]
    causes = [line for line in lines if line.startswith("Caused by: ")]
    return [lines[0].removeprefix('Exception in thread "main" '), *causes[-1:]]


def judge(record: Record, _folder: Folder) -> Comparison:
    """Compare the text of one failed call, if one of our services could make it."""
    language, protocol = _LIBRARIES.get(record["id"].rsplit(".", 1)[0], ("", ""))
    failed = _failed(record, protocol) if language else None
    if failed is None or record.get("exit") == 0 or (language == JAVA and failed.status):
        return Comparison(record["id"], NOT_IMPLEMENTED, apart="other programs")
    got = text(language, failed).split("\n")
    return Comparison(_said(language, record["stderr"])[: len(got) if language == JAVA else None], got)


TOPIC = Topic(
    name="programs/services",
    files=tuple(f"{folder}{name}.jsonl" for folder in ("programs/", "") for name in ("app-python", "app-node", "app-java", "client-libs")),
    # Most of what was recorded are frames, which are not compared: tests/test_golden_replay.py changes what is.
    answers=(),
    judge=judge,
)  # fmt: skip
