"""l2/facts/tables: the column definitions that the server sends with Tables."""

from collections.abc import Iterator

from env_core.rest.paths import target_of
from tests.golden.comparison import NOT_IMPLEMENTED, Comparison, Topic
from tests.golden.recordings import Folder, Record
from tests.golden.servers import registry

_FACTS = ("name", "type", "format", "priority")


def _judge(record: Record, _folder: Folder) -> Iterator[Comparison]:
    for path, table in record.items():
        target = target_of(path)
        definitions = table.get("columnDefinitions") or table.get("columns")
        if target is None or not definitions:
            continue
        # Descriptions are prose and not compared.
        wanted = [[column.get(fact) for fact in _FACTS] for column in definitions]
        kind = registry().at(target.group, target.version, target.plural)
        if kind is None or not kind.columns:
            yield Comparison(wanted, NOT_IMPLEMENTED, path)
            continue
        yield Comparison(
            wanted, [[getattr(column, fact) for fact in _FACTS] for column in kind.columns], path
        )


TOPIC = Topic(name="l2/facts/tables", files=("tables.json",), judge=_judge)
