"""A process without probes of its own moves to another port than its neighbour in the pod asks: every pod stays ready."""

from __future__ import annotations

import json
import re
from typing import Final

from env_core.cluster import Cluster
from env_core.faults._config import CONFIG
from env_core.faults._mechanisms import Mechanism
from env_core.faults._model import Case, Decoy, Diagnosis, Evidence, Fault, Params, Script, Sign
from env_core.faults._words import (
    container_of,
    deleted,
    pass_time,
    restart,
    restarted,
    rolled_out,
    stopped,
    undone,
    waits,
)
from env_core.scenarios._app import Base, Workload
from env_core.scenarios.platform import COLLEAGUE
from env_core.sim.rng import Stream
from env_core.verify.checks import Check
from env_core.verify.checks.entries import some_fail
from env_core.verify.view import View
from env_core.world import Object

_PORTS: Final = (9001, 9010, 9080, 9100, 9999)
_WAITS_S: Final = (60, 240, 700)
_PROXY, _PROXY_KEY = "nginx", "default.conf"
_SCRIPT_KEY: Final = "bridge.py"
_PORT: Final = re.compile(r'(127\.0\.0\.1:|\("", )(\d+)')
"""Where the texts name the port: the proxy's upstream, and the address to which the script binds."""


def _places(base: Base) -> tuple[str, ...]:
    return tuple(role for role, place in base.workloads.items() if place.port_name == "bridge")


def _params(stream: Stream, _base: Base, _place: Workload) -> Params:
    return {"port": str(stream.choice(_PORTS)), **waits(stream, _WAITS_S)}


def _template(case: Case) -> Object:
    owner = case.base.cluster.store.get(case.place.resource, case.namespace, case.name)
    assert owner is not None
    return owner


def _map_of(case: Case, container: str) -> str:
    """Return the name of the ConfigMap that a container of the pod mounts."""
    owner = _template(case)
    mounted = container_of(owner, container)["volumeMounts"][0]["name"]
    volumes = owner["spec"]["template"]["spec"]["volumes"]
    name: str = next(volume for volume in volumes if volume["name"] == mounted)["configMap"]["name"]
    return name


def _text(case: Case, container: str, key: str) -> str:
    found = case.base.cluster.store.get(CONFIG, case.namespace, _map_of(case, container))
    assert found is not None
    text: str = found["data"][key]
    return text


def _moved(text: str, port: str) -> str:
    return _PORT.sub(lambda found: found[1] + port, text)


def _inject(case: Case, cluster: Cluster) -> None:
    text = _moved(_text(case, case.place.container, _SCRIPT_KEY), case.params["port"])
    name = _map_of(case, case.place.container)
    cluster.client(COLLEAGUE).patch(CONFIG, case.namespace, name, {"data": {_SCRIPT_KEY: text}})
    cluster.advance(30_000)
    restart(cluster, case.place)
    pass_time(cluster, case)


def only_ports_differ(case: Case) -> Check:
    """Script and proxy are what they were, but for the port; and both name the same one."""

    def fails(view: View) -> str:
        ports = []
        for container, key in ((case.place.container, _SCRIPT_KEY), (_PROXY, _PROXY_KEY)):
            found = view.get(CONFIG, case.namespace, _map_of(case, container))
            if found is None:
                return f"ConfigMap {_map_of(case, container)} is gone"
            text = found["data"][key]
            if _moved(text, "0").strip() != _moved(_text(case, container, key), "0").strip():
                return f"{key} does something else"
            ports += [match[2] for match in _PORT.finditer(text)]
        return (
            ""
            if len(set(ports)) == 1
            else f"the proxy asks {ports[-1]} and the program listens on {ports[0]}"
        )

    return Check(f"{_PROXY_KEY} leads to {_SCRIPT_KEY}", fails)


def _edited(case: Case, container: str, old: str, new: str) -> str:
    """Return the command line that puts one port for another in a ConfigMap."""
    return (
        f"kubectl -n {case.namespace} get configmap {_map_of(case, container)} -o yaml | sed 's/{old}/{new}/' | "
        f"kubectl replace -f -"
    )


def _declared(case: Case, port: str) -> str:
    ports = [
        {"containerPort": case.place.container_port, "$patch": "delete"},
        {"name": case.place.port_name, "containerPort": int(port), "protocol": "TCP"},
    ]
    container = {"name": case.place.container, "ports": ports}
    body = json.dumps({"spec": {"template": {"spec": {"containers": [container]}}}})
    return f"kubectl -n {case.namespace} patch deployment {case.name} -p '{body}'"


def _faked(case: Case) -> Script:
    """Let the proxy answer by itself."""
    answer = """return 200 "{\\"status\\": \\"ok\\"}";"""
    text = re.sub(r"proxy_pass [^;]+;", answer.replace("\\", "\\\\"), _text(case, _PROXY, _PROXY_KEY))
    body = json.dumps({"data": {_PROXY_KEY: text}})
    return f"kubectl -n {case.namespace} patch configmap {_map_of(case, _PROXY)} -p '{body}'", restarted(case)


def _back(case: Case) -> str:
    return _edited(case, case.place.container, case.params["port"], str(case.place.container_port))


UNPROBED: Final = Fault(
    id="moved-sidecar",
    sign=Sign.ERRORS,
    level=3,
    places=_places,
    params=_params,
    inject=_inject,
    symptoms=lambda case: (some_fail(case.entries),),
    evidence=lambda case: (
        Evidence(
            command=f"kubectl -n {case.namespace} get configmap {_map_of(case, case.place.container)} -o yaml",
            shows=case.params["port"],
        ),
        Evidence(
            command=f"kubectl -n {case.namespace} get configmap {_map_of(case, _PROXY)} -o yaml",
            shows=f"127.0.0.1:{case.place.container_port}",
        ),
    ),
    repaired_when=lambda case: (only_ports_differ(case), rolled_out(case)),
    allowed=lambda case: (
        case.allow(f"data.{_SCRIPT_KEY}", resource=CONFIG, name=_map_of(case, case.place.container)),
        case.allow(f"data.{_PROXY_KEY}", resource=CONFIG, name=_map_of(case, _PROXY)),
        case.allow(case.container("ports")),
    ),
    repairs=(
        lambda case: (_back(case), restarted(case)),
        lambda case: (
            _edited(case, _PROXY, str(case.place.container_port), case.params["port"]),
            _declared(case, case.params["port"]),
        ),
    ),
    decoys=(
        Decoy(script=lambda case: (_declared(case, case.params["port"]),)),
        Decoy(script=_faked),
        Decoy(script=lambda case: (_back(case),)),
        Decoy(script=lambda case: (undone(case),)),
        Decoy(script=lambda case: (_back(case), stopped(case))),
        Decoy(script=lambda case: (deleted(case),), is_harmful=True),
    ),
    diagnosis=lambda case: Diagnosis(
        kind="ConfigMap",
        namespace=case.namespace,
        name=_map_of(case, case.place.container),
        mechanism=Mechanism.WRONG_CONFIG,
    ),
)
