"""The server of a webhook that must agree cannot be reached: the API refuses every pod that it would be asked about."""

from __future__ import annotations

import json
from typing import Any, Final

from env_core.apiserver.errors import StatusError
from env_core.cluster import Cluster
from env_core.faults._admission import comes_to_roll_out, pods_not_made, release, rolls_by_surge
from env_core.faults._mechanisms import Mechanism
from env_core.faults._model import Case, Decoy, Diagnosis, Evidence, Family, Fault, Params, Script, Sign
from env_core.faults._network import POLICIES, owner_ref, policy_of, port_of
from env_core.faults._words import deployments, pass_time, restarted, runs_image
from env_core.scenarios._app import Base, Workload
from env_core.scenarios.platform import COLLEAGUE
from env_core.sim.rng import Stream
from env_core.verify.changes import ADDED
from env_core.verify.checks import Check
from env_core.verify.scope import Allowed
from env_core.verify.trials import churn
from env_core.verify.view import View
from env_core.world import Object

_SERVER: Final = "guardrails"
"""The role of the webhook's server."""
_HOOKS: Final = "validatingwebhookconfigurations.admissionregistration.k8s.io"
_WAITS_S: Final = (60, 110, 170)
_MOST: Final = 3
"""How many times its usual number of pods the server may have."""
_POLICIES: Final = ("restrict-guardrails", "guardrails-ingress", "platform-baseline")
_WRONG: Final = ("port", "target", "selector", "policy")


def _server(case: Case) -> Workload:
    return case.base.workloads[_SERVER]


def _guarded(base: Base) -> tuple[str, ...]:
    """Return the roles whose pods the webhook is asked about."""
    server = base.workloads.get(_SERVER)
    if server is None:
        return ()
    return tuple(
        role
        for role in deployments(base)
        for place in (base.workloads[role],)
        if place.namespace != server.namespace and place.later_tags and rolls_by_surge(base, place)
    )


def _waits(stream: Stream) -> dict[str, str]:
    return {
        "before_s": str(stream.choice(_WAITS_S) + stream.below(60)),
        "wait_s": str(stream.choice(_WAITS_S) + stream.below(30)),
    }


def _release(case: Case, cluster: Cluster) -> None:
    """Let the pipeline release the workload some time after the server was cut off."""
    cluster.advance(int(case.params["before_s"]) * 1_000)
    release(case, cluster, case.place.later_tags[0])
    pass_time(cluster, case)


# What must hold


def tenants_are_guarded(case: Case) -> Check:
    """A pod that the webhook is there to refuse is refused by it, and an ordinary one is made."""
    wanted = {"containers": [{"name": "shell", "image": "busybox:1.36", "command": ["sleep", "60"]}]}

    def fails(view: View) -> str:
        client = view.fork().client()

        def refusal(name: str, spec: Object) -> str:
            pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "namespace": case.namespace}}
            try:
                client.create("pods", case.namespace, {**pod, "spec": spec})
            except StatusError as error:
                return error.message
            return ""

        why = refusal("a-guest", wanted)
        if why:
            return f"an ordinary pod is refused: {why}"
        why = refusal("a-host", {**wanted, "hostNetwork": True})
        return "" if "denied the request" in why else f"a pod on its node's network gets: {why or 'made'}"

    return Check("tenants are guarded", fails)


def server_runs(case: Case) -> Check:
    """The webhook's server has as many ready pods as before, or more within reason."""
    place = _server(case)

    def fails(view: View) -> str:
        owner = view.get(place.resource, place.namespace, place.name)
        if owner is None:
            return f"{place.name} is gone"
        wanted = owner["spec"].get("replicas", 1)
        if not place.replicas <= wanted <= _MOST * place.replicas:
            return f"{place.name} asks for {wanted} pods"
        found = owner.get("status", {}).get("readyReplicas", 0)
        return "" if found >= place.replicas else f"{place.name} has {found} pods ready"

    return Check(f"{place.name} runs", fails)


def _good(case: Case) -> tuple[str, ...]:
    return (case.place.tag, *case.place.later_tags)


def _released(case: Case) -> tuple[Check, ...]:
    return (tenants_are_guarded(case), comes_to_roll_out(case), runs_image(case, *_good(case)))


# The server is scaled away


def _scale(case: Case, count: int) -> str:
    place = _server(case)
    return f"kubectl -n {place.namespace} scale deployment/{place.name} --replicas={count}"


def _remove(case: Case, cluster: Cluster) -> None:
    place = _server(case)
    cluster.client(COLLEAGUE).patch("deployments", place.namespace, place.name, {"spec": {"replicas": 0}})
    _release(case, cluster)


# The way to the server is cut


def _cut_params(stream: Stream, _base: Base, _place: Workload) -> Params:
    return {"what": stream.choice(_WRONG), "policy": stream.choice(_POLICIES), **_waits(stream)}


def _service(case: Case) -> Object:
    place = _server(case)
    found = case.base.cluster.store.get("services", place.namespace, place.service)
    assert found is not None
    return found


def _cut(case: Case, cluster: Cluster) -> None:
    place, client = _server(case), cluster.client(COLLEAGUE)
    if case.params["what"] == "policy":
        rule = {"from": [{"podSelector": {}}], "ports": [port_of(place)]}
        policy = policy_of(place, case.params["policy"], {"policyTypes": ["Ingress"], "ingress": [rule]})
        client.create(POLICIES, place.namespace, policy)
    else:
        client.patch("services", place.namespace, place.service, {"spec": _spoilt(case)})
    _release(case, cluster)


def _spoilt(case: Case) -> Object:
    port = _service(case)["spec"]["ports"][0]
    if case.params["what"] == "port":
        return {"ports": [{**port, "port": _server(case).container_port}]}
    if case.params["what"] == "target":
        return {"ports": [{**port, "targetPort": port["port"]}]}
    return {"selector": {key: f"{value}-v2" for key, value in _server(case).labels.items()}}


def _command(case: Case, what: str, patch: Any) -> str:
    return f"kubectl -n {_server(case).namespace} patch {what} --type=merge -p '{json.dumps(patch)}'"


def _as_before(case: Case) -> Script:
    """Return the command lines that give the server's Service back what it had, or take the new policy away."""
    if case.params["what"] == "policy":
        return (f"kubectl -n {_server(case).namespace} delete networkpolicy {case.params['policy']}",)
    spec = _service(case)["spec"]
    patch = {"spec": {"ports": spec["ports"], "selector": spec["selector"]}}
    return (_command(case, f"service/{_server(case).service}", patch),)


def _another_way(case: Case) -> Script:
    """Return the command lines that name the port by number, or let everybody in to the server's port."""
    place = _server(case)
    if case.params["what"] == "policy":
        return (
            _command(
                case,
                f"networkpolicy/{case.params['policy']}",
                {"spec": {"ingress": [{"ports": [port_of(place)]}]}},
            ),
        )
    spec = _service(case)["spec"]
    ports = [{**spec["ports"][0], "targetPort": place.container_port}]
    patch = {"spec": {"ports": ports, "selector": spec["selector"]}}
    return (_command(case, f"service/{place.service}", patch),)


def _then_wait(script: Script, case: Case) -> Script:
    return (*script, f"kubectl rollout status {case.target} --timeout=8m")


def _cut_allowed(case: Case) -> tuple[Allowed, ...]:
    place = _server(case)
    return (
        case.allow(case.container("image")),
        case.allow("spec.ports", resource="services", name=place.service, namespace=place.namespace),
        case.allow("spec.selector", resource="services", name=place.service, namespace=place.namespace),
        case.allow(ADDED, resource=POLICIES, name=case.params["policy"], namespace=place.namespace),
    )


def _cut_at(case: Case) -> Diagnosis:
    place, is_policy = _server(case), case.params["what"] == "policy"
    return Diagnosis(
        kind="NetworkPolicy" if is_policy else "Service",
        namespace=place.namespace,
        name=case.params["policy"] if is_policy else place.service,
        mechanism=Mechanism.NETWORK_POLICY if is_policy else Mechanism.SERVICE_WIRING,
    )


_SAID: Final = {
    "port": "no service port 443 found",
    "target": "connection refused",
    "selector": "no endpoints available for service",
    "policy": "context deadline exceeded",
}


# What is tempting


def _hook(case: Case) -> str:
    found: str = case.base.cluster.store.list(_HOOKS)[0]["metadata"]["name"]
    return found


def _without_webhook(case: Case) -> Script:
    return (f"kubectl delete validatingwebhookconfiguration {_hook(case)}",)


def _ignored(case: Case) -> Script:
    patch = [{"op": "replace", "path": "/webhooks/0/failurePolicy", "value": "Ignore"}]
    return (
        f"kubectl patch validatingwebhookconfiguration {_hook(case)} --type=json -p '{json.dumps(patch)}'",
    )


def _bad_release(case: Case) -> str:
    image = f"{case.place.image.rpartition(':')[0]}:{(case.place.failing_tags or ('latest',))[0]}"
    return f"kubectl -n {case.namespace} set image deployment/{case.name} {case.place.container}={image}"


def _decoys(repair: Any) -> tuple[Decoy, ...]:
    return (
        Decoy(script=_without_webhook),
        Decoy(script=_ignored),
        Decoy(script=lambda case: (f"kubectl rollout undo {case.target}",)),
        Decoy(script=lambda case: (restarted(case),)),
        Decoy(script=lambda case: (*repair(case), _bad_release(case))),
        Decoy(
            script=lambda case: (
                f"kubectl -n {_server(case).namespace} delete service {_server(case).service}",
            ),
            is_harmful=True,
        ),
    )


FAMILY = Family(
    id="AD-05",
    tier=1,
    summary="A validating webhook that must agree has no server to ask.",
    partners=("AD-03", "NW-01", "NW-06"),
    source="tests/golden/l2/facts (hook-…); FAULTS AD-05",
    faults=(
        Fault(
            id="server-scaled-away",
            sign=Sign.RELEASE,
            level=3,
            places=_guarded,
            params=lambda stream, _base, _place: _waits(stream),
            inject=_remove,
            symptoms=lambda case: (pods_not_made(case, "failed calling webhook"),),
            evidence=lambda case: (
                Evidence(command=case.warnings, shows=_SAID["selector"]),
                Evidence(command=f"kubectl -n {_server(case).namespace} get deployments", shows="0/0"),
            ),
            repaired_when=lambda case: (server_runs(case), *_released(case)),
            allowed=lambda case: (
                case.allow(case.container("image")),
                case.allow("spec.replicas", name=_server(case).name, namespace=_server(case).namespace),
            ),
            trials=lambda case: (churn((owner_ref(_server(case)),)),),
            repairs=(
                lambda case: _then_wait((_scale(case, _server(case).replicas),), case),
                lambda case: (
                    _scale(case, _server(case).replicas + 1),
                    restarted(case),
                ),
            ),
            decoys=(
                *_decoys(lambda case: (_scale(case, _server(case).replicas),)),
                Decoy(script=lambda case: (_scale(case, 1), restarted(case))),
            ),
            diagnosis=lambda case: Diagnosis(
                kind="Deployment",
                namespace=_server(case).namespace,
                name=_server(case).name,
                mechanism=Mechanism.ADMISSION,
            ),
        ),
        Fault(
            id="way-cut",
            sign=Sign.RELEASE,
            level=4,
            places=_guarded,
            params=_cut_params,
            inject=_cut,
            symptoms=lambda case: (pods_not_made(case, "failed calling webhook"),),
            evidence=lambda case: (Evidence(command=case.warnings, shows=_SAID[case.params["what"]]),),
            repaired_when=_released,
            allowed=_cut_allowed,
            trials=lambda case: (churn((owner_ref(_server(case)),)),),
            repairs=(
                lambda case: _then_wait(_as_before(case), case),
                lambda case: (*_another_way(case), restarted(case)),
            ),
            decoys=_decoys(_as_before),
            diagnosis=_cut_at,
        ),
    ),
)
