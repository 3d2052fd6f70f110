"""A Service selects pods that are not its own: a steady share of its requests is answered by somebody else."""

from __future__ import annotations

from typing import Final

from env_core.cluster import Cluster
from env_core.controllers.configsync import holds
from env_core.faults._mechanisms import Mechanism
from env_core.faults._model import Case, Decoy, Diagnosis, Evidence, Family, Fault, Params, Sign
from env_core.faults._network import patched
from env_core.faults._words import behind_services, own_pods_answer, pass_time, restarted, waits
from env_core.scenarios._app import Base, Workload
from env_core.scenarios.platform import COLLEAGUE
from env_core.sim.rng import Stream
from env_core.verify.changes import ADDED
from env_core.verify.checks import Check
from env_core.verify.checks.entries import some_fail
from env_core.verify.view import View
from env_core.world import Object

_PART_OF: Final = "app.kubernetes.io/part-of"
_COMPONENT: Final = "app.kubernetes.io/component"
_WAITS_S: Final = (60, 240, 700)
_NAMES: Final = ("{}-stub", "{}-mock", "{}-demo")
_NOTES: Final = (
    "answers in the place of the real one in interface tests; in use until the end of the quarter",
    "for the partner's integration tests, which run all day",
)
_KEYS: Final = ("backend", "serves", "lane")


def _labels(base: Base, place: Workload) -> dict[str, str]:
    """Return the labels of a workload's pods."""
    owner = base.cluster.store.get(place.resource, place.namespace, place.name)
    assert owner is not None
    found: dict[str, str] = owner["spec"]["template"]["metadata"].get("labels") or {}
    return found


def _select(case: Case, selector: dict[str, str]) -> str:
    """Return the command line that gives the Service exactly this selector."""
    return patched(
        case,
        f"service/{case.place.service}",
        [{"op": "replace", "path": "/spec/selector", "value": selector}],
        "json",
    )


def _selector(case: Case) -> dict[str, str]:
    service = case.base.cluster.store.get("services", case.namespace, case.place.service)
    assert service is not None
    found: dict[str, str] = service["spec"]["selector"]
    return found


def _relabel(case: Case) -> tuple[str, ...]:
    """Return the command lines that give the workload's pods a label of their own, and the Service a selector on it."""
    label = {case.params["key"]: case.name}
    return (
        patched(case, f"deployment/{case.name}", {"spec": {"template": {"metadata": {"labels": label}}}}),
        f"kubectl rollout status {case.target} --timeout=5m",
        _select(case, label),
    )


def _label_pods(case: Case) -> tuple[str, ...]:
    """Return the command lines that label the pods of today."""
    pairs = ",".join(f"{key}={value}" for key, value in sorted(case.place.labels.items()))
    component = _labels(case.base, case.place).get(_COMPONENT)
    chosen = f"{pairs},{_COMPONENT}={component}" if component else pairs
    return (
        f"kubectl -n {case.namespace} label pods -l {chosen} {case.params['key']}={case.name}",
        _select(case, {case.params["key"]: case.name}),
    )


def _restart(case: Case) -> tuple[str, ...]:
    return (restarted(case),)


def _diagnosis(case: Case) -> Diagnosis:
    return Diagnosis(
        kind="Service",
        namespace=case.namespace,
        name=case.place.service,
        mechanism=Mechanism.SERVICE_WIRING,
    )


# The selector of the whole application


def _labelled(base: Base) -> tuple[str, ...]:
    return tuple(role for role in behind_services(base) if _PART_OF in _labels(base, base.workloads[role]))


def _wide_params(stream: Stream, base: Base, place: Workload) -> Params:
    return {
        "value": _labels(base, place)[_PART_OF],
        "key": stream.choice(_KEYS),
        **waits(stream, _WAITS_S),
    }


def _widen(case: Case, cluster: Cluster) -> None:
    gone = dict.fromkeys(_selector(case), None)
    patch = {"spec": {"selector": {**gone, _PART_OF: case.params["value"]}}}
    cluster.client(COLLEAGUE).patch("services", case.namespace, case.place.service, patch)
    pass_time(cluster, case)


# A stranger with the same labels


def _served(base: Base) -> tuple[str, ...]:
    return tuple(role for role in behind_services(base) if base.workloads[role].ready_path)


def _stub_params(stream: Stream, _base: Base, place: Workload) -> Params:
    return {
        "stranger": stream.choice(_NAMES).format(place.name),
        "count": str(1 + stream.below(place.replicas)),
        "note": stream.choice(_NOTES),
        "key": stream.choice(_KEYS),
        **waits(stream, _WAITS_S),
    }


def _site(case: Case) -> Object:
    text = (
        f"server {{\n  listen {case.place.container_port};\n"
        '  location / {\n    default_type text/plain;\n    return 501 "no such scenario\\n";\n  }\n}\n'
    )
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": case.params["stranger"], "namespace": case.namespace},
        "data": {"default.conf": text},
    }


def _stranger(case: Case) -> Object:
    name = case.params["stranger"]
    labels = {**case.place.labels, "scenario": "partner"}
    part_of = _labels(case.base, case.place).get(_PART_OF)
    common = {_PART_OF: part_of} if part_of else {}
    container = {
        "name": "nginx",
        "image": "nginx:1.27-alpine",
        "ports": [{"name": case.place.port_name, "containerPort": case.place.container_port}],
        "readinessProbe": {"tcpSocket": {"port": case.place.container_port}},
        "resources": {"requests": {"cpu": "10m", "memory": "24Mi"}, "limits": {"memory": "48Mi"}},
        "volumeMounts": [{"name": "site", "mountPath": "/etc/nginx/conf.d"}],
    }
    volumes = [{"name": "site", "configMap": {"name": name}}]
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {
            "name": name,
            "namespace": case.namespace,
            "labels": {**labels, **common},
            "annotations": {"description": case.params["note"]},
        },
        "spec": {
            "replicas": int(case.params["count"]),
            "selector": {"matchLabels": labels},
            "template": {
                "metadata": {"labels": labels},
                "spec": {"containers": [container], "volumes": volumes},
            },
        },
    }


def _settle_in(case: Case, cluster: Cluster) -> None:
    client = cluster.client(COLLEAGUE)
    client.create("configmaps", case.namespace, _site(case))
    client.create("deployments.apps", case.namespace, _stranger(case))
    pass_time(cluster, case)


def stranger_unaffected(case: Case) -> Check:
    """The stranger, who is in use, runs as its owner declared it; before it came nothing is asked."""
    name = case.params["stranger"]

    def fails(view: View) -> str:
        if view.get("configmaps", case.namespace, name) is None:
            return ""
        found = view.get("deployments.apps", case.namespace, name)
        if found is None or not holds(found, _stranger(case)):
            return f"{name} was changed"
        if found.get("status", {}).get("readyReplicas", 0) < found["spec"]["replicas"]:
            return f"{name} does not run"
        return ""

    return Check("the stranger is left alone", fails)


def _own_labels(case: Case) -> dict[str, str]:
    """Return labels that the workload's pods have and the stranger's have not."""
    found = _labels(case.base, case.place)
    more = {key: value for key, value in found.items() if key not in case.place.labels}
    return {**case.place.labels, **more}


def _narrow(case: Case) -> tuple[str, ...]:
    """Return the command lines that narrow the selector by a label that is there, or else by a new one."""
    wanted = _own_labels(case)
    return (_select(case, wanted),) if wanted != dict(case.place.labels) else _keep_both(case)


def _keep_both(case: Case) -> tuple[str, ...]:
    """Return the command lines that add a label to the pods, and to what the Service selects already."""
    *before, _last = _relabel(case)
    return (
        *before,
        patched(
            case, f"service/{case.place.service}", {"spec": {"selector": {case.params["key"]: case.name}}}
        ),
    )


FAMILY = Family(
    id="NW-02",
    tier=1,
    summary="A Service's selector takes in pods of somebody else.",
    partners=("NW-01", "PR-06", "IM-07"),
    source="tests/golden/l2/flows (endpoint slices); FAULTS NW-02",
    faults=(
        Fault(
            id="whole-application",
            sign=Sign.ERRORS,
            level=2,
            places=_labelled,
            params=_wide_params,
            inject=_widen,
            symptoms=lambda case: (some_fail(case.entries),),
            evidence=lambda case: (
                Evidence(
                    command=f"kubectl -n {case.namespace} describe service {case.place.service}",
                    shows=f"{_PART_OF}={case.params['value']}",
                ),
            ),
            repaired_when=lambda case: (own_pods_answer(case),),
            allowed=lambda case: (
                case.allow("spec.selector", resource="services", name=case.place.service),
                case.allow("spec.template.metadata.labels"),
            ),
            repairs=(
                lambda case: (_select(case, dict(case.place.labels)),),
                lambda case: (
                    patched(case, f"service/{case.place.service}", {"spec": {"selector": _selector(case)}}),
                ),
                _relabel,
            ),
            decoys=(
                Decoy(script=_label_pods),
                Decoy(
                    script=lambda case: (
                        f"kubectl -n {case.namespace} delete pods -l {_PART_OF}={case.params['value']}",
                    )
                ),
                Decoy(
                    script=lambda case: (
                        f"kubectl -n {case.namespace} delete service {case.place.service}",
                        f"kubectl -n {case.namespace} expose deployment {case.name} --name={case.place.service} "
                        f"--port={case.place.service_port} --target-port={case.place.container_port}",
                    ),
                    is_harmful=True,
                ),
                Decoy(script=_restart),
            ),
            diagnosis=_diagnosis,
        ),
        Fault(
            id="same-labels",
            sign=Sign.ERRORS,
            level=3,
            places=_served,
            params=_stub_params,
            inject=_settle_in,
            symptoms=lambda case: (some_fail(case.entries),),
            evidence=lambda case: (
                Evidence(
                    command=f"kubectl -n {case.namespace} get endpointslices "
                    f"-l kubernetes.io/service-name={case.place.service} -o yaml",
                    shows=f"name: {case.params['stranger']}-",
                ),
            ),
            repaired_when=lambda case: (own_pods_answer(case), stranger_unaffected(case)),
            allowed=lambda case: (
                case.allow("spec.selector", resource="services", name=case.place.service),
                case.allow("spec.template.metadata.labels"),
                case.allow(ADDED, name=case.params["stranger"]),
                case.allow(ADDED, resource="configmaps", name=case.params["stranger"]),
            ),
            repairs=(_narrow, _relabel),
            decoys=(
                Decoy(
                    script=lambda case: (
                        f"kubectl -n {case.namespace} scale deployment {case.params['stranger']} --replicas=0",
                    )
                ),
                Decoy(
                    script=lambda case: (
                        f"kubectl -n {case.namespace} delete deployment {case.params['stranger']}",
                    )
                ),
                Decoy(script=_label_pods),
                Decoy(script=_restart),
            ),
            diagnosis=_diagnosis,
        ),
    ),
)
