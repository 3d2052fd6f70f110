"""Objects sent through the whole chain (defaults, admission, validation) come back as a real server stored them."""

from __future__ import annotations

import gzip
import json
import re
from pathlib import Path
from typing import Any

from tests.apiserver.admission.test_recorded_requests import request_of
from tests.scheduler.world import World

DEFAULTS = Path(__file__).parents[2] / "golden" / "l2" / "defaults.jsonl.gz"
PLURALS = (
    "pods",
    "services",
    "persistentvolumeclaims",
    "persistentvolumes",
    "nodes",
    "ingresses",
    "priorityclasses",
)
DRAWN = (
    (re.compile(r"kube-api-access-\w{5}"), "kube-api-access-drawn"),
    (re.compile(r"10\.96\.\d+\.\d+"), "10.96.0.0"),
    (re.compile(r'odePort": \d+'), 'odePort": 1'),
    (re.compile(r"gen-\w{5}"), "gen-drawn"),
    (re.compile(r"2026-01-\d\dT\d\d:\d\d:\d\dZ"), "now"),
)
SERVER_SET = ("uid", "creationTimestamp", "managedFields", "resourceVersion")


def normal(obj: dict[str, Any]) -> dict[str, Any]:
    text = json.dumps(obj, sort_keys=True)
    for pattern, replacement in DRAWN:
        text = pattern.sub(replacement, text)
    plain: dict[str, Any] = json.loads(text)
    for key in SERVER_SET:
        plain.get("metadata", {}).pop(key, None)
    return plain


def test_objects_are_stored_as_recorded():
    world = World(seed=1, with_admission=True)
    world.api.create("namespaces", "", {"metadata": {"name": "defaults"}})
    world.api.create("serviceaccounts", "defaults", {"metadata": {"name": "default"}})
    matched, total, failures = 0, 0, []
    with gzip.open(DEFAULTS, "rt", encoding="utf-8") as lines:
        for record in map(json.loads, lines):
            if record["path"].split("?")[0].rsplit("/", 1)[-1] not in PLURALS:
                continue
            total += 1
            response = world.server.handle(request_of({**record, "body": record["request"]}))
            if response.code == record["status"] and normal(response.object) == normal(record["response"]):
                matched += 1
            else:
                failures.append(f"{record['id']}: {response.code} {response.object.get('message', '')}")
    assert matched == total >= 138, f"{matched}/{total}\n" + "\n".join(failures[:10])
