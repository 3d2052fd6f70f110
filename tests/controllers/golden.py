"""Reading the golden vectors of this directory's topics."""

import gzip
import json
import re
from functools import lru_cache
from pathlib import Path

from tests.golden.aliases import Aliases

GOLDEN = Path(__file__).resolve().parents[1] / "golden"
_MINUTES = re.compile(r"\d{8}")
_NODE_PORT_LENGTH = 5


@lru_cache(maxsize=4)
def records(topic: str) -> list[dict]:
    with gzip.open(GOLDEN / "l0" / f"{topic}.jsonl.gz", "rt") as lines:
        return [json.loads(line) for line in lines]


@lru_cache(maxsize=64)
def flow(name: str) -> dict:
    with gzip.open(GOLDEN / "l2" / "flows" / f"{name}.json.gz", "rt") as text:
        return json.load(text)


def raw_flow(record: dict) -> dict:
    """Return a flow with raw names in place of aliases, but for what goes with its shifted times.

    README: "raw name = `aliases[name]` if present"; "CronJob minutes are shifted in Job names, raw in the aliases of
    their pods".
    """
    minutes = {raw: alias for alias, raw in record["aliases"].items() if _MINUTES.fullmatch(alias)}
    shifted = Aliases(minutes)
    names = {
        alias: shifted.raw(raw)
        for alias, raw in record["aliases"].items()
        if not alias.isdigit() or len(alias) == _NODE_PORT_LENGTH
    }
    body = {key: value for key, value in record.items() if key != "aliases"}
    return {**Aliases(names).raw_value(body), "aliases": {}}


def flow_names() -> list[str]:
    return sorted(path.name.removesuffix(".json.gz") for path in (GOLDEN / "l2" / "flows").glob("*.json.gz"))


@lru_cache(maxsize=1)
def unstable() -> dict:
    """Steps whose outcome differed between two recordings: {flow: {step: [state|events|stdout|...]}}."""
    with gzip.open(GOLDEN / "l2" / "stability.json.gz", "rt") as text:
        return json.load(text)
