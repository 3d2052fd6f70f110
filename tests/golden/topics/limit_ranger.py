"""l0/limit_ranger: defaults and bounds of a LimitRange."""

from env_core.apiserver import errors
from env_core.apiserver.admission import _limit_rules, limit_ranger
from env_core.kinds.pod import KIND as POD
from tests.apiserver.admission.test_golden import joined
from tests.golden.comparison import Comparison, Topic
from tests.golden.normalise import any_of
from tests.golden.recordings import Folder, Record
from tests.golden.servers import decoded_pod

ANSWERS = ("mutated", "allowed", "message", "messages", "status")


def _judge(record: Record, _folder: Folder) -> Comparison:
    limit_range = record["limitRange"]
    wanted = {field: record[field] for field in ("allowed", "message", "mutated") if field in record}
    got: Record = {}
    if "pod" in record:
        pod = POD.default(limit_ranger.with_defaults(limit_range, decoded_pod(record["pod"])))
        problems = _limit_rules.pod_problems(limit_range, pod)
        resource, name = "pods", "web"
        got["mutated"] = {**pod, "status": {}}
    else:
        problems = _limit_rules.claim_problems(limit_range, record["pvc"])
        resource, name = "persistentvolumeclaims", "data"
    got["allowed"] = not problems
    if problems:
        refusal = errors.forbidden("", resource, name, joined(problems))
        got["message"] = refusal.message
        if record.get("status"):
            wanted["status"], got["status"] = record["status"], refusal.status
    if "messages" in record:
        wanted["message"] = any_of(record["messages"], got.get("message"))
        if "status" in wanted:
            wanted["status"] = {**wanted["status"], "message": wanted["message"]}
    return Comparison(wanted, got)


TOPIC = Topic(name="l0/limit_ranger", files=("limit_ranger.jsonl",), answers=ANSWERS, judge=_judge)
