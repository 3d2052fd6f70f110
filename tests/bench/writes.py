"""What one write costs in a small and in a large cluster: row 8, second half."""

from __future__ import annotations

import statistics

from env_core.cluster import Cluster
from tests.bench import crowds
from tests.bench.measuring import Profile, collected, rounded, timed_ms
from tests.bench.report import Row

_SMALL = 48
"""About fifty, and a whole number of Deployments."""


def rows(profile: Profile, *, is_quick: bool) -> list[Row]:
    """Patch a pod, and roll a Deployment out, with everything that follows from it."""
    large = 200 if is_quick else 2_000
    count = 10 if is_quick else 200
    rollouts = 2 if is_quick else 20
    small_world, large_world = crowds.crowd(_SMALL), crowds.crowd(_SMALL, large - _SMALL)
    with collected(), profile.of("8b"):
        patch_small, patch_large = (_patch_ms(world.fork(), count) for world in (small_world, large_world))
        roll_small, roll_large = (_rollout_ms(world.fork(), rollouts) for world in (small_world, large_world))
    return [
        Row(
            id="8b",
            what=f"one pod patched and all that follows, {large:,} pods",
            unit="ms",
            budget=rounded(patch_small * 1.5),
            measured=rounded(patch_large),
            peer=f"the same with {_SMALL} pods",
            peer_measured=rounded(patch_small),
        ),
        Row(
            id="8c",
            what=f"one Deployment of 4 rolled out, {large:,} pods",
            unit="ms",
            budget=rounded(roll_small * 1.5),
            measured=rounded(roll_large),
            peer=f"the same with {_SMALL} pods",
            peer_measured=rounded(roll_small),
        ),
    ]


def _patch_ms(cluster: Cluster, count: int) -> float:
    admin = cluster.client()
    names = [pod["metadata"]["name"] for pod in cluster.store.list("pods", crowds.NAMESPACE)]
    values: list[float] = []
    for number in range(count):
        name = names[number % len(names)]

        def write(name: str = name, number: int = number) -> None:
            admin.patch("pods", crowds.NAMESPACE, name, {"metadata": {"annotations": {"bench": str(number)}}})
            cluster.advance(1_000)

        values.append(timed_ms(write))
    return statistics.median(values)


def _rollout_ms(cluster: Cluster, count: int) -> float:
    admin = cluster.client()
    values: list[float] = []
    for number in range(count):

        def roll(number: int = number) -> None:
            annotations = {"bench": str(number)}
            patch = {"spec": {"template": {"metadata": {"annotations": annotations}}}}
            admin.patch("deployments.apps", crowds.NAMESPACE, f"app-{number % 12:03}", patch)
            cluster.settle(5_000, 60_000)

        values.append(timed_ms(roll))
    return statistics.median(values)
