"""promql/promtool: `promtool check rules` and `promtool check metrics`."""

from env_core.observability.prometheus import check_metrics, check_rules
from tests.golden.comparison import Comparison, Topic
from tests.golden.recordings import Folder, Record

ANSWERS = ("exitCode", "stdout", "stderr")


def _judge(record: Record, _folder: Folder) -> Comparison:
    _, _, kind, *files = record["argv"]
    if kind == "rules":
        output = check_rules(record["input"], files[0], "<time>")
    else:
        output = check_metrics(record["input"])
    wanted = {field: record[field] for field in ANSWERS}
    ours = {"exitCode": output.exit_code, "stdout": output.stdout, "stderr": output.stderr}
    return Comparison(wanted, ours)


TOPIC = Topic(name="promql/promtool", files=("promtool.jsonl",), answers=ANSWERS, judge=_judge)
