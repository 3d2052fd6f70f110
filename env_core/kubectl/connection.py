"""What kubectl says when a server cannot be reached.

Source: k8s.io/kubectl pkg/cmd/util StandardErrorMessage; tests/golden/l0/api_errors.jsonl.gz.
"""

from __future__ import annotations

from env_core.kubectl.screen import Failure

_REFUSED = "connection refused"


def connection_failure(url: str, why: str) -> Failure:
    """Return the error for a request to `url` that failed for `why`, as Go's network code words it."""
    if why.endswith(_REFUSED):
        host = url.partition("://")[2].partition("/")[0]
        text = f"The connection to the server {host} was refused - did you specify the right host or port?"
    else:
        text = f"Unable to connect to the server: {why}"
    return Failure(text, is_bare=True)
