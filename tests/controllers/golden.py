"""Reading the golden vectors of this directory's topics."""

import gzip
import json
from functools import lru_cache
from pathlib import Path

GOLDEN = Path(__file__).resolve().parents[1] / "golden"


@lru_cache(maxsize=4)
def records(topic: str) -> list[dict]:
    with gzip.open(GOLDEN / "l0" / f"{topic}.jsonl.gz", "rt") as lines:
        return [json.loads(line) for line in lines]


@lru_cache(maxsize=64)
def flow(name: str) -> dict:
    with gzip.open(GOLDEN / "l2" / "flows" / f"{name}.json.gz", "rt") as text:
        return json.load(text)


def flow_names() -> list[str]:
    return sorted(path.name.removesuffix(".json.gz") for path in (GOLDEN / "l2" / "flows").glob("*.json.gz"))


@lru_cache(maxsize=1)
def unstable() -> dict:
    """Steps whose outcome differed between two recordings: {flow: {step: [state|events|stdout|...]}}."""
    with gzip.open(GOLDEN / "l2" / "stability.json.gz", "rt") as text:
        return json.load(text)
