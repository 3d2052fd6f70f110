"""l0/printer_lists: lists as `kubectl get` prints them with its options."""

from tests.golden.comparison import NOT_IMPLEMENTED, Comparison, Topic
from tests.golden.recordings import Folder, Record
from tests.golden.servers import kind_of
from tests.kubectl.test_golden_commands import _table as table_text


def _judge(record: Record, folder: Folder) -> Comparison:
    kind = kind_of(record["key"])
    if kind is None:
        return Comparison(record["texts"], NOT_IMPLEMENTED)
    options = folder.companion("l0/printer_list_options.json")
    got = {option: table_text(kind, record, options[option]) for option in options}
    return Comparison(record["texts"], got)


TOPIC = Topic(name="l0/printer_lists", files=("printer_lists.jsonl",), answers=("texts",), judge=_judge)
