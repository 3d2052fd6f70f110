"""What families about resources share: what a container had, what it has now, what its program needs, and the peak that it must stand."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Final

from env_core.faults._model import Case
from env_core.faults._words import container_of, owner_of
from env_core.objects.quantity import to_bytes, to_milli
from env_core.programs.service import product_of
from env_core.scenarios._app import Base, Workload
from env_core.verify.checks import Check
from env_core.verify.load import load, why_overloaded
from env_core.verify.trials import Trial
from env_core.verify.view import View

MIB: Final = 1 << 20
PEAK_PER_SECOND: Final = 20
"""Requests at each way in at the busiest time of an ordinary day."""
_PEAK_MS: Final = 8_000
_SPARE_BYTES: Final = 4 * MIB
"""What must be left above a working set."""

Resources = Mapping[str, Mapping[str, str]]


# Reading


def resources_of(base: Base, place: Workload) -> dict[str, dict[str, str]]:
    """Return the requests and limits that a workload's container has in the healthy world."""
    owner = base.cluster.store.get(place.resource, place.namespace, place.name)
    assert owner is not None
    found: dict[str, dict[str, str]] = container_of(owner, place.container).get("resources") or {}
    return found


def amount(resource: str, text: str) -> int:
    """Return a quantity of CPU in thousandths of a core, of anything else in bytes."""
    return to_milli(text) if resource == "cpu" else to_bytes(text)


def cache_bytes(place: Workload) -> int:
    """Return how much of a workload's working set is its cache: 0 for programs that are not ours."""
    try:
        product = product_of(place.image)
    except KeyError:
        return 0
    # Its owners count a little more than the program uses (`Workload.working_set_bytes`).
    return place.working_set_bytes - product.resting_bytes - 2 * MIB


# Edits


def set_resources(case: Case, resources: Resources) -> str:
    """Return the command that sets the container's requests and limits."""
    words = " ".join(
        f"--{section}=" + ",".join(f"{name}={text}" for name, text in sorted(amounts.items()))
        for section, amounts in sorted(resources.items())
        if amounts
    )
    return (
        f"kubectl -n {case.namespace} set resources deployment/{case.name} -c {case.place.container} {words}"
    )


def without_limit(case: Case, resource: str) -> str:
    """Return the command that removes one limit of the container."""
    container = {"name": case.place.container, "resources": {"limits": {resource: None}}}
    body = json.dumps({"spec": {"template": {"spec": {"containers": [container]}}}})
    return f"kubectl -n {case.namespace} patch deployment {case.name} -p '{body}'"


# The peak


def peak(case: Case) -> Trial:
    """Return the trial of an ordinary day's peak at the ways in that need the broken workload, or at all if none does."""
    return load(case.entries or case.base.entries, PEAK_PER_SECOND, _PEAK_MS)


def overloaded(case: Case) -> Check:
    """The peak is not stood."""

    def fails(view: View) -> str:
        entries = case.entries or case.base.entries
        if why_overloaded(view.fork(), entries, PEAK_PER_SECOND, _PEAK_MS):
            return ""
        return "the peak is stood"

    return Check("the peak is not stood", fails)


# Goals


def keeps_requests(case: Case, resource: str, least: str = "") -> Check:
    """The container requests at most four times what it did, and at least half of it, or else `least`."""
    was = amount(resource, resources_of(case.base, case.place)["requests"][resource])
    lowest = amount(resource, least) if least else was // 2

    def fails(view: View) -> str:
        now = container_of(owner_of(view, case), case.place.container).get("resources") or {}
        # A limit alone is a request, too: so the API server defaults it.
        text = (now.get("requests") or {}).get(resource) or (now.get("limits") or {}).get(resource)
        if text is None:
            return f"{case.name} requests no {resource}"
        if not lowest <= amount(resource, text) <= 4 * was:
            return f"{case.name} requests {text} of {resource}"
        return ""

    return Check(f"{case.name} requests {resource}", fails)


def memory_fits(case: Case) -> Check:
    """The container has a memory limit above what its program uses as configured now, and within its owners' budget."""

    def fails(view: View) -> str:
        limit = _limit(view, case, "memory")
        if limit is None:
            return f"{case.name} has no memory limit"
        budget = amount("memory", resources_of(case.base, case.place)["limits"]["memory"]) * 5 // 2
        if limit > budget:
            return f"{case.name} may use {limit // MIB} MiB, more than its budget of {budget // MIB} MiB"
        for pod in view.pods_of(case.namespace, case.name):
            env = view.env_of(pod, case.place.container)
            used = product_of(case.place.image).resting_bytes + int(env.get("CACHE_MB", "0")) * MIB
            if not env:
                return f"pod {pod['metadata']['name']} does not run"
            if "CACHE_MB" not in env:
                used += cache_bytes(case.place)
            if limit < used + _SPARE_BYTES:
                return f"{case.name} uses {used // MIB} MiB and may use {limit // MIB} MiB"
        return ""

    return Check(f"memory of {case.name} fits", fails)


def cpu_suffices(case: Case) -> Check:
    """Every pod may use half of what its owners reckon with at a peak, at least, and no more than four times their limit.

    What is really needed shows when the peak comes.
    """
    needed = case.place.peak_millis // 2

    def fails(view: View) -> str:
        most = 4 * amount("cpu", resources_of(case.base, case.place)["limits"]["cpu"])
        for pod in view.pods_of(case.namespace, case.name):
            limits = next(
                (entry.get("resources") or {}).get("limits") or {}
                for entry in pod["spec"]["containers"]
                if entry["name"] == case.place.container
            )
            text = limits.get("cpu")
            if text is not None and not needed <= amount("cpu", text) <= most:
                return f"{case.name} may use {text} of CPU and needs {needed}m at least"
        return ""

    return Check(f"cpu of {case.name} suffices", fails)


def _limit(view: View, case: Case, resource: str) -> int | None:
    found = container_of(owner_of(view, case), case.place.container).get("resources") or {}
    text = (found.get("limits") or {}).get(resource)
    return None if text is None else amount(resource, text)
