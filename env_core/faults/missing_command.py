"""A workload's command names a program that its image does not have: new pods cannot start."""

from __future__ import annotations

import json

from env_core.cluster import Cluster
from env_core.faults._mechanisms import Mechanism
from env_core.faults._model import Case, Decoy, Diagnosis, Evidence, Family, Fault, Params, Sign
from env_core.faults._words import (
    container_of,
    deleted,
    deployments,
    owner_of,
    pass_time,
    patch_container,
    pods_fail_to_start,
    restarted,
    rolled_out,
    runs_image,
    undone,
    waits,
)
from env_core.scenarios._app import Base, Workload
from env_core.sim.rng import Stream
from env_core.verify.checks import Check
from env_core.verify.view import View

_COMMANDS = (
    "/app/start.sh",
    "/usr/local/bin/serve",
    "./entrypoint.sh",
    "/opt/run-server",
    "/docker-start.sh",
)
_WAITS_S = (150, 400, 900)


def _params(stream: Stream, _base: Base, _place: Workload) -> Params:
    return {
        "command": stream.choice(_COMMANDS),
        **waits(stream, _WAITS_S),
    }


def _inject(case: Case, cluster: Cluster) -> None:
    patch_container(cluster, case.place, {"command": [case.params["command"]]})
    pass_time(cluster, case)


def _original(case: Case) -> list[str] | None:
    owner = case.base.cluster.store.get(case.place.resource, case.namespace, case.name)
    assert owner is not None
    found: list[str] | None = container_of(owner, case.place.container).get("command")
    return found


def starts_its_program(case: Case) -> Check:
    """The container starts what it always started."""

    def fails(view: View) -> str:
        command = container_of(owner_of(view, case), case.place.container).get("command")
        return "" if command == _original(case) else f"{case.name} starts {command}"

    return Check(f"{case.name} starts its own program", fails)


def _commanded(case: Case, command: list[str] | None) -> str:
    container = {"name": case.place.container, "command": command}
    body = json.dumps({"spec": {"template": {"spec": {"containers": [container]}}}})
    return f"kubectl -n {case.namespace} patch deployment {case.name} -p '{body}'"


FAMILY = Family(
    id="WC-01",
    tier=1,
    summary="A workload's command names a program that its image does not have.",
    partners=("WC-02", "CF-02"),
    source="tests/golden/kubelet/state-texts (start-cmd-*), tests/golden/programs/runc; FAULTS WC-01",
    faults=(
        Fault(
            id="moved-script",
            sign=Sign.RELEASE,
            places=deployments,
            params=_params,
            inject=_inject,
            symptoms=lambda case: (pods_fail_to_start(case),),
            evidence=lambda case: (
                Evidence(command=case.warnings, shows=case.params["command"]),
                Evidence(
                    command=f"kubectl -n {case.namespace} get deployment {case.name} -o yaml",
                    shows=case.params["command"],
                ),
            ),
            repaired_when=lambda case: (
                starts_its_program(case),
                runs_image(case, case.place.tag, *case.place.later_tags, *case.place.earlier_tags[:1]),
                rolled_out(case),
            ),
            allowed=lambda case: (case.allow(case.container("command")),),
            repairs=(
                lambda case: (_commanded(case, _original(case)),),
                lambda case: (undone(case),),
            ),
            decoys=(
                Decoy(script=lambda case: (_commanded(case, ["sleep", "infinity"]),)),
                Decoy(
                    script=lambda case: (
                        _commanded(case, _original(case)),
                        f"kubectl -n {case.namespace} set image deployment/{case.name} "
                        f"{case.place.container}=nginx:1.27",
                    )
                ),
                Decoy(script=lambda case: (restarted(case),)),
                Decoy(
                    script=lambda case: (deleted(case),),
                    is_harmful=True,
                ),
            ),
            diagnosis=lambda case: Diagnosis(
                kind="Deployment", namespace=case.namespace, name=case.name, mechanism=Mechanism.COMMAND
            ),
        ),
    ),
)
