"""Requests that a real control plane's admission answered, sent to ours: same status, same message."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

from env_core.apiserver.request import ADMIN, ApiRequest, ApiResponse, Options
from tests.scheduler.world import World

FACTS = Path(__file__).parents[2] / "golden" / "l2" / "facts"
PREFIXES = (
    "quota-",
    "lr-",
    "psa-",
    "sa-missing",
    "pc-missing",
    "rc-missing",
    "post-missing-ns",
    "del-ns-",
    "del-system-pc",
    "ns-term-",
)
LEFT_OUT = ("psa-label", "ns-term-get")
"""Warnings about a namespace's pods, and what needs a controller."""
VERBS = {"POST": "create", "PUT": "update", "PATCH": "patch", "DELETE": "delete", "GET": "get"}


def request_of(record: dict[str, Any]) -> ApiRequest:
    path, _, query = record["path"].partition("?")
    parts = path.strip("/").split("/")
    group = "" if parts[0] == "api" else parts[1]
    parts = parts[2:] if parts[0] == "api" else parts[3:]
    namespace = ""
    if parts[0] == "namespaces" and len(parts) > 2:
        namespace, parts = parts[1], parts[2:]
    name = parts[1] if len(parts) > 1 else ""
    return ApiRequest(
        verb=VERBS[record["method"]],
        resource=f"{parts[0]}.{group}" if group else parts[0],
        namespace=namespace,
        name=name,
        subresource=parts[2] if len(parts) > 2 else "",
        body=record.get("body"),
        content_type=record.get("contentType")
        or ("application/merge-patch+json" if record["method"] == "PATCH" else ""),
        identity=ADMIN,
        options=Options(dry_run="dryRun=All" in query),
    )


def send(world: World, record: dict[str, Any]) -> ApiResponse:
    request = request_of(record)
    response = world.server.handle(request)
    if response.is_ok and request.verb == "create" and not request.options.dry_run:
        play_controllers(world, request, response.object)
    return response


def play_controllers(world: World, request: ApiRequest, obj: dict[str, Any]) -> None:
    """What controllers would do at once: the default account of a namespace, the status of a quota."""
    metadata = obj["metadata"]
    if request.resource == "namespaces":
        account = {"metadata": {"name": "default"}}
        world.api.create("serviceaccounts", metadata["name"], account)
        world.api.create("configmaps", metadata["name"], {"metadata": {"name": "kube-root-ca.crt"}})
    elif request.resource == "resourcequotas":
        used = {name: "1" if name == "configmaps" else "0" for name in obj["spec"]["hard"]}
        world.put("resourcequotas", {**obj, "status": {"hard": obj["spec"]["hard"], "used": used}})


def replayed() -> tuple[int, int, list[str]]:
    world = World(seed=5, with_admission=True)
    text = gzip.decompress((FACTS / "errors_setup.json.gz").read_bytes())
    setup = json.loads(text)
    setup = setup if isinstance(setup, list) else setup["requests"]
    lines = gzip.decompress((FACTS / "errors.jsonl.gz").read_bytes()).decode().splitlines()
    before: dict[str, list[dict[str, Any]]] = {}
    for entry in setup:
        before.setdefault(entry["before"], []).append(entry)
    matched, total, failures = 0, 0, []
    for record in map(json.loads, lines):
        for entry in before.get(record["id"], ()):
            if (
                entry["body"] is not None
                and "admissionregistration" not in entry["path"]
                and "api" in entry["path"]
            ):
                if "apiregistration" not in entry["path"] and "apiextensions" not in entry["path"]:
                    send(world, entry)
        if record["id"] == "ns-delete":
            send(world, record)
        if not record["id"].startswith(PREFIXES) or record["id"].startswith(LEFT_OUT):
            continue
        total += 1
        response = send(world, record)
        wanted = record["response"]
        is_error = record["status"] >= 400
        if response.code == record["status"] and (
            not is_error
            or (
                response.object["message"] == wanted["message"]
                and response.object.get("details") == wanted.get("details")
            )
        ):
            matched += 1
        else:
            failures.append(
                f"{record['id']}: {response.code} {response.object.get('message')}\n  {record['status']} {wanted.get('message')}"
            )
    return matched, total, failures


def test_admission_answers_as_recorded():
    matched, total, failures = replayed()
    assert matched == total >= 62, f"{matched}/{total}\n" + "\n".join(failures[:12])
