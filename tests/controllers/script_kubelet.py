"""A kubelet by script: the parts of the recordings' one that controllers can see (phase, readiness, addresses).

Behaviour follows tests/golden/l2 (README: script kubelet): images that cannot be pulled, `sim/` annotations, manual
start, held termination, crashes.
"""

from env_core.apiserver.client import ApiClient
from env_core.apiserver.request import ADMIN, Options
from env_core.sim.timefmt import rfc3339


class Record:
    def __init__(self, pod, ip):
        metadata = pod["metadata"]
        self.namespace, self.name, self.uid = metadata["namespace"], metadata["name"], metadata["uid"]
        self.node = pod["spec"]["nodeName"]
        self.ip = ip
        self.phase = "Pending"
        self.states = {}
        self.ready = {}
        self.restarts = {}
        self.backed_off = {}
        self.is_started = self.is_killing = self.is_held = False
        self.started = ""


class ScriptKubelet:
    def __init__(self, world, address_of, started):
        self.world = world
        self.api = ApiClient(world.server, ADMIN, "kubelet")
        self.address_of = address_of
        self.started = started
        self.records = {}
        self.begun = {}
        self.modes = {}
        self.down = set()
        self.nodes = set()
        world.listeners.append(self._on_write)

    # Watching

    def _on_write(self, event):
        if event.ref.resource != "pods":
            return
        pod = event.object
        uid = pod["metadata"]["uid"]
        node = pod["spec"].get("nodeName")
        if event.type == "ADDED":
            self.begun[uid] = self.world.now_ms
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
        if record is None:
            if (pod.get("status") or {}).get("phase") in (
                "Succeeded",
                "Failed",
            ) and "deletionTimestamp" not in metadata:
                return
            ip = "127.0.0.1" if pod["spec"].get("hostNetwork") else self.address_of(metadata["name"])
            record = self.records[uid] = Record(pod, ip)
            record.started = rfc3339(self.world.now_ms)
            if "deletionTimestamp" not in metadata:
                self.world.later(20, lambda: self._begin(uid))
        if "deletionTimestamp" in metadata and not record.is_killing:
            record.is_killing = True
            self.world.later(20, lambda: self._kill(uid))

    def _live(self, uid):
        record = self.records.get(uid)
        if record is None:
            return None, None
        pod = self.world.store.get("pods", record.namespace, record.name)
        if pod is None or pod["metadata"]["uid"] != uid:
            return None, None
        return record, pod

    @staticmethod
    def _annotation(pod, key, default=None):
        return (pod["metadata"].get("annotations") or {}).get(key, default)

    # Life of a pod

    def _begin(self, uid):
        record, pod = self._live(uid)
        if record is None:
            return
        for container in (*(pod["spec"].get("initContainers") or ()), *pod["spec"]["containers"]):
            record.states[container["name"]] = {"waiting": {"reason": "ContainerCreating"}}
        self._push(uid)
        if self.modes.get(record.namespace, {}).get("start") != "manual":
            delay_ms = int(float(self._annotation(pod, "sim/delay", "0.06")) * 1000)
            # The recorded pods did not all start in the same millisecond.
            after_ms = self.started.get(record.name, (9999, 0))[0]
            if after_ms < 2000 and not pod["spec"].get("initContainers"):
                delay_ms = max(self.begun.get(uid, self.world.now_ms) + after_ms - self.world.now_ms, 1)
            self.world.later(delay_ms, lambda: self._start(uid))

    def _start(self, uid):
        record, pod = self._live(uid)
        if record is None or record.is_killing:
            return
        for volume in pod["spec"].get("volumes") or ():
            for source, resource, key in (
                ("configMap", "configmaps", "name"),
                ("secret", "secrets", "secretName"),
            ):
                if source in volume and not volume[source].get("optional"):
                    if self.world.store.get(resource, record.namespace, volume[source][key]) is None:
                        return
        record.is_started = True
        self._initialise(uid, 0)

    def _initialise(self, uid, index):
        record, pod = self._live(uid)
        if record is None or record.is_killing:
            return
        rows = pod["spec"].get("initContainers") or ()
        while index < len(rows):
            container = rows[index]
            if not self._run(record, pod, container):
                self._push(uid)
                return
            if container.get("restartPolicy") == "Always":
                record.ready[container["name"]] = True
                index += 1
                continue
            code = self._annotation(pod, f"sim/exit.{container['name']}", "0")
            self._push(uid)
            if code != "hold":
                self.world.later(100, lambda index=index, code=code: self._leave_init(uid, index, int(code)))
            return
        has_probe = False
        for container in pod["spec"]["containers"]:
            if self._run(record, pod, container):
                if container.get("readinessProbe"):
                    has_probe = True
                else:
                    record.ready[container["name"]] = self._annotation(pod, "sim/ready", "true") == "true"
        if any("running" in state for state in record.states.values()):
            record.phase = "Running"
        self._push(uid)
        if has_probe:
            self.world.later(100, lambda: self._probe(uid))
        for container in pod["spec"]["containers"]:
            self._plan_exit(uid, pod, container["name"])

    def _plan_exit(self, uid, pod, name):
        record = self.records[uid]
        if "running" not in record.states[name]:
            return
        code = self._exit_code(pod, name)
        if code is not None:
            self.world.later(300, lambda: self._exit(uid, name, code))

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
        if record is None or record.is_killing:
            return
        name = pod["spec"]["initContainers"][index]["name"]
        record.states[name] = {"terminated": {"exitCode": code}}
        if code == 0:
            record.ready[name] = True
            self._initialise(uid, index + 1)
            return
        if pod["spec"].get("restartPolicy") == "Never":
            record.phase = "Failed"
        elif not record.restarts.get(name):
            record.restarts[name] = 1
            self._initialise(uid, index)
            return
        else:
            record.states[name] = {"waiting": {"reason": "CrashLoopBackOff"}}
        self._push(uid)

    def _probe(self, uid):
        record, pod = self._live(uid)
        if record is None or record.is_killing:
            return
        for container in pod["spec"]["containers"]:
            if container.get("readinessProbe") and "running" in record.states[container["name"]]:
                record.ready[container["name"]] = self._annotation(pod, "sim/ready", "true") == "true"
        self._push(uid)

    def _exit(self, uid, name, code):
        record, pod = self._live(uid)
        if record is None or record.is_killing:
            return
        record.states[name] = {"terminated": {"exitCode": code}}
        record.ready[name] = False
        policy = pod["spec"].get("restartPolicy")
        if policy == "Always" or (policy == "OnFailure" and code):
            self._push(uid)
            if not record.backed_off.get(name):
                record.backed_off[name] = True
                self.world.later(150, lambda: self._restart(uid, name))
            else:
                self.world.later(150, lambda: self._back_off(uid, name))
            return
        codes = [record.states[each["name"]].get("terminated") for each in pod["spec"]["containers"]]
        if all(codes):
            record.phase = "Failed" if any(each["exitCode"] for each in codes) else "Succeeded"
        self._push(uid)

    def _back_off(self, uid, name):
        record, _ = self._live(uid)
        if record is not None and not record.is_killing:
            record.states[name] = {"waiting": {"reason": "CrashLoopBackOff"}}
            self._push(uid)

    def _restart(self, uid, name):
        record, pod = self._live(uid)
        if record is None or record.is_killing:
            return
        container = next(each for each in pod["spec"]["containers"] if each["name"] == name)
        record.restarts[name] = record.restarts.get(name, 0) + 1
        if self._run(record, pod, container):
            if container.get("readinessProbe"):
                self.world.later(100, lambda: self._probe(uid))
            else:
                record.ready[name] = self._annotation(pod, "sim/ready", "true") == "true"
            record.phase = "Running"
        self._push(uid)
        self._plan_exit(uid, pod, name)

    def _run(self, record, pod, container):
        name, image = container["name"], container["image"]
        low = image.lower()
        is_bad = "nope" in low or "does-not-exist" in low or low.endswith(":bad") or "private" in low
        never = container.get("imagePullPolicy") == "Never" and (is_bad or "never" in low)
        if image.split(":")[0] != image.split(":")[0].lower() or is_bad or never:
            record.states[name] = {"waiting": {"reason": "ErrImagePull"}}
            if is_bad and not never:
                self.world.later(150, lambda: self._push(record.uid))
            return False
        for entry in container.get("env") or ():
            for source, resource in (("configMapKeyRef", "configmaps"), ("secretKeyRef", "secrets")):
                reference = (entry.get("valueFrom") or {}).get(source)
                if reference and not reference.get("optional"):
                    found = self.world.store.get(resource, record.namespace, reference["name"])
                    if found is None or reference["key"] not in {
                        **(found.get("data") or {}),
                        **(found.get("binaryData") or {}),
                    }:
                        record.states[name] = {"waiting": {"reason": "CreateContainerConfigError"}}
                        return False
        for entry in container.get("envFrom") or ():
            for source, resource in (("configMapRef", "configmaps"), ("secretRef", "secrets")):
                if source in entry and not entry[source].get("optional"):
                    if self.world.store.get(resource, record.namespace, entry[source]["name"]) is None:
                        record.states[name] = {"waiting": {"reason": "CreateContainerConfigError"}}
                        return False
        record.states[name] = {"running": {}}
        return True

    def _kill(self, uid):
        record, pod = self._live(uid)
        if record is None:
            return
        is_running = any("running" in state for state in record.states.values())
        mode = self.modes.get(record.namespace, {}).get("term")
        if is_running and (mode == "hold" or self._annotation(pod, "sim/term") == "hold"):
            record.is_held = True
            return
        self.world.later(150 if is_running else 20, lambda: self._finish(uid))

    def _finish(self, uid):
        record, pod = self._live(uid)
        if record is None or record.node in self.down:
            return
        code = 0 if pod["spec"].get("restartPolicy") == "Always" else 143
        for name, state in record.states.items():
            if "running" in state:
                record.states[name] = {"terminated": {"exitCode": code}}
                record.ready[name] = False
            elif "waiting" in state and record.is_started:
                record.states[name] = {"terminated": {"exitCode": 137}}
        if record.states and record.phase not in ("Failed", "Succeeded"):
            codes = [
                (state.get("terminated") or {"exitCode": 1})["exitCode"] for state in record.states.values()
            ]
            record.phase = "Failed" if any(codes) else "Succeeded"
        if record.states:
            self._push(uid)
        options = Options(grace_period_seconds=0, precondition_uid=uid)
        self.api.delete("pods", record.namespace, record.name, options)

    # Status

    def _push(self, uid):
        record, pod = self._live(uid)
        if record is None or record.node in self.down:
            return
        self.api.update_status("pods", record.namespace, {**pod, "status": self._status(record, pod)})

    def _status(self, record, pod):
        old = pod.get("status") or {}
        now = rfc3339(self.world.now_ms)
        known = {entry["type"]: entry for entry in old.get("conditions") or ()}
        unready = [each["name"] for each in pod["spec"]["containers"] if not record.ready.get(each["name"])]
        gates = [gate["conditionType"] for gate in pod["spec"].get("readinessGates") or ()]
        is_over = record.phase in ("Succeeded", "Failed")
        is_ready = not unready and not is_over
        fresh = []

        def say(type_, value):
            status = "True" if value else "False"
            before = known.pop(type_, None)
            since = before["lastTransitionTime"] if before and before["status"] == status else now
            fresh.append(
                {"type": type_, "status": status, "lastProbeTime": None, "lastTransitionTime": since}
            )

        gated = all(known.get(gate, {}).get("status") == "True" for gate in gates)
        say("Initialized", True)
        say("Ready", is_ready and gated)
        say("ContainersReady", is_ready)
        say("PodScheduled", True)
        statuses = [
            {
                "name": each["name"],
                "image": each["image"],
                "imageID": "",
                "ready": bool(record.ready.get(each["name"])),
                "restartCount": record.restarts.get(each["name"], 0),
                "state": record.states.get(each["name"], {}),
                "lastState": {},
            }
            for each in pod["spec"]["containers"]
        ]
        status = {
            **{key: old[key] for key in ("reason", "message", "qosClass") if key in old},
            "phase": record.phase,
            "startTime": record.started,
            "hostIP": "127.0.0.1",
            "conditions": [*fresh, *known.values()],
            "containerStatuses": statuses,
        }
        if record.is_started:
            status["podIP"] = record.ip
            status["podIPs"] = [{"ip": record.ip}]
        return status

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
            wanted = dict(pair.split("=") for pair in selector.split(","))
            pods = [
                pod
                for pod in pods
                if all(
                    (pod["metadata"].get("labels") or {}).get(key) == value for key, value in wanted.items()
                )
            ]
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
                at_ms = self.started.get(record.name, (0, 0))[1]
                delay_ms = at_ms - self.world.now_ms
                self.world.later(delay_ms if 0 < delay_ms < 1000 else 10, lambda: self._start(uid))
        elif kind == "crash":
            self.world.later(10, lambda: self._exit(uid, name, action.get("exit", 1)))
        elif kind == "complete":
            self.world.later(10, lambda: self._exit(uid, name, action.get("exit", 0)))
        elif kind == "liveness":
            self.world.later(10, lambda: self._exit(uid, name, 137))
        elif kind == "tick":
            for each, state in record.states.items():
                if "waiting" in state:
                    self.world.later(10, lambda each=each: self._restart(uid, each))
        elif kind == "ready":
            for each in pod["spec"]["containers"]:
                if action.get("container") in (None, each["name"]):
                    record.ready[each["name"]] = action["ready"]
            self.world.later(10, lambda: self._push(uid))
        elif kind == "evict":
            record.phase = "Failed"
            for each in pod["spec"]["containers"]:
                record.states[each["name"]] = {"terminated": {"exitCode": 137}}
                record.ready[each["name"]] = False
            status = {"phase": "Failed", "reason": "Evicted", "message": action.get("message", "")}
            metadata = pod["metadata"]
            self.api.patch(
                "pods", metadata["namespace"], metadata["name"], {"status": status}, subresource="status"
            )
            self._push(uid)

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
                "annotations": {"volumes.kubernetes.io/controller-managed-attach-detach": "true"},
            },
            "spec": {"taints": taints} if taints else {},
        }
        created = self.api.create("nodes", "", body)
        self.nodes.add(name)
        status = {
            "capacity": capacity,
            "allocatable": capacity,
            "conditions": self._conditions(unready=unready),
        }
        self.api.update_status("nodes", "", {**created, "status": status})

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
        now = rfc3339(self.world.now_ms)
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
                "lastHeartbeatTime": now,
                "lastTransitionTime": now,
            }
            for type_, status, reason, message in rows
        ]
