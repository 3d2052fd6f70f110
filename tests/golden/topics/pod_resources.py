"""l0/pod_resources: a pod's requests, limits and class of service, as written and as defaulted."""

from env_core.kinds.pod import KIND as POD
from env_core.objects import pod_resources
from tests.golden.comparison import Comparison, Topic
from tests.golden.recordings import Folder, Record

ANSWERS = ("requests", "limits", "requestsExcludeOverhead", "qosClass", "defaulted")


def _sums(spec: Record) -> Record:
    return {
        "requests": pod_resources.pod_requests(spec),
        "limits": pod_resources.pod_limits(spec),
        "qosClass": pod_resources.qos_class(spec),
    }


def _judge(record: Record, _folder: Folder) -> Comparison:
    spec = record["spec"]
    got = {
        **_sums(spec),
        "requestsExcludeOverhead": pod_resources.pod_requests(spec, has_overhead=False),
        "defaulted": _sums(POD.default({"metadata": {}, "spec": spec})["spec"]),
    }
    return Comparison({field: record.get(field) for field in ANSWERS}, got)


TOPIC = Topic(name="l0/pod_resources", files=("pod_resources.jsonl",), answers=ANSWERS, judge=_judge)
