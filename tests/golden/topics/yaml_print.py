"""l0/yaml_print: objects as YAML, JSON, KYAML and names."""

from env_core.objects._yamltypes import YamlTextError
from env_core.objects.jsonout import to_json
from env_core.objects.kyamlout import to_kyaml
from env_core.objects.yamlout import to_yaml
from tests.golden.comparison import Comparison, Topic
from tests.golden.recordings import Folder, Record

ANSWERS = ("yaml", "yamlError", "json", "kyaml", "kyamlError", "name")


def _printed(record: Record) -> Record:
    obj = record["object"]
    got: Record = {"json": to_json(obj)}
    for field, print_object in (("yaml", to_yaml), ("kyaml", to_kyaml)):
        try:
            got[field] = print_object(obj)
        except YamlTextError as error:
            got[f"{field}Error"] = str(error)
    got["name"] = "".join(_name(item) for item in obj.get("items", [obj]))
    return got


def _name(obj: Record) -> str:
    group = obj["apiVersion"].rpartition("/")[0]
    word = obj["kind"].lower() + (f".{group}" if group else "")
    return f"{word}/{obj['metadata']['name']}\n"


def _judge(record: Record, _folder: Folder) -> Comparison:
    return Comparison({field: record[field] for field in ANSWERS if field in record}, _printed(record))


TOPIC = Topic(name="l0/yaml_print", files=("yaml_print.jsonl",), answers=ANSWERS, judge=_judge)
