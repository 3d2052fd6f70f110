"""The `log` subresource of pods, as far as the API server answers it itself, and which container is meant.

Source: k8s.io/kubernetes pkg/registry/core/pod/rest/log.go and pkg/apis/core/validation (ValidatePodLogOptions);
tests/golden/l2/facts/errors.jsonl.gz.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from env_core.apiserver import errors
from env_core.apiserver.request import ApiRequest, ApiResponse, LogOptions
from env_core.objects.problems import Problem, forbidden, invalid
from env_core.world import Object, Output

if TYPE_CHECKING:
    from env_core.apiserver.server import ApiServer


def check_options(request: ApiRequest) -> None:
    """Refuse options of a log that make no sense, before the pod is looked for.

    Raises:
        StatusError: Invalid.
    """
    options = request.log
    problems = [] if options is None else _problems(options)
    if problems:
        raise errors.invalid("", "PodLogOptions", request.name, problems)


def _problems(options: LogOptions) -> list[Problem]:
    found = []
    if options.tail_lines is not None and options.tail_lines < 0:
        found.append(invalid("tailLines", options.tail_lines, "must be greater than or equal to 0"))
    if options.limit_bytes is not None and options.limit_bytes < 1:
        found.append(invalid("limitBytes", options.limit_bytes, "must be greater than 0"))
    if options.since_seconds is not None and options.since_time:
        why = "at most one of `sinceTime` or `sinceSeconds` may be specified"
        found.append(forbidden("[]", why))
    elif options.since_seconds is not None and options.since_seconds < 1:
        found.append(invalid("sinceSeconds", options.since_seconds, "must be greater than 0"))
    return found


def _containers(pod: Object) -> list[Any]:
    spec = pod["spec"]
    return [
        *(spec.get("initContainers") or ()),
        *spec["containers"],
        *(spec.get("ephemeralContainers") or ()),
    ]


def chosen_container(pod: Object, name: str) -> str:
    """Return the container that a log, a command or a connection is for: the named one, else the only one.

    Raises:
        StatusError: 400, in the server's words.
    """
    spec = pod["spec"]
    pod_name = pod["metadata"]["name"]
    if name:
        if all(container["name"] != name for container in _containers(pod)):
            raise errors.bad_request(f"container {name} is not valid for pod {pod_name}")
        return name
    regular = [container["name"] for container in spec["containers"]]
    if len(regular) == 1:
        return str(regular[0])
    listed = " ".join(container["name"] for container in _containers(pod))
    raise errors.bad_request(
        f"a container name must be specified for pod {pod_name}, choose one of: [{listed}]"
    )


def answer(server: ApiServer, pod: Object, request: ApiRequest) -> ApiResponse:
    """Answer with a container's log; a pod without a node has none yet.

    Raises:
        StatusError: when the kubelet refuses.
    """
    assert server.backend is not None
    text = server.backend.log(pod, request)
    code = 200 if pod["spec"].get("nodeName") else 204
    return ApiResponse(code, {}, output=Output(stdout=text))
