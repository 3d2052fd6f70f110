"""What the steps of a recorded flow ask of the script kubelet."""

from tests.controllers.recorded_script import EVENTS_MS

LOW = "The node was low on resource: memory. Threshold quantity: 100Mi, available: 51200Ki. "


class ScriptActions:
    """The part of the script kubelet that follows a script."""

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
