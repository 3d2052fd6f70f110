"""l0/pod_security: what the pod security standards say of a pod."""

from env_core.apiserver import errors
from env_core.apiserver.admission import pod_security
from tests.golden.comparison import Comparison, Topic
from tests.golden.recordings import Folder, Record

ANSWERS = ("allowed", "reasons", "details", "reason", "detail", "message", "warning")


def _judge(record: Record, _folder: Folder) -> Comparison:
    level = record["level"].partition(":")[0]
    found = pod_security.violations(level, {}, record["spec"])
    got: Record = {"allowed": not found}
    if found:
        name = record["id"].partition("/")[0]  # the pods were named after the first half of the id
        text = pod_security.text(record["level"], found)
        reasons, details = [each.reason for each in found], [each.detail for each in found]
        got |= {
            "reasons": reasons,
            "details": details,
            "reason": ", ".join(reasons),
            "detail": ", ".join(
                f"{reason} ({detail})" if detail else reason
                for reason, detail in zip(reasons, details, strict=True)
            ),
            "message": errors.forbidden("", "pods", name, text).message,
            "warning": pod_security.warning(record["level"], found)
            if hasattr(pod_security, "warning")
            else text.replace("violates PodSecurity", "would violate PodSecurity", 1),
        }
    return Comparison({field: record[field] for field in ANSWERS if field in record}, got)


TOPIC = Topic(name="l0/pod_security", files=("pod_security.jsonl",), answers=ANSWERS, judge=_judge)
