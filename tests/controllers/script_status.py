"""What the recordings' script kubelet writes: pod statuses, events, and the names of images.

These are input of the replays, not truth (tests/golden/l2 README: "what it writes … is **not** golden").
"""

import hashlib

from env_core.apiserver.errors import StatusError
from env_core.sim.timefmt import rfc3339

FINISHED = ("Succeeded", "Failed")


def digest(text):
    return hashlib.sha256(text.encode()).hexdigest()


def canonical(image):
    first = image.split("/")[0]
    if "/" not in image:
        image = "docker.io/library/" + image
    elif "." not in first and ":" not in first and first != "localhost":
        image = "docker.io/" + image
    return tagged(image)


def tagged(image):
    return image if "@" in image or ":" in image.rsplit("/", 1)[-1] else image + ":latest"


class Container:
    """What the script kubelet knows of one container."""

    def __init__(self, reason):
        self.state = {"waiting": {"reason": reason}}
        self.last = None
        self.restarts = 0
        self.ready = False
        self.id = ""
        self.crashes = 0
        self.back_off_s = 5
        self.is_out_of_memory = False
        self.pull_error = ""

    def is_in(self, state):
        return state in self.state

    def waiting_reason(self):
        return (self.state.get("waiting") or {}).get("reason")

    def end(self, code, now, reason=None):
        started = (self.state.get("running") or {}).get("startedAt", now)
        why = reason or ("Completed" if code == 0 else "OOMKilled" if self.is_out_of_memory else "Error")
        ended = {"exitCode": code, "reason": why, "startedAt": started, "finishedAt": now}
        self.state = {"terminated": {**ended, "containerID": self.id}}
        return self.state["terminated"]


class Events:
    """Events as the script kubelet records them: equal ones counted, without limits."""

    def __init__(self, api, now_ms):
        self.api = api
        self.now_ms = now_ms
        self.known = {}

    def tell(self, pod, kind, reason, message, field_path=""):
        metadata = pod["metadata"]
        about = {"kind": "Pod", "apiVersion": "v1"}
        about |= {key: metadata[key] for key in ("namespace", "name", "uid", "resourceVersion")}
        if field_path:
            about["fieldPath"] = field_path
        self._record(about, metadata["namespace"], pod["spec"]["nodeName"], kind, reason, message)

    def tell_of_node(self, name, reason, message):
        self._record({"kind": "Node", "name": name, "uid": name}, "default", name, "Normal", reason, message)

    def _record(self, about, namespace, node, kind, reason, message):
        key = (about["uid"], about.get("fieldPath"), kind, reason, message)
        now = rfc3339(self.now_ms())
        try:
            if key in self.known:
                name, count = self.known[key]
                self.known[key] = (name, count + 1)
                self.api.patch("events", namespace, name, {"count": count + 1, "lastTimestamp": now})
                return
            name = f"{about['name']}.{self.now_ms() * 1_000_000 + len(self.known):016x}"
            body = {
                "apiVersion": "v1",
                "kind": "Event",
                "metadata": {"name": name, "namespace": namespace},
                "involvedObject": about,
                "reason": reason,
                "message": message,
                "type": kind,
                "source": {"component": "kubelet", "host": node},
                "firstTimestamp": now,
                "lastTimestamp": now,
                "count": 1,
                "eventTime": None,
                "reportingComponent": "kubelet",
                "reportingInstance": node,
            }
            self.api.create("events", namespace, body)
            self.known[key] = (name, 1)
        except StatusError as error:
            if error.code not in (403, 404):
                raise


def status_of(pod, record, now_ms):
    spec, old = pod["spec"], pod.get("status") or {}
    status = {
        **{key: old[key] for key in ("reason", "message", "resourceClaimStatuses") if key in old},
        "phase": record.phase,
        "observedGeneration": pod["metadata"].get("generation", 1),
        "hostIP": "127.0.0.1",
        "hostIPs": [{"ip": "127.0.0.1"}],
        "startTime": record.started,
        "qosClass": old.get("qosClass", "BestEffort"),
    }
    if record.is_started:
        status |= {"podIP": record.ip, "podIPs": [{"ip": record.ip}]}
    for field, key in (("initContainers", "initContainerStatuses"), ("containers", "containerStatuses")):
        rows = [
            container_status(each, record.containers[each["name"]])
            for each in spec.get(field) or ()
            if each["name"] in record.containers
        ]
        if rows or field == "containers":
            status[key] = rows
    status["conditions"] = conditions_of(pod, record, rfc3339(now_ms))
    return status


def container_status(container, known):
    image, has_run = container["image"], bool(known.id)
    row = {
        "name": container["name"],
        "image": canonical(image) if has_run else image,
        "imageID": "",
        "lastState": {"terminated": known.last} if known.last else {},
        "ready": bool(known.ready),
        "restartCount": known.restarts,
        "state": known.state,
        "started": known.is_in("running"),
    }
    if has_run:
        resources = container.get("resources") or {}
        row["containerID"] = known.id
        row["imageID"] = f"{canonical(image).split('@')[0].rsplit(':', 1)[0]}@sha256:{digest(image)}"
        row["user"] = {"linux": {"uid": 0, "gid": 0, "supplementalGroups": [0]}}
        row["resources"] = {key: resources[key] for key in ("requests", "limits") if key in resources}
        if resources.get("requests"):
            row["allocatedResources"] = resources["requests"]
    mounts = [
        {"name": mount["name"], "mountPath": mount["mountPath"]}
        | ({"readOnly": True, "recursiveReadOnly": "Disabled"} if mount.get("readOnly") else {})
        for mount in container.get("volumeMounts") or ()
    ]
    if mounts:
        row["volumeMounts"] = mounts
    return row


def conditions_of(pod, record, now):
    spec, generation = pod["spec"], pod["metadata"].get("generation", 1)
    before = {entry["type"]: entry for entry in (pod.get("status") or {}).get("conditions") or ()}
    found = []

    def say(type_, value, reason=None, message=None):
        status = "True" if value else "False"
        entry = {"type": type_, "status": status, "observedGeneration": generation, "lastProbeTime": None}
        entry |= {key: text for key, text in (("reason", reason), ("message", message)) if text}
        last = before.pop(type_, None)
        entry["lastTransitionTime"] = last["lastTransitionTime"] if last and last["status"] == status else now
        found.append(entry)

    phase = record.phase
    say("PodReadyToStartContainers", record.has_sandbox and phase not in FINISHED)
    undone = [
        each["name"]
        for each in spec.get("initContainers") or ()
        if each.get("restartPolicy") != "Always"
        and not (
            each["name"] in record.containers
            and (record.containers[each["name"]].state.get("terminated") or {}).get("exitCode") == 0
        )
    ]
    if phase == "Succeeded":
        say("Initialized", True, "PodCompleted")
    elif undone:
        text = f"containers with incomplete status: [{' '.join(undone)}]"
        say("Initialized", False, "ContainersNotInitialized", text)
    else:
        say("Initialized", True)
    _say_ready(pod, record, before, say)
    say("PodScheduled", True)
    return [*found, *before.values()]


def _say_ready(pod, record, before, say):
    spec = pod["spec"]
    unready = [
        each["name"]
        for each in spec["containers"]
        if each["name"] not in record.containers or not record.containers[each["name"]].ready
    ]
    gates = [gate["conditionType"] for gate in spec.get("readinessGates") or ()]
    closed = [gate for gate in gates if before.get(gate, {}).get("status") != "True"]
    if record.phase in FINISHED or unready:
        words = {"Succeeded": ("PodCompleted", None), "Failed": ("PodFailed", None)}.get(
            record.phase, ("ContainersNotReady", f"containers with unready status: [{' '.join(unready)}]")
        )
        say("Ready", False, *words)
        say("ContainersReady", False, *words)
        return
    if closed:
        texts = [
            f'the status of pod readiness gate "{gate}" is not "True", but {before[gate]["status"]}'
            if gate in before
            else f'corresponding condition of pod readiness gate "{gate}" does not exist.'
            for gate in closed
        ]
        say("Ready", False, "ReadinessGatesNotReady", ", ".join(texts))
    else:
        say("Ready", True)
    say("ContainersReady", True)
