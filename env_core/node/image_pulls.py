"""Pulling images for a container: back-off, one pull at a time on a node, what a failed pull says.

Source: k8s.io/kubernetes pkg/kubelet/images/image_manager.go and pkg/kubelet/kuberuntime (image volumes, pull secrets),
1.37; texts in tests/golden/kubelet/{event,state}-texts.jsonl.gz.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from env_core.node import images as image_rules
from env_core.node._host import Host
from env_core.node._records import PodRecord
from env_core.node.images import Present, Reference
from env_core.world import Object

BACKOFF_FIRST_MS: Final = 10_000
BACKOFF_MAX_MS: Final = 300_000
STARTED: Final = "started"
FAILED: Final = "failed"
BACKED_OFF: Final = "backoff"
BUSY: Final = "busy"


class Started(NamedTuple):
    """How a start went: the record after it, what came of it, and until when the worker is busy with it."""

    record: PodRecord
    outcome: str
    until_ms: int = 0


def fail(
    host: Host, record: PodRecord, pod: Object, name: str, reason: str, message: str, shown: str = ""
) -> Started:
    """Record that a container could not be started, and why it waits now."""
    host.event(record, pod, "Warning", "Failed", f"Error: {shown or reason}", name)
    return Started(record.change_container(name, waiting=(reason, message)), FAILED)


def image_volumes(pod: Object, container: Object) -> list[tuple[str, str]]:
    """(image, pull policy) of each volume of a container that is an image."""
    mounted = {mount["name"] for mount in container.get("volumeMounts") or ()}
    return [
        (volume["image"]["reference"], volume["image"].get("pullPolicy", "IfNotPresent"))
        for volume in pod["spec"].get("volumes") or ()
        if volume["name"] in mounted and (volume.get("image") or {}).get("reference")
    ]


def present_image(host: Host, node: str, reference: Reference) -> Present | None:
    """Return an image that a node has, or None."""
    found: Present | None = host.state.table("kubelet/images").get((node, reference.name))
    return found if found is not None else host.images.present(reference)


def pull(
    host: Host,
    record: PodRecord,
    pod: Object,
    container: Object,
    reference: Reference,
    image: str,
    *,
    is_volume: bool = False,
) -> Started:
    """Start a pull, which makes the worker busy, or wait for the back-off of the last one."""
    name = container["name"]
    where = "" if is_volume else name
    state = record.container(name)
    now_ms = host.now_ms
    if state.image_failed == image and now_ms - state.image_backoff_at_ms < state.image_backoff_ms:
        text = f'Back-off pulling image "{image}"'
        host.event(record, pod, "Normal", "BackOff", text, where)
        return fail(host, record, pod, name, "ImagePullBackOff", f"{text}: {state.image_error}")
    host.event(record, pod, "Normal", "Pulling", f'Pulling image "{image}"', where)
    node = host.node(record.node)
    assert node is not None
    refusal = host.images.pull(reference)
    stream = host.component(record.node).stream("pulls", record.node)
    took_ms = host.images.pull_ms(reference, stream, is_refused=refusal is not None)
    # One pull at a time on a node.
    start_ms = max(now_ms, node.pulls_until_ms)
    until_ms = start_ms + took_ms
    host.nodes[record.node] = node._replace(pulls_until_ms=until_ms)
    record = record._replace(pulled_image=image, pull_asked_ms=now_ms, pull_took_ms=took_ms)
    return Started(record, BUSY, until_ms)


def _tell_missing_secrets(host: Host, record: PodRecord, pod: Object) -> None:
    names = [each.get("name", "") for each in pod["spec"].get("imagePullSecrets") or ()]
    missing = [name for name in names if host.store.get("secrets", record.namespace, name) is None]
    if missing:
        text = (
            f"Unable to retrieve some image pull secrets ({', '.join(missing)}); "
            "attempting to pull the image may not succeed."
        )
        host.event(record, pod, "Warning", "FailedToRetrieveImagePullSecret", text)


def pull_failed(
    host: Host,
    record: PodRecord,
    pod: Object,
    name: str,
    image: str,
    refusal: image_rules.PullError,
    *,
    is_volume: bool,
) -> Started:
    """Record a pull that failed, and its back-off."""
    where = "" if is_volume else name
    host.event(record, pod, "Warning", "Failed", f'Failed to pull image "{image}": {refusal.shown}', where)
    state = record.container(name)
    grown = (
        min(state.image_backoff_ms * 2, BACKOFF_MAX_MS)
        if state.image_failed == image and state.image_backoff_ms
        else BACKOFF_FIRST_MS
    )
    reason, message = "ErrImagePull", refusal.shown
    if refusal.text.startswith("SignatureValidationFailed: "):
        reason = "SignatureValidationFailed"
        why = refusal.text.removeprefix("SignatureValidationFailed: ")
        message = f"image pull failed for {image} because the signature validation failed: {why}"
    elif refusal.text.startswith("RegistryUnavailable: "):
        reason = "RegistryUnavailable"
        message = f"image pull failed for {image} because the registry is unavailable: {refusal.text.removeprefix('RegistryUnavailable: ')}"
    record = record.change_container(
        name,
        image_failed=image,
        image_error=f"{reason}: {message}",
        image_backoff_ms=grown,
        image_backoff_at_ms=host.now_ms,
    )
    failed = fail(host, record, pod, name, reason, message)
    _tell_missing_secrets(host, record, pod)
    return failed
