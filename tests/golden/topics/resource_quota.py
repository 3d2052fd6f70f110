"""l0/resource_quota: what a quota lets pass, and what an object uses of it."""

from env_core.apiserver import errors
from env_core.apiserver.admission import resource_quota
from env_core.objects import quantity
from tests.golden.comparison import Comparison, Topic
from tests.golden.recordings import Folder, Record

ANSWERS = ("allowed", "message", "status", "usage", "newUsed")
_PLURALS = {"Pod": "pods", "Service": "services", "PersistentVolumeClaim": "persistentvolumeclaims"}


def _canonical(usage: Record) -> Record:
    return {name: str(quantity.parse(str(amount))) for name, amount in usage.items()}


def _new_used(quota: Record, resource: str, obj: Record) -> Record:
    """What the quota's status says after the object was charged."""
    used = dict((quota.get("status") or {}).get("used") or {})
    if resource_quota.covers(quota, resource, obj):
        for name, amount in resource_quota.usage(resource, obj).items():
            if name in ((quota.get("status") or {}).get("hard") or {}):
                used[name] = str(quantity.parse(used.get(name, "0")) + amount)
    return _canonical(used)


def _judge(record: Record, _folder: Folder) -> Comparison:
    obj, quota = record["object"], record["quota"]
    resource = _PLURALS[obj["kind"]]
    why = resource_quota.check(quota, resource, obj)
    got: Record = {"allowed": not why}
    if why:
        refusal = errors.forbidden("", resource, obj["metadata"]["name"], why)
        got |= {"message": refusal.message, "status": refusal.status}
    wanted = {field: record[field] for field in ANSWERS if field in record}
    if wanted.get("usage") is not None:
        wanted["usage"] = _canonical(wanted["usage"])
        got["usage"] = {name: str(amount) for name, amount in resource_quota.usage(resource, obj).items()}
    if "newUsed" in wanted:
        wanted["newUsed"] = _canonical(wanted["newUsed"] or {})
        got["newUsed"] = _new_used(quota, resource, obj)
    return Comparison(wanted, got)


TOPIC = Topic(name="l0/resource_quota", files=("resource_quota.jsonl",), answers=ANSWERS, judge=_judge)
