"""l0/printers: the cells of one object, and the one-row tables of `kubectl get`."""

from env_core.kinds._columns_pod import row_conditions
from tests.golden.comparison import NOT_IMPLEMENTED, Comparison, Topic
from tests.golden.recordings import Folder, Record
from tests.golden.servers import kind_of
from tests.kinds.replayer import cells_of
from tests.kubectl.test_golden_commands import _table as table_text

ANSWERS = ("cells", "conditions", "text", "textWide")
_PLAIN = {
    "Wide": False,
    "NoHeaders": False,
    "WithNamespace": False,
    "WithKind": False,
    "ColumnLabels": None,
    "ShowLabels": False,
}


def _judge(record: Record, _folder: Folder) -> Comparison:
    kind = kind_of(record["key"])
    wanted = {field: record.get(field) for field in ANSWERS}
    if kind is None or not kind.columns:
        return Comparison(wanted, NOT_IMPLEMENTED)
    listed = {**record, "objects": [record["object"]]}
    return Comparison(
        wanted,
        {
            "cells": cells_of(kind, record["object"], record["now"]),
            "conditions": (row_conditions(record["object"]) or None) if record["key"] == "v1/Pod" else None,
            "text": table_text(kind, listed, _PLAIN),
            "textWide": table_text(kind, listed, {**_PLAIN, "Wide": True}),
        },
    )


TOPIC = Topic(name="l0/printers", files=("printers.jsonl",), answers=ANSWERS, judge=_judge)
