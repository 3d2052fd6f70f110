"""What families of bad releases share: the pipeline rolls them out, and they are taken back or patched forward."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from env_core.apiserver.request import STRATEGIC_PATCH
from env_core.cluster import Cluster
from env_core.faults._model import Case
from env_core.faults._words import container_of, restart, undone
from env_core.objects.quantity import to_bytes
from env_core.scenarios._app import Base, Workload
from env_core.scenarios.platform import COLLEAGUE, DELIVERY
from env_core.verify.checks import Check
from env_core.verify.checks.entries import why_not_served
from env_core.verify.load import under_traffic
from env_core.verify.trials import Owner, Trial, roll
from env_core.verify.view import View
from env_core.world import Objects

_LEAK_BYTES_PER_S: Final = 72 << 10
"""What a leaking release loses without any request, as its image does."""
_HORIZON_S_MAX: Final = 1_500
"""Where a leak needs longer, nobody would wait for the second kill."""
_PART_MS: Final = 12_000
"""In which one replica is replaced, with time to spare."""
_ROUNDS: Final = 15
_TRIES_MS: Final = 2_000
"""From one round of users' requests to the next."""


def image_of(place: Workload, tag: str) -> str:
    """Return a release of a workload's own image."""
    return f"{place.image.rpartition(':')[0]}:{tag}"


def patched(tag: str) -> str:
    """Return the first patch release after the first release of a minor version."""
    return f"{tag.rpartition('.')[0]}.1"


def good_tags(place: Workload) -> tuple[str, ...]:
    """Return the releases that its owners stand for: the present one, those after it, and the one before."""
    return (place.tag, *place.later_tags, *place.earlier_tags[:1])


def leak_horizon_s(base: Base, place: Workload) -> int:
    """Return the seconds that a leak needs to fill a container of the workload; 0 where it has no limit."""
    owner = base.cluster.store.get(place.resource, place.namespace, place.name)
    assert owner is not None
    limits = (container_of(owner, place.container).get("resources") or {}).get("limits") or {}
    room = to_bytes(str(limits.get("memory", "0"))) - place.working_set_bytes
    return max(room, 0) // _LEAK_BYTES_PER_S


def can_leak(base: Base, place: Workload) -> bool:
    """Whether a leaking release of the workload is killed while somebody still waits for it."""
    return bool(place.leaking_tags) and 0 < leak_horizon_s(base, place) < _HORIZON_S_MAX


def killed_for_memory(pods: Objects) -> str:
    """Return the name of the first of the pods with a container that was killed for its memory, "" for none."""
    for pod in pods:
        for status in pod.get("status", {}).get("containerStatuses") or ():
            for state in (status.get("lastState") or {}, status.get("state") or {}):
                if (state.get("terminated") or {}).get("reason") == "OOMKilled":
                    name: str = pod["metadata"]["name"]
                    return name
    return ""


def roll_out(
    cluster: Cluster, place: Workload, tag: str, note: str = "", more: Mapping[str, Any] | None = None
) -> None:
    """Start the roll-out of a release, with the note that the pipeline leaves; nobody waits for it.

    `more` are fields of the container that change with it.
    """
    container = {"name": place.container, "image": image_of(place, tag), **(more or {})}
    change = {
        "metadata": {"annotations": {"kubernetes.io/change-cause": note or f"release {tag}"}},
        "spec": {"template": {"spec": {"containers": [container]}}},
    }
    cluster.client(DELIVERY).patch(place.resource, place.namespace, place.name, change, STRATEGIC_PATCH)


def users_come(case: Case, cluster: Cluster, rounds: int) -> None:
    """Let users take the ways in that need the workload, round after round: logs and counts tell of it."""
    for _ in range(rounds):
        for entry in case.entries:
            why_not_served(cluster, entry)
        cluster.advance(_TRIES_MS)


def undo_to_healthy(case: Case) -> str:
    """Return the command line that takes the workload back to the revision of the healthy world."""
    owner = case.base.cluster.store.get(case.place.resource, case.namespace, case.name)
    assert owner is not None
    revision = owner["metadata"]["annotations"]["deployment.kubernetes.io/revision"]
    return f"{undone(case)} --to-revision={revision}"


def tidy_up(case: Case, cluster: Cluster, fields: Mapping[str, Any]) -> None:
    """Let a colleague change fields of the container, with the note that the case has drawn; None drops one.

    After a while the workload is rolled out once more, while users come.
    """
    place, wait_ms = case.place, int(case.params["wait_s"]) * 1_000
    container = {"name": place.container, **fields}
    change = {
        "metadata": {"annotations": {"kubernetes.io/change-cause": case.params["note"]}},
        "spec": {"template": {"spec": {"containers": [container]}}},
    }
    colleague = cluster.client(COLLEAGUE)
    colleague.patch(place.resource, place.namespace, place.name, change, STRATEGIC_PATCH)
    cluster.advance(wait_ms)
    restart(cluster, case.place)
    users_come(case, cluster, _ROUNDS)
    cluster.advance(wait_ms)


def rolls_unnoticed(base: Base, place: Workload) -> bool:
    """Whether nobody notices in the healthy world that the workload is rolled out: its pods take their time to stop."""
    owner = base.cluster.store.get(place.resource, place.namespace, place.name)
    assert owner is not None
    return bool(container_of(owner, place.container).get("lifecycle")) and not place.claims


def rolled_under_traffic(case: Case) -> Trial:
    """Return the trial that the workload is rolled out while users come, all of whom must be served."""
    owner = Owner(case.place.resource, case.namespace, case.name)
    return under_traffic(roll((owner,)), case.entries[:1], _PART_MS * (case.place.replicas + 1))


def fails_while_rolled(case: Case) -> Check:
    """When the workload is rolled out, some user is not served."""

    def fails(view: View) -> str:
        served = "every request is served while pods are replaced"
        return "" if rolled_under_traffic(case).act(view.fork()) else served

    return Check("users notice roll-outs", fails)


def selected(case: Case) -> str:
    """Return the flags by which kubectl takes the pods that the workload selects."""
    pairs = ",".join(f"{key}={value}" for key, value in sorted(case.place.labels.items()))
    return f"-n {case.namespace} -l {pairs}"


def set_image(case: Case, tag: str) -> str:
    """Return the command line that puts a release of the workload's image in its place."""
    image = image_of(case.place, tag)
    return f"kubectl -n {case.namespace} set image deployment/{case.name} {case.place.container}={image}"
