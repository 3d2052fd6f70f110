"""The check of what a request for a pod's log asks.

Source: k8s.io/kubernetes pkg/apis/core/validation ValidatePodLogOptions; tests/golden/l2/facts/errors.jsonl.gz.
"""

from __future__ import annotations

from env_core.apiserver import errors
from env_core.apiserver.request import LogOptions
from env_core.objects.problems import Problem, forbidden, invalid

_POSITIVE = "must be greater than 0"


def check_log_options(pod_name: str, options: LogOptions) -> None:
    """Refuse lines, seconds and bytes that make no sense.

    Raises:
        StatusError: Invalid.
    """
    found: list[Problem] = []
    if options.tail_lines is not None and options.tail_lines < 0:
        found.append(invalid("tailLines", options.tail_lines, "must be greater than or equal to 0"))
    if options.limit_bytes is not None and options.limit_bytes < 1:
        found.append(invalid("limitBytes", options.limit_bytes, _POSITIVE))
    if options.since_seconds is not None and options.since_time:
        found.append(forbidden("[]", "at most one of `sinceTime` or `sinceSeconds` may be specified"))
    elif options.since_seconds is not None and options.since_seconds < 1:
        found.append(invalid("sinceSeconds", options.since_seconds, _POSITIVE))
    if found:
        raise errors.invalid("", "PodLogOptions", pod_name, found)
