"""What families of bad releases share: the pipeline rolls them out, and they are taken back or patched forward."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from env_core.apiserver.request import STRATEGIC_PATCH
from env_core.cluster import Cluster
from env_core.faults._model import Case
from env_core.scenarios._app import Workload
from env_core.scenarios.platform import DELIVERY
from env_core.verify.checks.entries import why_not_served

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


def selected(case: Case) -> str:
    """Return the flags by which kubectl takes the pods that the workload selects."""
    pairs = ",".join(f"{key}={value}" for key, value in sorted(case.place.labels.items()))
    return f"-n {case.namespace} -l {pairs}"


def set_image(case: Case, tag: str) -> str:
    """Return the command line that puts a release of the workload's image in its place."""
    image = image_of(case.place, tag)
    return f"kubectl -n {case.namespace} set image deployment/{case.name} {case.place.container}={image}"


def undo(case: Case) -> str:
    """Return the command line that takes the last roll-out of the workload back."""
    return f"kubectl -n {case.namespace} rollout undo deployment/{case.name}"
