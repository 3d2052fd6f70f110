"""Replays of the recorded admission decisions: LimitRanger, ResourceQuota, PodSecurity, ServiceAccount."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

from env_core.apiserver import errors
from env_core.apiserver.admission import (
    _limit_rules,
    limit_ranger,
    pod_security,
    resource_quota,
    service_account,
)
from env_core.apiserver.kind import Kind
from env_core.apiserver.plugin import Attributes
from env_core.apiserver.request import ADMIN, NO_OPTIONS
from env_core.apiserver.store import Store
from env_core.kinds.pod import KIND as POD
from env_core.objects import quantity
from env_core.sim.rng import Streams

GOLDEN = Path(__file__).parents[2] / "golden"


def records(topic: str) -> list[dict[str, Any]]:
    with gzip.open(GOLDEN / "l0" / f"{topic}.jsonl.gz", "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def report(failures: list[str]) -> str:
    return "\n".join(failures[:5])


def joined(problems: list[str]) -> str:
    return problems[0] if len(problems) == 1 else f"[{', '.join(problems)}]"


def test_limit_ranges_default_and_bound_pods_and_claims():
    matched, failures, total = 0, [], 0
    for record in records("limit_ranger"):
        total += 1
        limit_range = record["limitRange"]
        if "pod" in record:
            pod = limit_ranger.with_defaults(limit_range, POD.default(record["pod"]))
            problems = _limit_rules.pod_problems(limit_range, pod)
            kind, name = "pods", "web"
            mutated = record.get("mutated")
            annotation = (mutated or pod)["metadata"].get("annotations")
            is_same = annotation == pod["metadata"].get("annotations") and (
                mutated is None
                or [c.get("resources", {}) for c in mutated["spec"]["containers"]]
                == [c.get("resources", {}) for c in pod["spec"]["containers"]]
            )
        else:
            problems = _limit_rules.claim_problems(limit_range, record["pvc"])
            kind, name, is_same = "persistentvolumeclaims", "data", True
        message = errors.forbidden("", kind, name, joined(problems)).message if problems else None
        wanted = record.get("messages") or [record.get("message")]
        if message in wanted and is_same:
            matched += 1
        else:
            failures.append(f"{record['id']}: {message!r} not in {wanted!r} (mutation same: {is_same})")
    assert matched == total >= 66, report(failures)


def test_quotas_refuse_what_is_too_much():
    matched, failures, total = 0, [], 0
    plurals = {"Pod": "pods", "Service": "services", "PersistentVolumeClaim": "persistentvolumeclaims"}
    for record in records("resource_quota"):
        total += 1
        obj = record["object"]
        resource = plurals[obj["kind"]]
        why = resource_quota.check(record["quota"], resource, obj)
        name = obj["metadata"]["name"]
        message = errors.forbidden("", resource, name, why).message if why else None
        used = {key: str(value) for key, value in resource_quota.usage(resource, obj).items()}
        wanted_usage = record.get("usage")
        is_same = wanted_usage is None or {k: str(quantity.parse(v)) for k, v in wanted_usage.items()} == used
        if message == record.get("message") and is_same:
            matched += 1
        else:
            failures.append(
                f"{record['id']}: {message!r} != {record.get('message')!r}; {used} / {wanted_usage}"
            )
    assert matched == total >= 104, report(failures)


def test_pod_security_names_every_violation():
    matched, failures, total = 0, [], 0
    for record in records("pod_security"):
        total += 1
        level = record["level"].split(":")[0]
        found = pod_security.violations(level, {}, record["spec"])
        name = record["id"].split("/")[0]
        message = None
        if found:
            message = errors.forbidden("", "pods", name, pod_security.text(record["level"], found)).message
        if message == record.get("message"):
            matched += 1
        else:
            failures.append(f"{record['id']}:\n  {message}\n  {record.get('message')}")
    assert matched == total >= 98, report(failures)


def accounts() -> Store:
    store = Store()

    def account(name: str, **fields: Any) -> None:
        metadata = {"name": name, "namespace": "default", **fields.pop("metadata", {})}
        store.put(
            "serviceaccounts", {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": metadata, **fields}
        )

    account("default")
    account("bot", imagePullSecrets=[{"name": "reg"}])
    account("noauto", automountServiceAccountToken=False)
    account(
        "strict",
        metadata={"annotations": {"kubernetes.io/enforce-mountable-secrets": "true"}},
        secrets=[{"name": "ok"}],
    )
    return store


def attributes_of(pod: dict[str, Any], store: Store, kind: Kind = POD) -> Attributes:
    return Attributes(
        "CREATE", kind, "default", "", "", pod, None, ADMIN, NO_OPTIONS, store, Streams(7), 1_768_478_400_000
    )


def normal(pod: dict[str, Any]) -> str:
    """The parts of a pod that the plugin is about, its volume's suffix as recorded."""
    spec = pod["spec"]
    keys = ("serviceAccountName", "imagePullSecrets", "automountServiceAccountToken", "volumes")
    part = {key: spec[key] for key in keys if key in spec}
    part["mounts"] = [
        [c["name"], c.get("volumeMounts")]
        for group in ("initContainers", "containers")
        for c in spec.get(group) or []
    ]
    text = json.dumps(part, sort_keys=True)
    start = text.find("kube-api-access-")
    if start < 0:
        return text
    name = text[start : start + len("kube-api-access-") + 5]
    return text.replace(name, "kube-api-access-00000")


def test_pods_run_as_an_account_that_exists_and_get_its_token():
    matched, failures, total = 0, [], 0
    store = accounts()
    mutate = service_account.ADMISSION.mutate
    assert mutate is not None
    for record in records("serviceaccount_admission"):
        total += 1
        try:
            outcome = normal(mutate(attributes_of(POD.default(record["pod"]), store)))
        except errors.StatusError as error:
            outcome = error.message
        wanted = record.get("message") or normal(record["admitted"])
        if outcome == wanted:
            matched += 1
        else:
            failures.append(f"{record['id']}:\n  {outcome}\n  {wanted}")
    assert matched == total >= 14, report(failures)
