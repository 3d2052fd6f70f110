"""Starting one container: back-off, image, configuration, run, postStart hook.

Source: k8s.io/kubernetes pkg/kubelet/kuberuntime (kuberuntime_manager.go, kuberuntime_container.go) and
pkg/kubelet/images/image_manager.go, 1.37; texts in tests/golden/kubelet/{event,state}-texts.jsonl.gz.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from env_core.node import disks, dns, eviction, lifecycle, volumes
from env_core.node import images as image_rules
from env_core.node._host import Host
from env_core.node._records import Instance, PodRecord
from env_core.node.environment import CONFIG_ERROR, ConfigError, check_words, environment, expand
from env_core.node.image_pulls import (
    BACKED_OFF,
    BACKOFF_FIRST_MS,
    BACKOFF_MAX_MS,
    FAILED,
    STARTED,
    Started,
    fail,
    image_volumes,
    present_image,
    pull,
    pull_failed,
)
from env_core.node.images import Present
from env_core.objects import quantity
from env_core.programs import Container, Launch, Line, Program, Run
from env_core.sim import ids
from env_core.sim.timefmt import go_duration
from env_core.world import Object

START_ERROR_PREFIX: Final = (
    "failed to create containerd task: failed to create shim task: OCI runtime create failed: "
    "runc create failed: unable to start container process: "
)


def container_of(pod: Object, name: str) -> Object | None:
    """Return a container of any kind of a pod by name."""
    spec = pod["spec"]
    for key in ("containers", "initContainers", "ephemeralContainers"):
        for container in spec.get(key) or ():
            if container["name"] == name:
                found: Object = container
                return found
    return None


def crash_backoff(host: Host, record: PodRecord, pod: Object, name: str) -> tuple[PodRecord, bool]:
    """Return whether a container must wait before it is restarted, and the record with its back-off moved on.

    The newest dead run counts, so that the run which this very sync stopped does not.
    """
    state = record.container(name)
    instance = state.current
    dead = instance if instance is not None and not instance.is_running else state.previous
    if dead is None or dead.finished_ms is None:
        return record, False
    now_ms = host.now_ms
    # The back-off is forgotten when the run lasted over twice the maximum since it was last raised.
    is_known = state.backoff_ms > 0 and dead.finished_ms - state.backoff_at_ms <= 2 * BACKOFF_MAX_MS
    left_ms = dead.finished_ms + state.backoff_ms - now_ms
    # Kills repeat by the second: of two that fall on the same millisecond either may come first (live-http-refused
    # waits, live-http-500 does not).
    if left_ms == 0 and is_known and host.jitter(record, 0) < 0.25:
        left_ms = 1
    if is_known and left_ms > 0:
        pod_name = f"{record.name}_{record.namespace}({record.uid})"
        host.event(
            record,
            pod,
            "Warning",
            "BackOff",
            f"Back-off restarting failed container {name} in pod {pod_name}",
            name,
        )
        text = f"back-off {go_duration(state.backoff_ms)} restarting failed container={name} pod={pod_name}"
        return record.change_container(name, waiting=("CrashLoopBackOff", text)), True
    delay_ms = min(state.backoff_ms * 2, BACKOFF_MAX_MS) if is_known else BACKOFF_FIRST_MS
    return record.change_container(name, backoff_ms=delay_ms, backoff_at_ms=now_ms), False


def backoff_left_ms(host: Host, record: PodRecord) -> int | None:
    """Return how long the first of a pod's crash back-offs still lasts, None without any."""
    left = []
    for state in record.containers.values():
        if state.waiting is not None and state.waiting[0] == "CrashLoopBackOff":
            dead = (
                state.current
                if state.current is not None and not state.current.is_running
                else state.previous
            )
            if dead is not None and dead.finished_ms is not None:
                left.append(max(dead.finished_ms + state.backoff_ms - host.now_ms, 0))
    return min(left, default=None)


def begin(host: Host, record: PodRecord, pod: Object, name: str) -> Started:
    """Start a container as far as its image; a pull makes the worker busy."""
    container = container_of(pod, name)
    assert container is not None, "only containers of the spec are started"
    record, must_wait = crash_backoff(host, record, pod, name)
    if must_wait:
        return Started(record, BACKED_OFF)
    return _with_images(host, record, pod, container)


def _with_images(host: Host, record: PodRecord, pod: Object, container: Object) -> Started:
    """Go on with a container whose images may all be there: those of its volumes first, then its own."""
    name = container["name"]
    for image, policy in image_volumes(pod, container):
        if image == record.pulled_image:
            continue
        found = image_rules.parse_reference(image)
        if found is None:
            text = image_rules.reference_problem(image)
            return fail(host, record, pod, name, "InvalidImageName", text)
        if policy == "Always" or present_image(host, record.node, found) is None:
            return pull(host, record, pod, container, found, image, is_volume=True)
    image = container["image"]
    reference = image_rules.parse_reference(image)
    if reference is None:
        problem = image_rules.reference_problem(image)
        text = f'Failed to apply default image tag "{image}": couldn\'t parse image name "{image}": {problem}'
        host.event(record, pod, "Warning", "InspectFailed", text, name)
        return fail(host, record, pod, name, "InvalidImageName", text)
    broken = host.images.inspect_error(reference)
    if broken is not None:
        text = f'Failed to inspect image "": rpc error: code = {broken.code} desc = {broken.text}'
        host.event(record, pod, "Warning", "InspectFailed", text, name)
        return fail(host, record, pod, name, "ImageInspectError", text)
    present = present_image(host, record.node, reference)
    policy = container.get("imagePullPolicy", "IfNotPresent")
    if policy == "Never" and present is None:
        text = f'Container image "{image}" is not present with pull policy of Never'
        host.event(record, pod, "Warning", "ErrImageNeverPull", text, name)
        return fail(host, record, pod, name, "ErrImageNeverPull", text)
    if present is not None and policy != "Always":
        text = f'Container image "{image}" already present on machine and can be accessed by the pod'
        host.event(record, pod, "Normal", "Pulled", text, name)
        return run(host, record, pod, container, present)
    return pull(host, record, pod, container, reference, image)


def pull_done(host: Host, record: PodRecord, pod: Object, name: str) -> Started:
    """Go on after a pull that ends now."""
    container = container_of(pod, name)
    assert container is not None
    image = record.pulled_image
    is_volume = any(each == image for each, _ in image_volumes(pod, container))
    reference = image_rules.parse_reference(image)
    assert reference is not None
    refusal = host.images.pull(reference)
    if refusal is not None:
        return pull_failed(
            host, record._replace(pulled_image=""), pod, name, image, refusal, is_volume=is_volume
        )
    present = host.images.pulled(reference)
    host.state.table("kubelet/images")[(record.node, reference.name)] = present
    waited_ms = host.now_ms - record.pull_asked_ms
    took_ms = record.pull_took_ms
    text = (
        f'Successfully pulled image "{image}" in {go_duration(took_ms)} ({go_duration(waited_ms)} including waiting). '
        f"Image size: {present.size_bytes} bytes."
    )
    host.event(record, pod, "Normal", "Pulled", text, "" if is_volume else name)
    record = record.change_container(name, image_failed="", image_backoff_ms=0)
    if is_volume:
        return _with_images(host, record, pod, container)
    return run(host, record, pod, container, present)


def _root_problem(record: PodRecord, pod: Object, container: Object, present: Present) -> str:
    own = container.get("securityContext") or {}
    outer = pod["spec"].get("securityContext") or {}
    wanted = own.get("runAsNonRoot", outer.get("runAsNonRoot"))
    if not wanted:
        return ""
    where = f'(pod: "{record.name}_{record.namespace}({record.uid})", container: {container["name"]})'
    user = own.get("runAsUser", outer.get("runAsUser"))
    if user is not None:
        return f"container's runAsUser breaks non-root policy {where}" if user == 0 else ""
    if isinstance(present.user, str):
        return f"container has runAsNonRoot and image has non-numeric user ({present.user}), cannot verify user is non-root {where}"
    return f"container has runAsNonRoot and image will run as root {where}" if present.user == 0 else ""


def run(host: Host, record: PodRecord, pod: Object, container: Object, present: Present) -> Started:
    """Create and start the container of an image that is there."""
    name = container["name"]
    reference = image_rules.parse_reference(container["image"])
    assert reference is not None
    image = host.images.find(reference)
    # The run that this sync stopped is seen to be dead only now: the back-off did not count it.
    record = lifecycle.observe(host, record)
    state = record.container(name)
    last = state.current
    restarts = last.restarts + 1 if last is not None else _restarts_before(record, name)
    dns.check(host, record, pod)
    try:
        env = environment(host, record, pod, container, image.env if image is not None else {})
        files = volumes.files(host, record, pod, container, env)
        problem = _root_problem(record, pod, container, present)
        if problem:
            raise ConfigError(problem)
    except ConfigError as error:
        return fail(host, record, pod, name, CONFIG_ERROR, str(error), str(error))
    argv = tuple(
        expand(word, env)
        for word in container.get("command") or (image.entrypoint if image is not None else ())
    )
    words = container.get("args")
    if words is None and not container.get("command"):
        words = image.command if image is not None else ()
    argv += tuple(expand(word, env) for word in words or ())
    try:
        check_words(argv)
    except ConfigError as error:
        return fail(host, record, pod, name, CONFIG_ERROR, str(error), str(error))
    granted = (record.allocated or {}).get(name) or container.get("resources") or {}
    limits, requests = granted.get("limits") or {}, granted.get("requests") or {}
    user = _user(pod, container, present)
    subject = Container(
        namespace=record.namespace,
        pod=record.name,
        pod_uid=record.uid,
        name=name,
        image=container["image"],
        argv=argv,
        env=env,
        files=files,
        pod_ip=record.sandbox.address if record.sandbox is not None else "",
        node=record.node,
        cpu_limit_millis=quantity.to_milli(limits["cpu"]) if "cpu" in limits else None,
        cpu_request_millis=quantity.to_milli(requests["cpu"]) if "cpu" in requests else 0,
        memory_limit_bytes=quantity.to_bytes(limits["memory"]) if "memory" in limits else None,
        started_ms=host.now_ms,
        restarts=restarts,
        user=user,
        is_root_read_only=bool((container.get("securityContext") or {}).get("readOnlyRootFilesystem")),
        mounts=disks.mounts(host, record, pod, container, env),
    )
    program = host.images.program_for(reference, subject)
    launch = program.launch(subject) if program is not None else _nothing_runs(subject)
    if program is not None:
        launch = host.network.settled(pod, program, subject, launch)
    failure = host.images.create_error(subject)
    if failure:
        return fail(host, record, pod, name, "CreateContainerError", failure, failure)
    host.event(record, pod, "Normal", "Created", "Container created", name)
    container_id = ids.hex_id(host.component(record.node).stream("containers", record.node))
    instance = Instance(
        container_id=container_id,
        restarts=restarts,
        image=present.name,
        image_id=present.image_id,
        started_ms=host.now_ms,
        specified_image=container["image"],
        user=user,
        resources=granted,
    )
    previous = last if last is not None else state.previous
    if launch.create_error:
        text = (
            launch.create_error
            if launch.create_error.startswith("failed to ")
            else START_ERROR_PREFIX + launch.create_error
        )
        instance = instance._replace(
            started_ms=0, finished_ms=host.now_ms, exit_code=128, reason="StartError", message=text
        )
        record = record.with_container(name, state._replace(current=instance, previous=previous))
        return fail(host, record, pod, name, "RunContainerError", text, text)
    started = _put_run(host, subject, container_id, program, launch)
    eviction.expect(host, pod, started)
    record = record.with_container(
        name, state._replace(current=instance, previous=previous, waiting=None, is_purged=False)
    )
    host.event(record, pod, "Normal", "Started", "Container started", name)
    return _after_start(host, record, pod, container, started)


def _restarts_before(record: PodRecord, name: str) -> int:
    for key in ("containerStatuses", "initContainerStatuses"):
        for row in (record.status or {}).get(key) or ():
            if row["name"] == name and row.get("restartCount"):
                return int(row["restartCount"])
    return 0


def _user(pod: Object, container: Object, present: Present) -> int:
    own = (container.get("securityContext") or {}).get("runAsUser")
    if own is None:
        own = (pod["spec"].get("securityContext") or {}).get("runAsUser")
    if own is not None:
        return int(own)
    return present.user if isinstance(present.user, int) else 0


def _nothing_runs(subject: Container) -> Launch:
    first = subject.argv[0] if subject.argv else ""
    if first.startswith(("/", ".")):
        why = f'exec: "{first}": stat {first}: no such file or directory'
    else:
        why = f'exec: "{first}": executable file not found in $PATH'
    return Launch(create_error=f"error during container init: {why}")


LIVE_AFTER_MS = 20
"""From the start of a container to the first command of a live script."""


def _put_run(
    host: Host, subject: Container, container_id: str, program: Program | None, launch: Launch
) -> Run:
    ending = launch.exit
    started = Run(
        container=subject,
        container_id=container_id,
        program=program.name if program is not None else "",
        launch=launch,
        exit_at_ms=subject.started_ms + ending.after_ms if ending is not None else None,
        exit_code=ending.code if ending is not None else 0,
        exit_reason=ending.reason if ending is not None else "",
        exit_message=ending.message if ending is not None else "",
        ready_from_ms=subject.started_ms,
    )
    over_ms = started.out_of_memory_ms()
    if over_ms is not None and (started.exit_at_ms is None or over_ms < started.exit_at_ms):
        started = replace(started, exit_at_ms=over_ms, exit_code=137, exit_reason="OOMKilled")
    host.runtime.begin(started)
    disks.watch(host, started)
    if launch.live:
        host.loop.wake(subject.started_ms + LIVE_AFTER_MS, "script", (subject.pod_uid, subject.name))
    if launch.log:
        lines = tuple(Line(subject.started_ms + line.at_ms, line.text, line.stream) for line in launch.log)
        host.runtime.log(started, lines)
    return started


def _after_start(host: Host, record: PodRecord, pod: Object, container: Object, started: Run) -> Started:
    hook = lifecycle.post_start(host, record, started, pod, container)
    name = container["name"]
    if hook.error:
        host.event(record, pod, "Warning", "FailedPostStartHook", "PostStartHook failed", name)
        grace_s = lifecycle.grace_of(record, pod, container)
        end_ms = lifecycle.stop(host, record, pod, container, "FailedPostStartHook", grace_s, hook.took_ms)
        record = record.change_container(name, waiting=("PostStartHookError", hook.error))
        return Started(record, FAILED, end_ms)
    if hook.took_ms:
        return Started(record, STARTED, host.now_ms + hook.took_ms)
    return Started(record, STARTED)
