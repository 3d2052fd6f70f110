"""l0/sort_by: the order of `kubectl get --sort-by`."""

from env_core.kubectl.output import sortby
from tests.golden.comparison import Comparison, Topic
from tests.golden.recordings import Folder, Record

ANSWERS = ("order", "error", "fatal")


def _judge(record: Record, _folder: Folder) -> Comparison:
    objects, field = record["objects"], record["field"]
    try:
        if record["id"].startswith(
            "table/"
        ):  # README: ids unstructured/ and table/ tell the two sorters apart
            rows = sortby.sort_rows([(item,) for item in objects], field, lambda row: row[0])
            got: Record = {"order": [row[0]["metadata"]["name"] for row in rows]}
        else:
            got = {"order": [item["metadata"]["name"] for item in sortby.sort_objects(objects, field)]}
    except sortby.SortFatal as error:
        got = {"fatal": str(error)}
    except sortby.SortError as error:
        got = {"error": str(error)}
    return Comparison({each: record[each] for each in ANSWERS if each in record}, got)


TOPIC = Topic(name="l0/sort_by", files=("sort_by.jsonl",), answers=ANSWERS, judge=_judge)
