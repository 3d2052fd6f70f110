"""l0/rollout_history: what `kubectl rollout history` prints."""

from env_core.kubectl.resolve import Info
from tests.golden.comparison import Comparison, Topic
from tests.golden.recordings import Folder, Record
from tests.kubectl.golden_world import TinyApi, context, registry
from tests.kubectl.test_golden_commands import NOW_MS
from tests.kubectl.test_golden_commands import _history as history_of

ANSWERS = ("output", "error")


def _judge(record: Record, folder: Folder) -> Comparison:
    obj = record["object"]
    api = TinyApi(folder.once("registry", registry), [obj, *record["others"]])
    kind = api.registry.by_gvk(obj["apiVersion"], obj["kind"])
    assert kind is not None
    info = Info(kind, obj["metadata"]["namespace"], obj["metadata"]["name"], obj)
    output, error = history_of(context(api, NOW_MS, obj["metadata"]["namespace"]), info, record["revision"])
    return Comparison(
        {"output": record["output"], "error": record.get("error")}, {"output": output, "error": error}
    )


TOPIC = Topic(name="l0/rollout_history", files=("rollout_history.jsonl",), answers=ANSWERS, judge=_judge)
