"""What the replay of a flow takes from its recording: where pods were placed, when they ran, how they were called.

Inputs by the README of tests/golden/l2 ("Placement and names are derivable from `watch` + `aliases`"): a pod's name
may be used again, so pods are told apart by the n-th ADDED of a name.
"""

from env_core.apiserver.component import Component
from env_core.apiserver.request import Identity
from env_core.scheduler.cycle import Scheduler
from env_core.sim.timefmt import parse_ms

SLACK_MS = 60
"""By how much our controllers may be later than the recorded ones."""
NEVER_MS = 10**9
EVENTS_MS = 20
"""From a container's first event to the status that says that it runs."""


class Instance:
    """One pod of a recording."""

    def __init__(self, added_ms):
        self.added_ms = added_ms
        self.running_ms = None
        self.deleting_ms = None
        self.node = ""
        self.ip = ""
        self.start_time = None
        self.container_ids = {}


class Script:
    """What a recording tells beforehand of the n-th pod of a name; here: nothing."""

    def address(self, name, number):
        """Return the pod's address."""
        return f"10.244.{number % 250}.{sum(name.encode()) % 250 + 1}"

    def started(self, name, number):
        """Return how long after its creation the pod ran, and when; both in ms, None if it did not."""
        return

    def start_time(self, name, number):
        """Return the stamp of when the kubelet took the pod on; None if that is not known."""
        return

    def container_id(self, name, number, container, restarts):
        """Return the id of a container, "" if none is recorded."""
        return ""


class RecordedScript:
    """Answers of the recording about the n-th pod of a name, for the script kubelet and the scheduler."""

    def __init__(self, flow, start_ms):
        self.start_ms = start_ms
        self.instances = {}
        for at_ms, type_, plural, name, row in flow["watch"]:
            if plural == "pods":
                self._read_row(at_ms, type_, name, row)
        for step in flow["steps"]:
            if isinstance(step["state"], dict):
                for pod in step["state"].get("pods", ()):
                    self._read_state(pod)
        self.others = {}

    def _read_row(self, at_ms, type_, name, row):
        rows = self.instances.setdefault(name, [])
        if type_ == "ADDED" or not rows:
            rows.append(Instance(at_ms))
        pod = rows[-1]
        pod.node = pod.node or row.get("node") or ""
        if row.get("phase") == "Running" and pod.running_ms is None:
            pod.running_ms = at_ms
        if row.get("deleting") and pod.deleting_ms is None:
            pod.deleting_ms = at_ms

    def _read_state(self, pod):
        created_ms = parse_ms(pod["metadata"]["creationTimestamp"]) - self.start_ms
        rows = self.instances.get(pod["metadata"]["name"])
        if not rows:
            return
        found = min(rows, key=lambda each: abs(each.added_ms - 500 - created_ms))
        status = pod.get("status") or {}
        found.ip = status.get("podIP") or found.ip
        found.start_time = status.get("startTime")
        self._date_start(found, status)
        for row in (*(status.get("initContainerStatuses") or ()), *(status.get("containerStatuses") or ())):
            if row.get("containerID"):
                found.container_ids[(row["name"], row["restartCount"])] = row["containerID"]
            last = (row.get("lastState") or {}).get("terminated") or {}
            if last.get("containerID"):
                found.container_ids.setdefault((row["name"], row["restartCount"] - 1), last["containerID"])

    def _date_start(self, pod, status):
        """Let the pod's first containers have been started in the second that their status tells."""
        begun = [
            (row["state"].get("running") or {}).get("startedAt")
            for row in status.get("containerStatuses") or ()
            if not row["restartCount"]
        ]
        if pod.running_ms is not None and begun and begun[0]:
            second_ms = parse_ms(begun[0]) - self.start_ms
            earliest_ms, latest_ms = second_ms + EVENTS_MS, second_ms + 999 + EVENTS_MS
            pod.running_ms = min(max(pod.running_ms, earliest_ms), latest_ms)

    def deleting_ms(self, name, number):
        """Return when the pod began to go; late if it did not."""
        found = self.find(name, number)
        return found.deleting_ms if found is not None and found.deleting_ms is not None else NEVER_MS

    def next_change_ms(self, node, now_ms):
        """Return when the next pod is made for a node, or the next one on it begins to go; ms into the recording."""
        times = [
            at_ms
            for rows in self.instances.values()
            for pod in rows
            if pod.node == node
            for at_ms in (pod.added_ms, pod.deleting_ms)
            if at_ms is not None and at_ms > now_ms - SLACK_MS
        ]
        return min(times, default=NEVER_MS)

    def find(self, name, number):
        rows = self.instances.get(name, ())
        return rows[number - 1] if number <= len(rows) else None

    def node(self, name, number):
        """Return the node that the pod was bound to, "" if that is not recorded."""
        found = self.find(name, number)
        return found.node if found is not None else ""

    def address(self, name, number):
        """Return the pod's address; one that nobody else has if it is not recorded."""
        found = self.find(name, number)
        if found is not None and found.ip:
            return found.ip
        return self.others.setdefault((name, number), f"10.244.250.{len(self.others) % 250 + 1}")

    def started(self, name, number):
        """Return how long after its creation the pod ran, and when; both in ms, None if it did not."""
        found = self.find(name, number)
        if found is None or found.running_ms is None:
            return None
        return found.running_ms - found.added_ms, self.start_ms + found.running_ms

    def start_time(self, name, number):
        """Return the stamp of when the kubelet took the pod on; None if that is not recorded."""
        found = self.find(name, number)
        return found.start_time if found is not None else None

    def container_id(self, name, number, container, restarts):
        """Return the id of a container, "" if none is recorded."""
        found = self.find(name, number)
        return found.container_ids.get((container, restarts), "") if found is not None else ""


class RecordedScheduler(Scheduler):
    """The scheduler, but for the choice among nodes that fit: that is random upstream, so it is the recorded one."""

    __slots__ = ("_script", "numbers")

    def __init__(self, world, script):
        identity = Identity("system:kube-scheduler")
        super().__init__(Component(world.server, world.state, "default-scheduler", identity))
        self._script = script
        self.numbers = {}
        world.loop.bind("scheduler", self.handle)
        world.listeners.append(self.on_write)

    def on_write(self, event):
        if event.ref.resource == "pods" and event.type == "ADDED":
            self.numbers[event.ref.name] = self.numbers.get(event.ref.name, 0) + 1
        super().on_write(event)

    def _chosen(self, entry, cycle, fitting):
        name = cycle.pod.pod["metadata"]["name"]
        wanted = self._script.node(name, self.numbers.get(name, 1))
        for node in fitting:
            if node.name == wanted:
                return node
        return super()._chosen(entry, cycle, fitting)

    def _chooser(self, cycle):
        name = cycle.pod.pod["metadata"]["name"]
        wanted = self._script.node(name, self.numbers.get(name, 1))

        def choose(plans):
            return next((plan for plan in plans if plan.node == wanted), plans[0])

        return choose
