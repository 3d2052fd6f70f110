"""l0/kubectl_help: usage lines and flags; the prose around them is not compared, being prose."""

import re

from env_core.kubectl.command import run
from tests.golden.comparison import Comparison, Topic
from tests.golden.recordings import Folder, Record
from tests.kubectl.golden_world import TinyApi, context, registry
from tests.kubectl.test_golden_commands import NOW_MS

_FLAG = re.compile(r"^ {4}(?:-\w, |    )?(--[\w-]+)(?:=|:|$)", re.MULTILINE)


def interface_of(text: str) -> Record:
    """Return what is fact in a help text: the usage line and the names of the flags."""
    _, found, rest = text.partition("Usage:\n")
    usage = rest.partition("\n\n")[0].strip() if found else ""
    return {"usage": usage, "flags": sorted(set(re.findall(r"--[a-z][\w-]*(?==|:)", text)))}


def _judge(record: Record, folder: Folder) -> Comparison:
    api = TinyApi(folder.once("registry", lambda: registry(groups=("",))), [])
    words = record["command"].split()
    words = words[1:] if words[:1] == ["kubectl"] else words
    output = run([*words, "--help"], context(api, NOW_MS, "default"))
    return Comparison(
        {**interface_of(record["output"]), "exitCode": record["exitCode"]},
        {**interface_of(output.stdout), "exitCode": output.exit_code},
    )


TOPIC = Topic(
    name="l0/kubectl_help", files=("kubectl_help.jsonl",), answers=("output", "exitCode"), judge=_judge
)
