"""l0/validation: creates and updates are refused, or stored, as each resource's registry strategy does."""

from dataclasses import replace

from env_core.apiserver import errors
from env_core.apiserver._storage_form import as_stored
from env_core.apiserver.kind import Kind
from env_core.apiserver.metadata import validate_object_meta_update
from env_core.apiserver.request import ADMIN, ApiRequest, ApiResponse
from env_core.apiserver.writing import other_namespace
from env_core.kinds._service_strategy import drop_type_dependent
from tests.golden import servers
from tests.golden.comparison import NOT_IMPLEMENTED, Comparison, Topic
from tests.golden.normalise import (
    created_identity,
    stored,
    without_allocation,
    without_dump,
    without_emptiness,
)
from tests.golden.recordings import Folder, Record

ANSWERS = ("valid", "message", "status", "warnings", "updated")


def _namespace(kind: Kind, obj: Record) -> str:
    """The namespace that the recorder's request was for: the object's; where a mutation took it away, "default"."""
    return (obj.get("metadata") or {}).get("namespace", "default") if kind.is_namespaced else ""


def _is_renamed(record: Record) -> bool:
    """Whether an update changes who the object is: a server's handlers refuse that before the recorded functions."""
    new, old = record["object"]["metadata"], record["old"]["metadata"]
    return any(new.get(field) != old.get(field) for field in ("name", "namespace", "uid", "resourceVersion"))


def _refused_identity(record: Record, kind: Kind) -> Record:
    new, old = record["object"]["metadata"], record["old"]["metadata"]
    namespace = new.get("namespace")
    if namespace and namespace != old.get("namespace"):
        status = other_namespace().status
        return {"valid": False, "message": status["message"], "status": status}
    problems = validate_object_meta_update({**new, "namespace": old.get("namespace")}, old)
    if not problems:
        return {"valid": True, "warnings": []}
    status = errors.invalid(kind.group, kind.kind, new.get("name", ""), problems).status
    return {"valid": False, "message": status["message"], "status": status}


def _send(record: Record, kind: Kind) -> ApiResponse:
    body = without_emptiness(record["object"])
    if record["op"] == "create":
        server = servers.server()
        request = ApiRequest(
            verb="create",
            resource=kind.resource,
            namespace=_namespace(kind, body),
            body=body,
            identity=ADMIN,
        )
        return server.handle(request)
    old = record["old"]
    if kind.resource == "services":
        # README: "with each resource's registry strategy", which knows nothing of what the storage has allocated.
        kind = replace(kind, prepare_update=drop_type_dependent)
    version = int(old["metadata"].get("resourceVersion") or 100)
    old_object = {"apiVersion": kind.api_version, "kind": kind.kind, **old}
    server = servers.server([old_object], revision=version, kinds=(kind,))
    request = ApiRequest(
        verb="update",
        resource=kind.resource,
        namespace=_namespace(kind, old),
        name=old["metadata"]["name"],
        subresource=record.get("subresource", ""),
        body=body,
        identity=ADMIN,
    )
    return server.handle(request)


def _plain(status: Record) -> Record:
    causes = (status.get("details") or {}).get("causes")
    plain = {**status, "message": without_dump(status["message"])}
    if causes:
        cut = [{**cause, "message": without_dump(cause.get("message"))} for cause in causes]
        plain["details"] = {**status["details"], "causes": cut}
    return plain


def _judge(record: Record, _folder: Folder) -> Comparison:
    kind = servers.kind_of(record["key"])
    wanted: Record = {"valid": record["valid"]}
    if not record["valid"]:
        wanted |= {"message": without_dump(record["message"]), "status": _plain(record["status"])}
    else:
        wanted["warnings"] = record.get("warnings") or []
    if "updated" in record:
        wanted["updated"] = without_allocation(stored(record["updated"]))
    if kind is None:
        return Comparison(wanted, NOT_IMPLEMENTED)
    if "updated" in wanted:
        # README: "`rest.BeforeCreate` / `rest.BeforeUpdate`": what storage makes of it was not recorded.
        wanted["updated"] = as_stored(kind, wanted["updated"])
    if record["op"] == "update" and _is_renamed(record):
        return Comparison(wanted, _refused_identity(record, kind))
    response = _send(record, kind)
    got: Record = {"valid": response.is_ok}
    if response.is_ok:
        got["warnings"] = list(response.warnings)
        if "updated" in record:
            got["updated"] = without_allocation(stored(response.object))
    else:
        status = created_identity(response.object)
        got |= {"message": without_dump(status["message"]), "status": _plain(status)}
    return Comparison(wanted, got)


TOPIC = Topic(name="l0/validation", files=("validation.jsonl",), answers=ANSWERS, judge=_judge)
