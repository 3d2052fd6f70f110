"""l0/top: the tables of `kubectl top`."""

from env_core.kubectl.verbs.top._metrics import nodes_table, pods_table
from tests.golden.comparison import Comparison, Topic
from tests.golden.recordings import Folder, Record

ANSWERS = ("output", "error")


def _text(record: Record) -> str:
    if record["kind"] == "pods":
        return pods_table(
            record["metrics"],
            sort_by=record["sortBy"],
            has_containers=record["containers"],
            has_namespace=record["allNamespaces"],
            has_headers=not record["noHeaders"],
            has_sum=record["sum"],
        )
    return nodes_table(
        record["metrics"],
        record["allocatable"],
        sort_by=record["sortBy"],
        has_headers=not record["noHeaders"],
        has_swap=record.get("showSwap", False),
    )


def _judge(record: Record, _folder: Folder) -> Comparison:
    return Comparison(
        {field: record[field] for field in ANSWERS if field in record}, {"output": _text(record)}
    )


TOPIC = Topic(name="l0/top", files=("top.jsonl",), answers=ANSWERS, judge=_judge)
