"""l0/events_table: the table of `kubectl events`."""

from env_core.kubectl.events import EventTable
from env_core.sim.timefmt import parse_ms
from tests.golden.comparison import Comparison, Topic
from tests.golden.recordings import Folder, Record


def _judge(record: Record, _folder: Folder) -> Comparison:
    table = EventTable(
        has_headers=not record.get("noHeaders", False), has_namespace=record.get("allNamespaces", False)
    )
    return Comparison(record["output"], table.rows(record["events"], parse_ms(record["now"])))


TOPIC = Topic(name="l0/events_table", files=("events_table.jsonl",), answers=("output",), judge=_judge)
