"""Chunked lists and lists of the past: continue tokens, resource versions, and what is too old or too new.

Source: k8s.io/apiserver pkg/storage/continue.go and pkg/storage/etcd3/store.go; tests/golden/l2/facts/errors.jsonl.gz
and errors_extra.jsonl.gz.
"""

from __future__ import annotations

import posixpath
from base64 import urlsafe_b64decode, urlsafe_b64encode
from binascii import Error as BinasciiError
from bisect import bisect_left
from typing import NamedTuple

from env_core.apiserver import errors
from env_core.apiserver.errors import StatusError
from env_core.apiserver.request import Options
from env_core.apiserver.store import Store
from env_core.objects.gojson import JsonSyntaxError, read
from env_core.objects.jsonout import quote
from env_core.objects.problems import quoted
from env_core.world import Object

_VERSION = "meta.k8s.io/v1"
_NOT_VALID = "continue key is not valid"
_BASE64 = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_")
_UINT_MAX = 2**64 - 1
_TOO_OLD = (
    "The provided continue parameter is too old to display a consistent list result. You can start a new list without "
    "the continue parameter, or use the continue token in this response to retrieve the remainder of the results. "
    "Continuing with the provided token results in an inconsistent list - objects that were created, modified, or "
    "deleted between the time the first chunk was returned and now may show up in the list."
)


class Page(NamedTuple):
    """Where a list goes on: after the key `start`, as of a revision (-1: as things are now)."""

    start: str
    revision: int


def version_of(text: str) -> int:
    """Return a resourceVersion as a number; "" is 0.

    Raises:
        StatusError: 500 for anything else, as the storage says it.
    """
    if not text:
        return 0
    problem = uint_problem(text)
    if problem:
        raise StatusError(
            errors.status(500, "", f"resourceVersion: Invalid value: {quoted(text)}: {problem}")
        )
    return int(text)


def uint_problem(text: str) -> str:
    """Return what Go says of a text that is no unsigned number, "" for one that is."""
    if not text.isascii() or not text.isdigit():
        return f"strconv.ParseUint: parsing {quoted(text)}: invalid syntax"
    if len(text) > 20 or int(text) > _UINT_MAX:
        return f"strconv.ParseUint: parsing {quoted(text)}: value out of range"
    return ""


def check_not_future(store: Store, version: int) -> None:
    """Refuse a version that the server has not reached; a real one waits for it first.

    Raises:
        StatusError: 504.
    """
    if version > store.revision:
        text = f"Timeout: Too large resource version: {version}, current: {store.revision}"
        cause = {"reason": "ResourceVersionTooLarge", "message": "Too large resource version"}
        raise StatusError(errors.status(504, "Timeout", text, {"causes": [cause], "retryAfterSeconds": 1}))


def list_version(store: Store, options: Options) -> int | None:
    """Return the revision as of which a list without a continue token is asked for, None for now.

    Raises:
        StatusError: 400 for a version that is none, 504 for one that is still to come.
    """
    text = options.resource_version
    if not text or text == "0":
        return None
    problem = uint_problem(text)
    if problem:
        raise errors.bad_request(
            f"invalid resource version: resourceVersion: Invalid value: {quoted(text)}: {problem}"
        )
    version = int(text)
    check_not_future(store, version)
    return version if options.resource_version_match == "Exact" else None


def read_token(options: Options) -> Page:
    """Return where a continue token goes on.

    Raises:
        StatusError: 400 for a token that is none, or one beside a resourceVersion.
    """
    try:
        page = _decoded(options.continue_token)
    except ValueError as why:
        raise errors.bad_request(f"invalid continue token: {why}") from None
    if options.resource_version:
        raise errors.bad_request("specifying resource version is not allowed when using continue")
    return page


def _decoded(token: str) -> Page:
    for index, character in enumerate(token):
        if character not in _BASE64:
            raise ValueError(f"{_NOT_VALID}: illegal base64 data at input byte {index}")
    if len(token) % 4 == 1:
        raise ValueError(f"{_NOT_VALID}: illegal base64 data at input byte {len(token) - 1}")
    try:
        data = urlsafe_b64decode(token + "=" * (-len(token) % 4))
        value = read(data)
    except (BinasciiError, JsonSyntaxError) as why:
        raise ValueError(f"{_NOT_VALID}: {why}") from None
    members = value if isinstance(value, dict) else {}
    version, revision, start = members.get("v"), members.get("rv"), members.get("start")
    if version != _VERSION:
        raise ValueError(f"{_NOT_VALID}: server does not recognize this encoded version {version or ''}")
    if not isinstance(revision, int) or not revision:
        raise ValueError(f"{_NOT_VALID}: incorrect encoded start resourceVersion (version {_VERSION})")
    if not isinstance(start, str) or not start:
        raise ValueError(f"{_NOT_VALID}: encoded start key empty (version {_VERSION})")
    key = start if start.startswith("/") else f"/{start}"
    if posixpath.normpath(key) != key:
        raise ValueError(f"{_NOT_VALID}: {start}")
    return Page(key[1:], revision)


def token(start: str, revision: int) -> str:
    """Return the continue token of a list that goes on after a key."""
    data = f'{{"v":"{_VERSION}","rv":{revision},"start":{quote(start)}}}'
    return urlsafe_b64encode(data.encode()).decode().rstrip("=")


def key_of(item: Object, *, in_namespace: bool) -> str:
    """Return the key by which a list is ordered: "shop/web", or "web" within one namespace."""
    metadata = item["metadata"]
    name: str = metadata["name"]
    namespace = metadata.get("namespace", "")
    return f"{namespace}/{name}" if namespace and not in_namespace else name


def as_of(store: Store, resource: str, namespace: str, revision: int) -> list[Object] | None:
    """Return a list as it was at a revision, None when that is no longer known."""
    events = store.events_since(revision)
    if events is None:
        return None
    found = {
        (item["metadata"].get("namespace", ""), item["metadata"]["name"]): item
        for item in store.list(resource, namespace)
    }
    for event in reversed(events):
        ref = event.ref
        if ref.resource != resource or (namespace and ref.namespace != namespace):
            continue
        if event.old is None:
            found.pop((ref.namespace, ref.name), None)
        else:
            found[ref.namespace, ref.name] = event.old
    return [found[key] for key in sorted(found, key="/".join)]


def too_old(page: Page) -> StatusError:
    """410 of a continue token from a revision that is no longer known, with a token to go on as things are now."""
    status = errors.gone(_TOO_OLD).status
    return StatusError({**status, "metadata": {"continue": token(page.start, -1)}})


def cut(
    items: list[Object], page: Page | None, limit: int, *, in_namespace: bool
) -> tuple[list[Object], int]:
    """Return the chunk of a list that a request wants, and how many objects come after it."""
    if page is not None:
        keys = [key_of(item, in_namespace=in_namespace) for item in items]
        items = items[bisect_left(keys, page.start) :]
    left = len(items) - limit
    return (items[:limit], left) if limit > 0 and left > 0 else (items, 0)
