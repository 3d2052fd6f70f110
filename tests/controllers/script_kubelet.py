"""The recordings' script kubelet (tests/golden/l2 README): input of the replays, not truth.

Images that cannot be pulled, `sim/` annotations, manual start, held termination, crashes, nodes that go down.
"""

import re

from env_core.apiserver.client import ApiClient
from env_core.apiserver.request import ADMIN, Options
from env_core.sim.timefmt import rfc3339
from tests.controllers.script_status import FINISHED, Container, Events, canonical, digest, status_of, tagged

PULLED = 'Successfully pulled image "%s" in 512ms (512ms including waiting). Image size: 72950530 bytes.'  # recorded
PRESENT = 'Container image "%s" already present on machine and can be accessed by the pod'
LOW = "The node was low on resource: memory. Threshold quantity: 100Mi, available: 51200Ki. "
ANNOTATED_MS = 20
"""From a node's registration to its annotation."""
EVENTS_MS = 20
"""From a container's first event to the status that says that it runs."""
UNKNOWN = {
    "exitCode": 137,
    "reason": "ContainerStatusUnknown",
    "message": "The container could not be located when the pod was terminated",
    "startedAt": None,
    "finishedAt": None,
}
PROBES = {"Readiness": "readinessProbe", "Liveness": "livenessProbe", "Startup": "startupProbe"}
REFERENCES = (("configmaps", "configmap", "ConfigMap"), ("secrets", "secret", "Secret"))


class Script:
    """What a recording tells beforehand of the n-th pod of a name; here: nothing."""

    def address(self, name, number):
        """Return the pod's address."""
        return f"10.244.{number % 250}.{sum(name.encode()) % 250 + 1}"

    def started(self, name, number):
        """Return how long after its creation the pod ran, and when; both in ms, None if it did not."""
        return

    def container_id(self, name, number, container, restarts):
        """Return the id of a container, "" if none is recorded."""
        return ""


class Record:
    def __init__(self, pod, ip, number, now):
        metadata = pod["metadata"]
        self.namespace, self.name, self.uid = metadata["namespace"], metadata["name"], metadata["uid"]
        self.number = number
        self.node = pod["spec"]["nodeName"]
        self.ip = ip
        self.phase = "Pending"
        self.started = now
        self.containers = {}
        self.images = {}
        self.is_started = self.has_sandbox = self.is_killing = self.is_held = False


class ScriptKubelet:
    def __init__(self, world, script=None):
        self.world = world
        self.api = ApiClient(world.server, ADMIN, "kubelet")
        self.script = script or Script()
        self.events = Events(self.api, lambda: world.now_ms)
        self.records = {}
        self.begun = {}
        self.numbers = {}
        self.modes = {}
        self.down = set()
        self.nodes = set()
        world.listeners.append(self._on_write)

    @property
    def now(self):
        return rfc3339(self.world.now_ms)

    # Watching

    def _on_write(self, event):
        if event.ref.resource != "pods":
            return
        pod = event.object
        uid = pod["metadata"]["uid"]
        node = pod["spec"].get("nodeName")
        if event.type == "ADDED":
            name = event.ref.name
            self.numbers[name] = self.numbers.get(name, 0) + 1
            self.begun[uid] = (self.world.now_ms, self.numbers[name])
        if event.type == "DELETED":
            self.records.pop(uid, None)
            return
        if not node or node in self.down or node not in self.nodes:
            return
        self._look(pod)

    def _look(self, pod):
        metadata = pod["metadata"]
        uid = metadata["uid"]
        record = self.records.get(uid)
        is_going = "deletionTimestamp" in metadata
        if record is None:
            if (pod.get("status") or {}).get("phase") in FINISHED and not is_going:
                return
            number = self.begun.get(uid, (0, 1))[1]
            address = self.script.address(metadata["name"], number)
            ip = "127.0.0.1" if pod["spec"].get("hostNetwork") else address
            record = self.records[uid] = Record(pod, ip, number, self.now)
            if not is_going:
                self.world.later(20, lambda: self._begin(uid))
        if is_going and not record.is_killing:
            record.is_killing = True
            self.world.later(20, lambda: self._kill(uid))
        elif record.is_started and not record.is_killing:
            for container in pod["spec"]["containers"]:
                name, image = container["name"], container["image"]
                if record.images.get(name, image) != image:
                    record.images[name] = image
                    self.world.later(20, lambda name=name: self._change_image(uid, name))

    def _live(self, uid, *, may_be_killing=False):
        record = self.records.get(uid)
        if record is None or (record.is_killing and not may_be_killing):
            return None, None
        pod = self.world.store.get("pods", record.namespace, record.name)
        if pod is None or pod["metadata"]["uid"] != uid:
            return None, None
        return record, pod

    @staticmethod
    def _annotation(pod, key, default=None):
        return (pod["metadata"].get("annotations") or {}).get(key, default)

    def _is_ready(self, pod):
        return self._annotation(pod, "sim/ready", "true") == "true"

    def _tell(self, pod, kind, reason, message, field=""):
        self.events.tell(pod, kind, reason, message, field)

    # Life of a pod

    def _begin(self, uid):
        record, pod = self._live(uid, may_be_killing=True)
        if record is None:
            return
        inits = pod["spec"].get("initContainers") or ()
        for container in inits:
            record.containers[container["name"]] = Container("PodInitializing")
        for container in pod["spec"]["containers"]:
            record.containers[container["name"]] = Container(
                "PodInitializing" if inits else "ContainerCreating"
            )
        self._push(uid)
        if self.modes.get(record.namespace, {}).get("start") != "manual":
            delay_ms = int(float(self._annotation(pod, "sim/delay", "0.06")) * 1000)
            # The recorded pods did not all start in the same millisecond.
            known = self.script.started(record.name, record.number)
            if known is not None and known[0] < 2000 and not inits:
                begun_ms = self.begun.get(uid, (self.world.now_ms, 1))[0]
                delay_ms = max(begun_ms + known[0] - EVENTS_MS - self.world.now_ms, 1)
            self.world.later(delay_ms, lambda: self._start(uid))

    def _start(self, uid):
        record, pod = self._live(uid)
        if record is None:
            return
        for volume in pod["spec"].get("volumes") or ():
            for source, resource, key, kind in (
                ("configMap", "configmaps", "name", "configmap"),
                ("secret", "secrets", "secretName", "secret"),
            ):
                if source not in volume or volume[source].get("optional"):
                    continue
                wanted = volume[source][key]
                if self.world.store.get(resource, record.namespace, wanted) is None:
                    text = f'MountVolume.SetUp failed for volume "{volume["name"]}" : {kind} "{wanted}" not found'
                    self._tell(pod, "Warning", "FailedMount", text)
                    return
        record.is_started = record.has_sandbox = True
        self._initialise(uid, 0)

    def _initialise(self, uid, index):
        record, pod = self._live(uid)
        if record is None:
            return
        rows = pod["spec"].get("initContainers") or ()
        while index < len(rows):
            container = rows[index]
            if not self._run(record, pod, container, "initContainers"):
                self._push(uid)
                return
            if container.get("restartPolicy") == "Always":
                record.containers[container["name"]].ready = True
                index += 1
                continue
            code = self._annotation(pod, f"sim/exit.{container['name']}", "0")
            self._push(uid)
            if code != "hold":
                self.world.later(100, lambda index=index, code=code: self._leave_init(uid, index, int(code)))
            return
        has_probe = False
        for container in pod["spec"]["containers"]:
            if self._run(record, pod, container, "containers"):
                if container.get("readinessProbe"):
                    has_probe = True
                else:
                    record.containers[container["name"]].ready = self._is_ready(pod)
        if any(each.is_in("running") for each in record.containers.values()):
            record.phase = "Running"
        self.world.later(EVENTS_MS, lambda: self._push(uid))
        if has_probe:
            self.world.later(EVENTS_MS + 100, lambda: self._probe(uid))
        for container in pod["spec"]["containers"]:
            if record.containers[container["name"]].is_in("running"):
                self._plan_exit(uid, pod, container["name"])

    def _plan_exit(self, uid, pod, name):
        code = self._exit_code(pod, name)
        if code is not None:
            self.world.later(EVENTS_MS + 300, lambda: self._exit(uid, name, code))

    def _exit_code(self, pod, name):
        index = self._annotation(pod, "batch.kubernetes.io/job-completion-index")
        if index is not None and self._annotation(pod, f"sim/exit-index-{index}") is not None:
            return int(self._annotation(pod, f"sim/exit-index-{index}"))
        code = self._annotation(pod, f"sim/exit.{name}", self._annotation(pod, "sim/exit"))
        if code is not None:
            return int(code)
        if self._annotation(pod, "sim/oom") == "true":
            return 137
        if pod["spec"].get("restartPolicy") == "Always" or self._annotation(pod, "sim/run") == "forever":
            return None
        return 0

    def _leave_init(self, uid, index, code):
        record, pod = self._live(uid)
        if record is None:
            return
        container = pod["spec"]["initContainers"][index]
        known = record.containers[container["name"]]
        ended = known.end(code, self.now)
        if code == 0:
            known.ready = True
            self._initialise(uid, index + 1)
            return
        if pod["spec"].get("restartPolicy") == "Never":
            record.phase = "Failed"
            self._push(uid)
            return
        known.ready = False
        known.last = ended
        if known.restarts == 0:
            known.restarts = 1
            self._initialise(uid, index)
            return
        self._back_off(record, pod, container, "initContainers")
        self._push(uid)

    def _probe(self, uid):
        record, pod = self._live(uid)
        if record is None:
            return
        is_ready = self._is_ready(pod)
        for container in pod["spec"]["containers"]:
            known = record.containers[container["name"]]
            if container.get("readinessProbe") and known.is_in("running"):
                known.ready = is_ready
                if not is_ready:
                    self._tell_unhealthy(record, pod, container, "Readiness")
        self._push(uid)

    def _tell_unhealthy(self, record, pod, container, kind):
        probe = container.get(PROBES[kind]) or {}
        text = f"{kind} probe failed: "
        if "httpGet" in probe:
            text += "HTTP probe failed with statuscode: 503"
        elif "tcpSocket" in probe:
            text += f"dial tcp {record.ip}:{probe['tcpSocket']['port']}: connect: connection refused"
        elif "grpc" in probe:
            text += 'service unhealthy (responded with "NOT_SERVING")'
        self._tell(pod, "Warning", "Unhealthy", text, f"spec.containers{{{container['name']}}}")

    def _exit(self, uid, name, code, reason=None):
        record, pod = self._live(uid)
        if record is None:
            return
        known = record.containers[name]
        if self._annotation(pod, "sim/oom") == "true" or reason == "OOMKilled":
            known.is_out_of_memory = True
        ended = known.end(code, self.now, reason)
        known.ready = False
        policy = pod["spec"].get("restartPolicy")
        if policy == "Always" or (policy == "OnFailure" and code):
            self._push(uid)
            known.last = ended
            known.crashes += 1
            act = self._restart if known.crashes == 1 else self._enter_back_off
            self.world.later(150, lambda: act(uid, name))
            return
        rows = [record.containers[each["name"]] for each in pod["spec"]["containers"]]
        if all(each.is_in("terminated") for each in rows):
            has_failed = any(each.state["terminated"]["exitCode"] for each in rows)
            record.phase = "Failed" if has_failed else "Succeeded"
        self._push(uid)

    def _enter_back_off(self, uid, name):
        record, pod = self._live(uid)
        if record is not None:
            container = next(each for each in pod["spec"]["containers"] if each["name"] == name)
            self._back_off(record, pod, container, "containers")
            self._push(uid)

    def _back_off(self, record, pod, container, field):
        name = container["name"]
        known = record.containers[name]
        seconds = known.back_off_s = min(known.back_off_s * 2, 300)
        wait = f"{seconds}s" if seconds < 60 else f"{seconds // 60}m{seconds % 60}s"
        full = f"{record.name}_{record.namespace}({record.uid})"
        message = f"back-off {wait} restarting failed container={name} pod={full}"
        known.state = {"waiting": {"reason": "CrashLoopBackOff", "message": message}}
        text = f"Back-off restarting failed container {name} in pod {full}"
        self._tell(pod, "Warning", "BackOff", text, f"spec.{field}{{{name}}}")

    def _restart(self, uid, name):
        record, pod = self._live(uid)
        if record is None:
            return
        inits = [each["name"] for each in pod["spec"].get("initContainers") or ()]
        known = record.containers[name]
        known.restarts += 1
        if name in inits:
            index = inits.index(name)
            self._run(record, pod, pod["spec"]["initContainers"][index], "initContainers")
            self._push(uid)
            code = int(self._annotation(pod, f"sim/exit.{name}", "0"))
            self.world.later(100, lambda: self._leave_init(uid, index, code))
            return
        container = next(each for each in pod["spec"]["containers"] if each["name"] == name)
        self._run(record, pod, container, "containers")
        if container.get("readinessProbe"):
            self.world.later(100, lambda: self._probe(uid))
        else:
            known.ready = self._is_ready(pod)
        self._push(uid)
        self._plan_exit(uid, pod, name)

    def _change_image(self, uid, name):
        record, pod = self._live(uid)
        if record is None:
            return
        container = next(each for each in pod["spec"]["containers"] if each["name"] == name)
        text = f"Container {name} definition changed, will be restarted"
        self._tell(pod, "Normal", "Killing", text, f"spec.containers{{{name}}}")
        known = record.containers[name]
        known.last = known.end(0, self.now, "Completed")
        known.restarts += 1
        self._run(record, pod, container, "containers")
        self._push(uid)

    # Starting a container

    def _run(self, record, pod, container, field):
        name, image = container["name"], container["image"]
        known = record.containers[name]
        record.images[name] = image
        where = f"spec.{field}{{{name}}}"
        if not self._has_image(record, pod, container, known, where):
            return False
        problem = self._missing_reference(record, container)
        if problem:
            self._tell(pod, "Warning", "Failed", f"Error: {problem}", where)
            known.state = {"waiting": {"reason": "CreateContainerConfigError", "message": problem}}
            return False
        recorded = self.script.container_id(record.name, record.number, name, known.restarts)
        known.id = recorded or "containerd://" + digest(f"{record.uid}/{name}/{known.restarts}")
        self._tell(pod, "Normal", "Created", "Container created", where)
        self._tell(pod, "Normal", "Started", "Container started", where)
        known.state = {"running": {"startedAt": self.now}}
        return True

    def _has_image(self, record, pod, container, known, where):
        image, policy = container["image"], container.get("imagePullPolicy", "IfNotPresent")
        low, repository = image.lower(), image.split(":")[0]
        is_private = "private" in low
        is_bad = "nope" in low or "does-not-exist" in low or low.endswith(":bad") or is_private

        def refuse(reason, message, first=None):
            self._tell(pod, "Warning", first or reason, message, where)
            self._tell(pod, "Warning", "Failed", f"Error: {reason}", where)
            known.state = {"waiting": {"reason": reason, "message": message}}
            return False

        if re.search("[A-Z ]", repository):
            text = (
                f'Failed to apply default image tag "{image}": couldn\'t parse image name "{image}": '
                f"invalid reference format: repository name ({repository}) must be lowercase"
            )
            return refuse("InvalidImageName", text, "InspectFailed")
        if policy == "Never" and (is_bad or "never" in low):
            text = f'Container image "{image}" is not present with pull policy of Never'
            return refuse("ErrImageNeverPull", text)
        if is_bad:
            self._refuse_pull(record, pod, container["name"], image, where, is_private=is_private)
            return False
        if policy == "Always":
            self._tell(pod, "Normal", "Pulling", f'Pulling image "{tagged(image)}"', where)
            self._tell(pod, "Normal", "Pulled", PULLED % tagged(image), where)
        else:
            self._tell(pod, "Normal", "Pulled", PRESENT % image, where)
        return True

    def _refuse_pull(self, record, pod, name, image, where, *, is_private):
        full = canonical(image)
        code, why = "NotFound", f"{full}: not found"
        if is_private:
            code = "Unknown"
            why = (
                "pull access denied, repository does not exist or may require authorization: "
                "server message: insufficient_scope: authorization failed"
            )
        error = (
            f'rpc error: code = {code} desc = failed to pull and unpack image "{full}": '
            f'failed to resolve reference "{full}": {why}'
        )
        shown = tagged(image)
        self._tell(pod, "Normal", "Pulling", f'Pulling image "{shown}"', where)
        self._tell(pod, "Warning", "Failed", f'Failed to pull image "{shown}": {error}', where)
        self._tell(pod, "Warning", "Failed", "Error: ErrImagePull", where)
        known = record.containers[name]
        known.state = {"waiting": {"reason": "ErrImagePull", "message": error}}
        known.pull_error = error
        self.world.later(150, lambda: self._back_off_pull(record.uid, name, shown, where))

    def _back_off_pull(self, uid, name, shown, where):
        record, pod = self._live(uid)
        if record is None or not record.containers[name].is_in("waiting"):
            return
        known = record.containers[name]
        self._tell(pod, "Normal", "BackOff", f'Back-off pulling image "{shown}"', where)
        self._tell(pod, "Warning", "Failed", "Error: ImagePullBackOff", where)
        message = f'Back-off pulling image "{shown}": ErrImagePull: {known.pull_error}'
        known.state = {"waiting": {"reason": "ImagePullBackOff", "message": message}}
        self._push(uid)

    def _missing_reference(self, record, container):
        namespace, store = record.namespace, self.world.store
        for entry in container.get("env") or ():
            for resource, kind, title in REFERENCES:
                reference = (entry.get("valueFrom") or {}).get(f"{title[0].lower()}{title[1:]}KeyRef")
                if not reference or reference.get("optional"):
                    continue
                found = store.get(resource, namespace, reference["name"])
                if found is None:
                    return f'{kind} "{reference["name"]}" not found'
                if reference["key"] not in {**(found.get("data") or {}), **(found.get("binaryData") or {})}:
                    where = f"{title} {namespace}/{reference['name']}"
                    return f"couldn't find key {reference['key']} in {where}"
        for entry in container.get("envFrom") or ():
            for resource, kind, title in REFERENCES:
                reference = entry.get(f"{title[0].lower()}{title[1:]}Ref")
                if reference and not reference.get("optional"):
                    if store.get(resource, namespace, reference["name"]) is None:
                        return f'{kind} "{reference["name"]}" not found'
        return ""

    def _repull(self, uid, name):
        record, pod = self._live(uid)
        if record is None:
            return
        for field in ("initContainers", "containers"):
            for container in pod["spec"].get(field) or ():
                if container["name"] == name:
                    if self._run(record, pod, container, field) and field == "containers":
                        record.containers[name].ready = self._is_ready(pod)
                        record.phase = "Running"
                    self._push(uid)

    # Stopping

    def _kill(self, uid):
        record, pod = self._live(uid, may_be_killing=True)
        if record is None:
            return
        running = [name for name, each in record.containers.items() if each.is_in("running")]
        for field in ("containers", "initContainers"):
            for container in pod["spec"].get(field) or ():
                name = container["name"]
                if name in running:
                    self._tell(
                        pod, "Normal", "Killing", f"Stopping container {name}", f"spec.{field}{{{name}}}"
                    )
        mode = self.modes.get(record.namespace, {}).get("term")
        if running and (mode == "hold" or self._annotation(pod, "sim/term") == "hold"):
            record.is_held = True
            return
        self.world.later(150 if running else 20, lambda: self._finish(uid))

    def _finish(self, uid):
        record, pod = self._live(uid, may_be_killing=True)
        if record is None or record.node in self.down:
            return
        code = 0 if pod["spec"].get("restartPolicy") == "Always" else 143
        for known in record.containers.values():
            if known.is_in("running"):
                known.end(code, self.now)
                known.ready = False
            elif known.is_in("waiting") and record.is_started:
                known.state = {"terminated": UNKNOWN}
        if record.containers and record.phase not in FINISHED:
            codes = [
                (each.state.get("terminated") or {"exitCode": 1})["exitCode"]
                for each in record.containers.values()
            ]
            record.phase = "Failed" if any(codes) else "Succeeded"
        record.has_sandbox = False
        if record.containers:
            self._push(uid)
        options = Options(grace_period_seconds=0, precondition_uid=uid)
        self.api.delete("pods", record.namespace, record.name, options)

    def _push(self, uid):
        record, pod = self._live(uid, may_be_killing=True)
        if record is None or record.node in self.down:
            return
        status = status_of(pod, record, self.world.now_ms)
        self.api.update_status("pods", record.namespace, {**pod, "status": status})

    # Script

    def act(self, namespace, action):
        kind = action["action"]
        if kind == "mode":
            self.modes.setdefault(namespace, {}).update(
                {key: action[key] for key in ("start", "term") if key in action}
            )
        elif kind == "release":
            for record in list(self.records.values()):
                if record.namespace == namespace and record.is_held:
                    record.is_held = False
                    self.world.later(20, lambda uid=record.uid: self._finish(uid))
        elif kind in ("usage", "metrics_up", "sleep"):
            return
        elif kind in ("node_down", "node_up", "add_node", "del_node", "node_status"):
            self._node(kind, action)
        else:
            for pod in self._selected(namespace, action):
                self._act_on(kind, action, pod)

    def _node(self, kind, action):
        name = action["node"]
        if kind == "node_down":
            node = self.world.store.get("nodes", "", name)
            self.api.update_status("nodes", "", self.heartbeat(node, self.world.now_ms))
            self.down.add(name)
        elif kind == "node_up":
            self.down.discard(name)
            self.node_status(name)
            for pod in self.world.store.indexed("node", name):
                self._look(pod)
        elif kind == "add_node":
            self.add_node(name, **action.get("args", {}))
        elif kind == "del_node":
            self.nodes.discard(name)
            self.api.delete("nodes", "", name)
        else:
            self.node_status(name, **action.get("args", {}))

    def _selected(self, namespace, action):
        selector = action.get("selector")
        pods = self.world.store.list("pods", namespace)
        if selector != "*term":
            pods = [pod for pod in pods if "deletionTimestamp" not in pod["metadata"]]
        if action.get("pod"):
            pods = [pod for pod in pods if pod["metadata"]["name"] == action["pod"]]
        if selector and not selector.startswith("*"):
            wanted = dict(pair.split("=") for pair in selector.split(",")).items()
            pods = [pod for pod in pods if wanted <= (pod["metadata"].get("labels") or {}).items()]
        pods.sort(key=lambda pod: (pod["metadata"]["creationTimestamp"], pod["metadata"]["name"]))
        index = action.get("index")
        if index is not None:
            pods = pods[index : index + 1] if index >= 0 else pods[index:][:1]
        return pods

    def _act_on(self, kind, action, pod):
        uid = pod["metadata"]["uid"]
        record = self.records.get(uid)
        if record is None:
            return
        name = action.get("container") or pod["spec"]["containers"][0]["name"]
        if kind == "start":
            if not record.is_started:
                known = self.script.started(record.name, record.number)
                delay_ms = known[1] - EVENTS_MS - self.world.now_ms if known is not None else 0
                self.world.later(delay_ms if 0 < delay_ms < 1000 else 10, lambda: self._start(uid))
        elif kind == "crash":
            code, reason = action.get("exit", 1), action.get("reason")
            self.world.later(10, lambda: self._exit(uid, name, code, reason))
        elif kind == "complete":
            self.world.later(10, lambda: self._exit(uid, name, action.get("exit", 0)))
        elif kind == "liveness":
            container = next(each for each in pod["spec"]["containers"] if each["name"] == name)
            self._tell_unhealthy(record, pod, container, "Liveness")
            text = f"Container {name} failed liveness probe, will be restarted"
            self._tell(pod, "Normal", "Killing", text, f"spec.containers{{{name}}}")
            self.world.later(10, lambda: self._exit(uid, name, 137, "Error"))
        elif kind == "tick":
            self._tick(record)
        elif kind == "ready":
            for each in pod["spec"]["containers"]:
                if action.get("container") in (None, each["name"]):
                    record.containers[each["name"]].ready = action["ready"]
                    if not action["ready"] and each.get("readinessProbe"):
                        self._tell_unhealthy(record, pod, each, "Readiness")
            self.world.later(10, lambda: self._push(uid))
        elif kind == "evict":
            self._evict(record, pod, action.get("message", LOW))

    def _tick(self, record):
        for name, known in record.containers.items():
            reason = known.waiting_reason()
            if reason == "CrashLoopBackOff":
                self.world.later(10, lambda name=name: self._restart(record.uid, name))
            elif reason in ("ImagePullBackOff", "ErrImagePull", "CreateContainerConfigError"):
                self.world.later(10, lambda name=name: self._repull(record.uid, name))

    def _evict(self, record, pod, message):
        record.phase = "Failed"
        self._tell(pod, "Warning", "Evicted", message)
        for each in pod["spec"]["containers"]:
            where = f"spec.containers{{{each['name']}}}"
            self._tell(pod, "Normal", "Killing", f"Stopping container {each['name']}", where)
            known = record.containers[each["name"]]
            known.end(137, self.now, "Error")
            known.ready = False
        status = {"phase": "Failed", "reason": "Evicted", "message": message}
        self.api.patch("pods", record.namespace, record.name, {"status": status}, subresource="status")
        self._push(record.uid)

    # Nodes

    def add_node(
        self,
        name,
        *,
        cpu="4",
        mem="8145396Ki",
        pods="110",
        labels=None,
        taints=None,
        eph="61202244Ki",
        unready=False,
        extra=None,
    ):
        capacity = {
            "cpu": cpu,
            "memory": mem,
            "pods": pods,
            "ephemeral-storage": eph,
            "hugepages-2Mi": "0",
            **(extra or {}),
        }
        body = {
            "apiVersion": "v1",
            "kind": "Node",
            "metadata": {
                "name": name,
                "labels": {
                    "kubernetes.io/hostname": name,
                    "kubernetes.io/os": "linux",
                    "kubernetes.io/arch": "amd64",
                    "beta.kubernetes.io/os": "linux",
                    "beta.kubernetes.io/arch": "amd64",
                    **(labels or {}),
                },
            },
            "spec": {"taints": taints} if taints else {},
        }
        created = self.api.create("nodes", "", body)
        self.nodes.add(name)
        # The recorder's kubelet annotates the node afterwards, when controllers have seen it.
        self.world.later(ANNOTATED_MS, lambda: self._annotate_node(name))
        machine = digest(name)
        status = {
            "capacity": capacity,
            "allocatable": capacity,
            "conditions": self._conditions(unready=unready),
            "addresses": [
                {"type": "InternalIP", "address": "127.0.0.1"},
                {"type": "Hostname", "address": name},
            ],
            "declaredFeatures": ["ExtendWebSocketsToKubelet"],
            "nodeInfo": {
                "machineID": machine[:32],
                "systemUUID": f"{machine[:8]}-0000-4000-8000-000000000000",
                "bootID": f"{machine[:8]}-0000-4000-9000-000000000000",
                "kernelVersion": "6.8.0-60-generic",
                "osImage": "Ubuntu 24.04.2 LTS",
                "containerRuntimeVersion": "containerd://2.1.4",
                "kubeletVersion": "v1.37.2",
                "kubeProxyVersion": "",
                "operatingSystem": "linux",
                "architecture": "amd64",
            },
        }
        self.api.update_status("nodes", "", {**created, "status": status})
        self.events.tell_of_node(name, "Starting", "Starting kubelet.")
        for reason in (
            "NodeHasSufficientMemory",
            "NodeHasNoDiskPressure",
            "NodeHasSufficientPID",
            "NodeReady",
        ):
            self.events.tell_of_node(name, reason, f"Node {name} status is now: {reason}")

    def _annotate_node(self, name):
        annotations = {"volumes.kubernetes.io/controller-managed-attach-detach": "true"}
        if self.world.store.get("nodes", "", name) is not None:
            self.api.patch("nodes", "", name, {"metadata": {"annotations": annotations}})

    def node_status(self, name, **arguments):
        node = self.world.store.get("nodes", "", name)
        if node is None:
            return
        status = {**node["status"], "conditions": self._conditions(**arguments)}
        self.api.update_status("nodes", "", {**node, "status": status})

    def heartbeat(self, node, now_ms):
        """Show a live node's heartbeat as now, as the API does for real kubelets."""
        if node["metadata"]["name"] in self.down:
            return node
        stamp = rfc3339(now_ms)
        status = node.get("status") or {}
        fresh = [{**entry, "lastHeartbeatTime": stamp} for entry in status.get("conditions") or ()]
        return {**node, "status": {**status, "conditions": fresh}}

    def _conditions(self, *, unready=False, pressure=None):
        rows = [
            (
                "MemoryPressure",
                "False",
                "KubeletHasSufficientMemory",
                "kubelet has sufficient memory available",
            ),
            ("DiskPressure", "False", "KubeletHasNoDiskPressure", "kubelet has no disk pressure"),
            ("PIDPressure", "False", "KubeletHasSufficientPID", "kubelet has sufficient PID available"),
            ("Ready", "True", "KubeletReady", "kubelet is posting ready status"),
        ]
        if pressure == "memory":
            rows[0] = (
                "MemoryPressure",
                "True",
                "KubeletHasInsufficientMemory",
                "kubelet has insufficient memory available",
            )
        if pressure == "disk":
            rows[1] = ("DiskPressure", "True", "KubeletHasDiskPressure", "kubelet has disk pressure")
        if unready:
            text = (
                "container runtime network not ready: NetworkReady=false reason:NetworkPluginNotReady "
                "message:Network plugin returns error: cni plugin not initialized"
            )
            rows[3] = ("Ready", "False", "KubeletNotReady", text)
        return [
            {
                "type": type_,
                "status": status,
                "reason": reason,
                "message": message,
                "lastHeartbeatTime": self.now,
                "lastTransitionTime": self.now,
            }
            for type_, status, reason, message in rows
        ]
