"""l0/kubectl_help: usage lines and flags; the prose around them is not compared, being prose."""

from env_core.kubectl.command import run
from tests.golden.comparison import Comparison, Topic
from tests.golden.normalise import without_prose
from tests.golden.recordings import Folder, Record
from tests.kubectl.golden_world import TinyApi, context, registry
from tests.kubectl.test_golden_commands import NOW_MS


def _judge(record: Record, folder: Folder) -> Comparison:
    api = TinyApi(folder.once("registry", lambda: registry(groups=("",))), [])
    words = record["command"].split()
    words = words[1:] if words[:1] == ["kubectl"] else words
    output = run([*words, "--help"], context(api, NOW_MS, "default"))
    return Comparison(
        {"output": without_prose(record["output"]), "exitCode": record["exitCode"]},
        {"output": without_prose(output.stdout + output.stderr), "exitCode": output.exit_code},
    )


TOPIC = Topic(
    name="l0/kubectl_help", files=("kubectl_help.jsonl",), answers=("output", "exitCode"), judge=_judge
)
