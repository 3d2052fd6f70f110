"""Writes defaults.json.gz: what else a fresh control plane holds, flow control, its API services, its service range.

Run `python -m env_core.apiserver.data._generate_defaults GOLDEN_DIRECTORY` after the recordings changed.
"""

from __future__ import annotations

import gzip
import json
import sys
from pathlib import Path
from typing import Any

_LISTS = {
    "apiservices.apiregistration.k8s.io": "/apis/apiregistration.k8s.io/v1/apiservices",
    "servicecidrs.networking.k8s.io": "/apis/networking.k8s.io/v1/servicecidrs",
    "flowschemas.flowcontrol.apiserver.k8s.io": "/apis/flowcontrol.apiserver.k8s.io/v1/flowschemas",
    "prioritylevelconfigurations.flowcontrol.apiserver.k8s.io": (
        "/apis/flowcontrol.apiserver.k8s.io/v1/prioritylevelconfigurations"
    ),
}
_SERVERS_OWN = ("uid", "creationTimestamp", "managedFields", "resourceVersion")
_TIME = "lastTransitionTime"


def build(golden: Path) -> bytes:
    """Return the compressed table: {resource: [object without server fields and times]}, sorted by name.

    Source: l2/facts/default_objects.json.gz (what a 1.37 server holds after start-up).
    """
    packed = (golden / "l2" / "facts" / "default_objects.json.gz").read_bytes()
    recorded = json.loads(gzip.decompress(packed))
    table = {
        resource: sorted(map(_stripped, recorded[path]), key=lambda obj: str(obj["metadata"]["name"]))
        for resource, path in _LISTS.items()
    }
    text = json.dumps(table, sort_keys=True, separators=(",", ":"))
    return gzip.compress(text.encode(), compresslevel=9, mtime=0)


def _stripped(obj: Any) -> Any:
    metadata = {key: value for key, value in obj["metadata"].items() if key not in _SERVERS_OWN}
    status = dict(obj.get("status") or {})
    if status.get("conditions"):
        status["conditions"] = [
            {key: value for key, value in each.items() if key != _TIME} for each in status["conditions"]
        ]
    return {**obj, "metadata": metadata, "status": status}


if __name__ == "__main__":
    Path(__file__).with_name("defaults.json.gz").write_bytes(build(Path(sys.argv[1])))
