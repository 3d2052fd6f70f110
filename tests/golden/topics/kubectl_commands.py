"""l0/kubectl_commands: whole commands against a small fixed server that only reads."""

from tests.golden.comparison import Comparison, Topic
from tests.golden.normalise import without_prose
from tests.golden.recordings import Folder, Record
from tests.kubectl.test_golden_commands import _run_record as run_record

ANSWERS = ("exitCode", "stdout", "stderr")


def _judge(record: Record, folder: Folder) -> Comparison:
    got = run_record(record, folder.companion("l0/kubectl_commands_data.json"))
    wanted = tuple(without_prose(record[field]) for field in ANSWERS)
    return Comparison(
        dict(zip(ANSWERS, wanted, strict=True)), dict(zip(ANSWERS, map(without_prose, got), strict=True))
    )


TOPIC = Topic(name="l0/kubectl_commands", files=("kubectl_commands.jsonl",), answers=ANSWERS, judge=_judge)
