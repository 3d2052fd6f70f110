"""Checks about requests that cost something: answers stay quick, time after time, and the work stays what it was."""

from __future__ import annotations

import re

from env_core.verify.checks._model import Check
from env_core.verify.view import View

_NUMBER = re.compile(r"[0-9]{1,9}")


def answers_within(
    host: str, path: str, *, within_ms: int, times: int = 6, contains: str = "", timeout_ms: int = 3_000
) -> Check:
    """Every one of `times` requests through the ingress is answered with 200 in at most `within_ms`.

    A container that a request kills is still down for the next one, so crashes show as well as slowness.
    """

    def fails(view: View) -> str:
        for _ in range(times):
            reply = view.request_from_outside(host, path, timeout_ms)
            if reply.failure or reply.status != 200:
                return f"{path} answers {reply.failure or reply.status} under load"
            if reply.latency_ms > within_ms:
                return f"{path} takes {reply.latency_ms} ms, more than {within_ms} ms"
            if contains and contains not in reply.body:
                return f"{path} answers without {contains!r} under load"
        return ""

    return Check(f"{path} answers within {within_ms} ms under load", fails)


def work_is_kept(namespace: str, config_map: str, key: str, at_least: int) -> Check:
    """A ConfigMap key that sets how much work a request makes is a number and at least `at_least`."""

    def fails(view: View) -> str:
        found = view.get("configmaps", namespace, config_map)
        if found is None:
            return f"configmap {config_map} is gone"
        value = (found.get("data") or {}).get(key, "")
        if not _NUMBER.fullmatch(value) or int(value) < at_least:
            return f"{key} is {value!r}: requests do less than they should"
        return ""

    return Check(f"{config_map}.{key} is kept", fails)
