"""l0/api_errors: the server's refusals, and what kubectl prints of an error."""

import re

from env_core.apiserver import errors
from env_core.apiserver.request import ADMIN, ApiRequest
from env_core.kubectl.command import error_text
from env_core.kubectl.command import message as standard_message
from env_core.kubectl.connection import connection_failure
from env_core.kubectl.resolve import no_match_text
from env_core.kubectl.screen import Failure, Failures
from tests.golden import servers
from tests.golden.comparison import Comparison, Topic
from tests.golden.recordings import Folder, Record

ANSWERS = ("message", "status", "kubectlStderr", "kubectlExitCode", "standardMessage")


def _with_newline(text: str) -> str:
    return text if not text or text.endswith("\n") else text + "\n"


def _rebuilt(status: Record) -> Record:
    """Say the same refusal by our own constructors, as far as the status tells what it was about."""
    details, message = status.get("details") or {}, status["message"]
    group, resource, name = details.get("group", ""), details.get("kind", ""), details.get("name", "")
    match status.get("reason"):
        case "NotFound" if message.endswith(" not found"):
            return errors.not_found(group, resource, name).status
        case "AlreadyExists" if message.endswith(" already exists"):
            return errors.already_exists(group, resource, name).status
        case "Conflict" if message.startswith("Operation cannot be fulfilled on "):
            why = message.partition(f'"{name}": ')[2]
            return errors.conflict(group, resource, name, why).status
        case "Forbidden" if "forbidden: " in message:
            return errors.forbidden(group, resource, name, message.partition("forbidden: ")[2]).status
        case "BadRequest" if not details:
            return errors.bad_request(message).status
        case "Expired":
            return errors.gone(message).status
    return status


def _evicted(pdb: Record) -> Record:
    """Ask for the eviction of a pod that the recorded budget covers."""
    pod = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "p", "namespace": "default", "uid": "u", "labels": {"app": "web"}},
        "spec": {
            "containers": [{"name": "c", "image": "i"}],
            "nodeName": "n",
            "terminationGracePeriodSeconds": 30,
        },
        "status": {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]},
    }
    budget = {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "spec": {"selector": {"matchLabels": {"app": "web"}}},
        **pdb,
        "metadata": {"namespace": "default", **pdb["metadata"]},
    }
    server = servers.server([pod, budget])
    request = ApiRequest(
        verb="create",
        resource="pods",
        namespace="default",
        name="p",
        subresource="eviction",
        body={"metadata": {"name": "p"}},
        identity=ADMIN,
    )
    response = server.handle(request)
    return {} if response.is_ok else response.object


def _client_error(text: str) -> Exception:
    """Return the error that a client's code had in hand, as far as its text tells: several in one, or no such type."""
    if text.startswith("[") and text.endswith("]"):
        return Failures([_one(part) for part in text[1:-1].split(", ")])
    found = re.fullmatch(r"no matches for ([\w.]*)/(\w*), Resource=(\w+)", text)
    if found is not None:
        return Failure(no_match_text(found[3], found[1], found[2]), is_bare=True)
    found = re.fullmatch(r'Get "(\S+)": (.*)', text)
    return connection_failure(found[1], found[2]) if found is not None else Failure(text)


def _one(text: str) -> Exception:
    found = re.fullmatch(r'(\w+) "(\w+)" not found', text)
    return errors.not_found("", found[1], found[2]) if found else Failure(text)


def _judge(record: Record, _folder: Folder) -> Comparison:
    wanted = {field: record[field] for field in ANSWERS if field in record}
    if "pdb" in record:
        status = _evicted(record["pdb"])
    elif "status" in record:
        status = _rebuilt(record["status"])
    else:
        text, exit_code = error_text(_client_error(record["message"]))
        got = {
            "message": record["message"],
            "kubectlStderr": _with_newline(text),
            "kubectlExitCode": exit_code,
        }
        return Comparison(wanted, {field: value for field, value in got.items() if field in wanted})
    if not status:
        return Comparison(wanted, {})
    text, exit_code = error_text(errors.StatusError(status))
    got = {
        "message": status["message"],
        "status": status,
        "kubectlStderr": _with_newline(text),
        "kubectlExitCode": exit_code,
        "standardMessage": standard_message(errors.StatusError(status)),
    }
    return Comparison(wanted, {field: value for field, value in got.items() if field in wanted})


TOPIC = Topic(
    name="l0/api_errors",
    files=("api_errors.jsonl",),
    answers=("message", "kubectlStderr", "kubectlExitCode", "standardMessage"),
    judge=_judge,
)
