"""What recorded and replayed objects and events have to agree on: no times, uids, or random names."""

import json
import re
from collections import Counter

RANDOM_NAME = re.compile(
    r"\b([a-z0-9.-]+-[bcdfghjklmnpqrstvwxz2456789]{8,10})-[bcdfghjklmnpqrstvwxz2456789]{5}\b"
)
STAMP = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z")
UID = re.compile(r"\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b")
VERSION = re.compile(r'"resourceVersion": "[^"]*", ')
APPLIED_VERSION = re.compile(r'(\\"resourceVersion\\":\\")\d+')
RANDOM_POD = re.compile(r'(pods "[a-z0-9.-]+-)[a-z0-9]{5}(" is forbidden)')
CONTROL_PLANE = {
    "deployment-controller",
    "replicaset-controller",
    "endpoint-controller",
    "controllermanager",
    "node-controller",
    "taint-eviction-controller",
    "statefulset-controller",
    "daemonset-controller",
    "job-controller",
    "cronjob-controller",
    "replication-controller",
}


def once(rows):
    """Count refused writes once each: how often they are tried depends on timing."""
    plain = Counter()
    for row, count in rows.items():
        if row[3] == "FailedCreate":
            plain[(*row[:4], row[4].removeprefix("(combined from similar events): "), *row[5:])] = 1
        else:
            plain[row] += count
    return plain


def event_difference(expected, mine):
    missing = [("missing", *row, count) for row, count in (expected - mine).items()]
    extra = [("extra", *row, count) for row, count in (mine - expected).items()]
    return missing + extra


def counts(plural, obj):
    return (plural, obj["metadata"]["name"]) not in (
        ("configmaps", "kube-root-ca.crt"),
        ("serviceaccounts", "default"),
    )


def by_name(plural, objects):
    """File objects by name, those with random names by what is fixed of it and a count."""
    found = {}
    for obj in sorted(objects, key=lambda obj: plain(plural, obj)):
        name = RANDOM_NAME.sub(r"\1-*", obj["metadata"]["name"])
        while name in found:
            name += "*"
        found[name] = plain(plural, obj)
    return found


def plain(plural, obj):
    metadata = dict(obj["metadata"])
    for key in ("uid", "resourceVersion", "creationTimestamp", "managedFields", "deletionGracePeriodSeconds"):
        metadata.pop(key, None)
    metadata = {key: value for key, value in metadata.items() if value not in ({}, [], None)}
    if "ownerReferences" in metadata:
        metadata["ownerReferences"] = [
            {k: v for k, v in owner.items() if k != "uid"} for owner in metadata["ownerReferences"]
        ]
    body = {key: value for key, value in obj.items() if key not in ("metadata", "apiVersion", "kind")}
    if plural == "pods":
        status = obj.get("status") or {}
        known = {entry["type"]: entry["status"] for entry in status.get("conditions") or ()}
        body = {
            "node": obj["spec"].get("nodeName"),
            "phase": status.get("phase"),
            "ready": known.get("Ready") == "True",
            "disruption": [
                (e["reason"], e["message"])
                for e in status.get("conditions") or ()
                if e["type"] == "DisruptionTarget"
            ],
        }
        metadata.pop("generation", None)
        if RANDOM_NAME.search(metadata["name"]):
            body.pop("node")
    if plural in ("endpoints", "endpointslices"):
        # Both tell how changes fell together in time.
        metadata.pop("generation", None)
        metadata["annotations"] = {
            k: v for k, v in (metadata.get("annotations") or {}).items() if "trigger-time" not in k
        }
    if plural in ("configmaps",):
        body = {key: value for key, value in body.items() if value}
    if plural == "nodes":
        taints = [
            {k: v for k, v in taint.items() if k != "timeAdded"} for taint in obj["spec"].get("taints") or ()
        ]
        conditions = [(e["type"], e["status"], e["reason"]) for e in obj["status"]["conditions"]]
        taints.sort(key=json.dumps)
        body = {
            "taints": taints,
            "unschedulable": obj["spec"].get("unschedulable"),
            "conditions": sorted(conditions),
        }
        metadata.pop("generation", None)
    if plural == "endpointslices":
        body["endpoints"] = sorted((plain_address(row) for row in obj.get("endpoints") or ()), key=json.dumps)
        body["ports"] = obj.get("ports") or []
    if plural == "endpoints":
        body["subsets"] = sorted(
            (plain_subset(subset) for subset in obj.get("subsets") or ()), key=json.dumps
        )
    if plural == "services":
        body = {
            "spec": {
                key: value for key, value in obj["spec"].items() if key not in ("clusterIP", "clusterIPs")
            }
        }
    # README: "resourceVersion dropped", also of references.
    text = VERSION.sub("", json.dumps({"metadata": metadata, **body}, sort_keys=True))
    text = APPLIED_VERSION.sub(r"\1RV", text)
    text = UID.sub("U", STAMP.sub("T", text))
    return RANDOM_NAME.sub(r"\1-*", RANDOM_POD.sub(r"\1uxxxx\2", text.replace('\\"', '"')))


def plain_address(row):
    target = {key: value for key, value in (row.get("targetRef") or {}).items() if key != "uid"}
    plain = {**row, "targetRef": target}
    if RANDOM_NAME.search(target.get("name", "")):
        for key in ("ip", "addresses", "nodeName"):
            plain.pop(key, None)
        plain["targetRef"] = {**target, "name": RANDOM_NAME.sub(r"\1-*", target["name"])}
    return dict(sorted(plain.items()))


def plain_subset(subset):
    def plain(rows):
        return sorted((plain_address(row) for row in rows or ()), key=json.dumps)

    return {
        "addresses": plain(subset.get("addresses")),
        "notReadyAddresses": plain(subset.get("notReadyAddresses")),
        "ports": sorted(subset.get("ports") or (), key=json.dumps),
    }


def difference(expected, ours):
    if expected is None or ours is None:
        return (
            f"expected {'' if expected is None else expected[:200]} got {'' if ours is None else ours[:200]}"
        )
    start = next((i for i, (a, b) in enumerate(zip(expected, ours)) if a != b), min(len(expected), len(ours)))
    low = max(start - 60, 0)
    return f"expected …{expected[low : start + 160]} got …{ours[low : start + 160]}"


def flat(event):
    series = event.get("series") or {}
    about = event["involvedObject"]
    return {
        "kind": about.get("kind"),
        "name": about.get("name"),
        "type": event.get("type"),
        "reason": event.get("reason"),
        "message": event.get("message"),
        "count": series.get("count") or event.get("count"),
        "component": (event.get("source") or {}).get("component") or event.get("reportingComponent"),
    }


def is_ours(event):
    return event.get("component") in CONTROL_PLANE and event["reason"] not in (
        "RegisteredNode",
        "RemovingNode",
    )


def event_row(event):
    message = RANDOM_POD.sub(r"\1uxxxx\2", event["message"])
    count = event.get("count")
    if event["reason"] in ("FailedCreate", "NoPods", "UnmanagedPods"):
        # How often a refused write was tried depends on timing.
        count = "n"
    if message.startswith("(combined from similar events): "):
        count = "n"
    message = RANDOM_NAME.sub(r"\1-*", message)
    return (
        event["kind"],
        RANDOM_NAME.sub(r"\1-*", event["name"]),
        event["type"],
        event["reason"],
        message,
        count,
        event["component"],
    )
