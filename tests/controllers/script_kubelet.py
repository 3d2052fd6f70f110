"""The recordings' script kubelet (tests/golden/l2 README): input of the replays, not truth.

Images that cannot be pulled, `sim/` annotations, manual start, held termination, crashes, nodes that go down.
"""

from env_core.apiserver.client import ApiClient
from env_core.apiserver.request import ADMIN, Options
from env_core.sim.timefmt import rfc3339
from tests.controllers.recorded_script import EVENTS_MS, Script
from tests.controllers.script_actions import ScriptActions
from tests.controllers.script_images import ScriptImages
from tests.controllers.script_nodes import ScriptNodes
from tests.controllers.script_status import FINISHED, Container, Events, status_of

UNKNOWN = {
    "exitCode": 137,
    "reason": "ContainerStatusUnknown",
    "message": "The container could not be located when the pod was terminated",
    "startedAt": None,
    "finishedAt": None,
}
PROBES = {"Readiness": "readinessProbe", "Liveness": "livenessProbe", "Startup": "startupProbe"}


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


class ScriptKubelet(ScriptNodes, ScriptImages, ScriptActions):
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
            begun = self.script.start_time(metadata["name"], number) or self.now
            record = self.records[uid] = Record(pod, ip, number, begun)
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
