"""Replays recorded flows: what users wrote is read off the recorded states, the rest is left to our controllers.

A step's writes are derived from the difference between the recorded states before and after it, as far as users own the
objects; deletes and changes of pods come from the command line. Names that the server generates are given the recorded
ones, in order, so that objects can be compared by name. Times, uids and pods' inner status are not compared.
"""

import re
from collections import Counter
from contextlib import contextmanager
from unittest import mock

from env_core.apiserver.admission import service_addresses
from env_core.apiserver.client import ApiClient
from env_core.apiserver.errors import StatusError
from env_core.apiserver.recorder import EventRecorder
from env_core.apiserver.request import ADMIN
from env_core.controllers import (
    Requeue,
    _daemonset_nodes,
    _replicas,
    _victims,
    nodelifecycle,
    persistentvolumebinder,
)
from env_core.controllers._pods import in_batches
from env_core.sim.timefmt import parse_ms
from tests.controllers.comparing import (
    by_name,
    counts,
    difference,
    event_difference,
    event_row,
    flat,
    is_ours,
    once,
)
from tests.controllers.golden import flow, raw_flow, unstable
from tests.controllers.metrics_stub import MetricsStub, autoscaler_flags
from tests.controllers.recorded_moments import Moments
from tests.controllers.recorded_script import RecordedScheduler, RecordedScript
from tests.controllers.recorded_server import NamingServer
from tests.controllers.recorded_shift import Shift
from tests.controllers.recorded_writes import RESOURCES, RecordedWrites
from tests.controllers.script_kubelet import ScriptKubelet
from tests.controllers.script_nodes import LEASES
from tests.controllers.world import World, registry, registry_without_metrics

COMPARED = {
    "deployments",
    "replicasets",
    "pods",
    "services",
    "endpoints",
    "endpointslices",
    "poddisruptionbudgets",
    "configmaps",
    "namespaces",
    "statefulsets",
    "daemonsets",
    "controllerrevisions",
    "jobs",
    "cronjobs",
    "replicationcontrollers",
    "nodes",
    "resourcequotas",
    "horizontalpodautoscalers",
}
READING = ("get", "describe", "events", "logs", "top", "rollout", "auth", "explain", "api-resources", "wait")
WRITING_ROLLOUTS = ("restart", "undo", "pause", "resume")
LATENCY_MS = 70
"""From a command's start to its request, where no watch tells."""
PHASES_MS = (0, 500, 1_000, 1_500)
_WARNED = re.compile(r'^Warning: would violate PodSecurity "(\w+):latest"', re.MULTILINE)
RESYNC_MS = 2_000
SLOWER_MS = 400
"""By how much the recorded control plane may have been slower to look."""
RECORDER = "l2-recorder"
"""What the recorder calls itself in requests of its own."""


def only_reads(step):
    """Say whether a step is a command that changes nothing."""
    if step["type"] != "kubectl":
        return False
    argv = step["argv"]
    return (
        bool(argv)
        and argv[0] in READING
        and not (argv[0] == "rollout" and argv[1:2] and argv[1] in WRITING_ROLLOUTS)
    )


def phases_of(record):
    """Return the moments within 2 s to try for what happens every 2 s.

    README: "2 s PV resync", and the script kubelet renews leases every 2 s; when in these 2 s it fell is not recorded:
    the phase that agrees best is taken.
    """
    return PHASES_MS if any(map(_depends_on_phase, record["steps"])) else (0,)


def _depends_on_phase(step):
    if (step.get("action") or {}).get("action") == "node_down":
        return True
    return isinstance(step["state"], dict) and "persistentvolumeclaims" in step["state"]


def _labels_told(flow):
    """Return the labels that the flow's namespace had from its setup, which only warnings in the first step tell."""
    found = _WARNED.search(str(flow["steps"][0].get("stderr") or ""))
    return {} if found is None else {"labels": {"pod-security.kubernetes.io/warn": found[1]}}


class Replay(RecordedWrites):
    resync_phase_ms = 0
    """When volumes are looked at again, within each `RESYNC_MS`."""

    def __init__(self, record):
        self.flow = raw_flow(record)
        self.start_ms = parse_ms(self.flow["start"])
        self.namespace = self.flow["namespace"]
        # README: "`metrics.k8s.io` is a stub …: present for flows hpa-* (not hpa-no-api)".
        is_measured = self.flow["id"].startswith("hpa-") and self.flow["id"] != "hpa-no-api"
        served = registry() if is_measured else registry_without_metrics()
        self.world = World(now_ms=self.start_ms - 30_000, server_type=NamingServer, kinds=served)
        self.world.server.names = {}
        self.world.server.answered = (-1, 0)
        self.world.server.forbidden = []
        self.world.server.renamed = {}
        self._read_names()
        self.world.pace = self._pace
        self.shift = self.world.server.shift = Shift(self.flow)
        script = self.script = RecordedScript(self.flow, self.start_ms)
        self.world.server.moments = Moments(self.flow, self.start_ms, lambda resource: resource.split(".")[0])
        self.world.server.node_of = script.node
        self.kubelet = ScriptKubelet(self.world, script)
        self.world.server.views = {LEASES: self.kubelet.renewed}
        self.scheduler = RecordedScheduler(self.world, script)
        self.metrics = MetricsStub(self.world, is_served=is_measured)
        self.world.server.metrics = self.metrics
        nodes = self.flow["nodes"] or [{"node": f"node-{index}", "args": {}} for index in range(3)]
        if self.flow["exclusive"]:
            # Nodes of a flow's own were added just before it; the others had been there for long.
            self.world.loop.run_until(self.start_ms - 1_000)
        for row in nodes:
            self.kubelet.add_node(row["node"], **row.get("args", {}))
        self.recorder = ApiClient(self.world.server, ADMIN, RECORDER)
        metadata = {"name": self.namespace, **_labels_told(self.flow)}
        self.recorder.create(
            "namespaces", "", {"apiVersion": "v1", "kind": "Namespace", "metadata": metadata}
        )
        self.addresses = self._read_addresses()
        self.free_address = service_addresses._free_address
        self.before = {}
        self.events = Counter()
        self.results = []

    def set_phase(self, phase_ms):
        """Say when in 2 s volumes are looked at again and leases are renewed."""
        self.resync_phase_ms = self.kubelet.lease_phase_ms = phase_ms

    def _read_names(self):
        names = self.world.server.names
        for _, type_, plural, name, _row in self.flow["watch"]:
            if type_ == "ADDED":
                prefix = name[:-5] if len(name) > 5 else name
                names.setdefault((plural, prefix), []).append(name)

    def _read_addresses(self):
        return {
            service["metadata"]["name"]: service["spec"]["clusterIP"]
            for step in reversed(self.flow["steps"])
            if isinstance(step["state"], dict)
            for service in step["state"].get("services", ())
            if service["spec"].get("clusterIP", "None") != "None"
        }

    # Running

    def run(self):
        # The recordings were made with --node-monitor-grace-period=8s and --node-monitor-period=1s, and README:
        # "2 s PV resync"; when in these 2 s is not recorded.
        resync, persistentvolumebinder.next_round = persistentvolumebinder.next_round, self._next_round
        grace_ms, nodelifecycle.GRACE_MS = nodelifecycle.GRACE_MS, 8_000
        heartbeat_ms, nodelifecycle.HEARTBEAT_MS = nodelifecycle.HEARTBEAT_MS, 2_000
        monitor_ms, nodelifecycle.MONITOR_MS = nodelifecycle.MONITOR_MS, 1_000
        # The order of nodes is that of a Go map upstream: it is taken from the recording.
        turn, _daemonset_nodes.in_turn = _daemonset_nodes.in_turn, self._in_turn
        # So is the order of pods of about one age, which goes by uid.
        drawn, _victims.drawn = _victims.drawn, lambda pod: f"{self._deleting_ms(pod):09}"
        victims_first, _replicas.victims_first = _replicas.victims_first, self._victims_first
        try:
            with (
                autoscaler_flags(),
                self._events_follow(),
                self.shift.undone(),
                mock.patch.object(service_addresses, "_free_address", self._address),
            ):
                self._run_steps()
        finally:
            nodelifecycle.GRACE_MS, nodelifecycle.HEARTBEAT_MS = grace_ms, heartbeat_ms
            nodelifecycle.MONITOR_MS = monitor_ms
            persistentvolumebinder.next_round = resync
            _daemonset_nodes.in_turn = turn
            _victims.drawn, _replicas.victims_first = drawn, victims_first
        return self.results

    def _next_round(self, component):
        return Requeue(RESYNC_MS - (component.now_ms - self.start_ms - self.resync_phase_ms) % RESYNC_MS)

    def _pace(self, key):
        """Let some controllers look when they did: how many changes are seen at once depends on it."""
        moments, now_ms = self.world.server.moments, self.world.now_ms
        moment_ms = None
        if key[0] == "endpointslice":
            moment_ms = moments.next_slices_ms(key[2], now_ms, SLOWER_MS)
        elif key[0] == "horizontal-pod-autoscaler":
            moment_ms = moments.next_ms("horizontalpodautoscalers", key[2], now_ms, SLOWER_MS)
        return moment_ms - now_ms if moment_ms is not None else 0

    @contextmanager
    def _events_follow(self):
        """Let events be told when the writes that they tell of were answered."""
        server = self.world.server

        def following(method):
            def tell(recorder, *arguments, **options):
                with server.loop.as_of(server.told_ms()):
                    method(recorder, *arguments, **options)

            return tell

        with (
            mock.patch.object(EventRecorder, "event", following(EventRecorder.event)),
            mock.patch.object(EventRecorder, "event_v1", following(EventRecorder.event_v1)),
        ):
            yield

    def _address(self, attributes):
        """Give a service the address that it had: they are drawn."""
        name = attributes.object["metadata"]["name"]
        found = self.addresses.get(name)
        if found is None or found in service_addresses._taken_addresses(attributes.store):
            return self.free_address(attributes)
        return found

    def _deleting_ms(self, pod):
        number = self.kubelet.begun.get(pod["metadata"]["uid"], (0, 1))[1]
        return self.script.deleting_ms(pod["metadata"]["name"], number)

    def _victims_first(self, pods, neighbours, now_ms):
        pairs = sorted(zip(pods, neighbours, strict=True), key=lambda pair: self._deleting_ms(pair[0]))
        return _victims.victims_first(*zip(*pairs, strict=True), now_ms)

    def _in_turn(self, _daemon_set, names):
        now_ms = self.world.now_ms - self.start_ms
        recorded = sorted(names, key=lambda name: (self.script.next_change_ms(name, now_ms), name))
        if isinstance(names, dict):
            # All nodes, of which some will be chosen: only those that lack a pod get theirs in batches.
            return recorded
        turns = []
        in_batches(len(recorded), turns.append)
        return [recorded[turns.index(position)] for position in range(len(recorded))]

    def _run_steps(self):
        for step in self.flow["steps"]:
            at_ms = self.start_ms + (
                self._request_ms(step) if step["type"] in ("kubectl", "shell") else step["t_ms"]
            )
            if at_ms > self.world.now_ms:
                self.world.loop.run_until(at_ms)
            recorded = step["state"] if isinstance(step["state"], dict) else self.before
            problem = ""
            try:
                self._perform(step, recorded)
            except StatusError as error:
                problem = f"{error}"
            end_ms = self.start_ms + step["t_ms"] + step["waited_ms"]
            self.world.loop.run_until(max(end_ms, self.world.now_ms))
            self._compare(step, recorded, problem)
            self.before = recorded

    def _request_ms(self, step):
        """When a step's request was answered: just before the first change that a watch saw of it."""
        begin_ms, end_ms = step["t_ms"], step["t_ms"] + step["waited_ms"]
        seen = [row[0] for row in self.flow["watch"] if begin_ms <= row[0] < end_ms]
        if not seen or only_reads(step):
            return min(begin_ms + LATENCY_MS, end_ms)
        return max(min(seen[0] - 3, begin_ms + 2_000), begin_ms)

    def _perform(self, step, recorded):
        if step["type"] == "kubelet":
            self.kubelet.act(self.namespace, step["action"])
            self.metrics.act(self.namespace, step["action"])
            return
        if step["type"] == "wait" or step.get("rc"):
            if step.get("rc") and not self._changes(recorded):
                return
            if step["type"] == "wait":
                return
        if step["type"] == "api":
            if step["status"] < 300:
                self._call(step)
            return
        argv = step.get("argv") or []
        if argv[:1] == ["delete"] and self._delete(argv, recorded):
            return
        if argv[:1] in (["label"], ["annotate"], ["patch"], ["scale"]) and self._change(argv):
            return
        self._apply_difference(recorded)

    def _changes(self, recorded):
        return recorded is not self.before

    # Comparing

    def _compare(self, step, recorded, problem):
        differences = []
        for plural in sorted(COMPARED & {*recorded, *self._present()}):
            expected = by_name(plural, [obj for obj in recorded.get(plural, ()) if counts(plural, obj)])
            kind = RESOURCES[plural]
            if plural == "namespaces" and plural not in recorded:
                continue
            if plural == "nodes" and not self.flow["exclusive"]:
                continue
            listed = self.world.store.list(kind.resource, self.namespace if kind.is_namespaced else "")
            if plural == "namespaces":
                listed = [obj for obj in listed if obj["metadata"]["name"] == self.namespace]
            ours = by_name(plural, [obj for obj in listed if counts(plural, obj)])
            differences += [
                (plural, name, difference(expected.get(name), ours.get(name)))
                for name in sorted({*expected, *ours})
                if expected.get(name) != ours.get(name)
            ]
        events = []
        if "events" in step or step["state"] == "same":
            if "events" in step:
                self.events = Counter(map(event_row, filter(is_ours, step["events"])))
            self.events = once(self.events)
            mine = once(
                Counter(
                    event_row(flat(event))
                    for event in self.world.store.list("events")
                    if is_ours(flat(event))
                    and event["metadata"]["namespace"] in (self.namespace, "default")
                    and (event["involvedObject"]["kind"] != "Node" or self.flow["exclusive"])
                )
            )
            events = event_difference(self.events, mine)
        self.results.append((step["n"], differences, events, problem))

    def _present(self):
        return {resource.split(".")[0] for resource in self.world.store.resources()}


class Score:
    """How many of a flow's steps ended in the recorded state, and with the recorded events.

    Steps that differ and also differed between two recordings of Kubernetes itself do not count.
    """

    def __init__(self, name):
        self.name = name
        self.state = self.events = self.state_total = self.events_total = 0
        self.first = ""
        rows = unstable().get(name, {})
        replayed, self.forbidden = max(
            (self._replayed(name, phase_ms) for phase_ms in phases_of(flow(name))),
            key=lambda result: sum(not row[1] and not row[2] for row in result[0]),
        )
        for step, differences, events, problem in replayed:
            loose = rows.get(str(step), ())
            if not (differences and "state" in loose):
                self.state_total += 1
                self.state += not differences
            if not (events and "events" in loose):
                self.events_total += 1
                self.events += not events
            if not self.first and (differences or events) and not loose:
                self.first = f"{name} step {step}: {problem} {[*differences, *events][:3]}"

    @staticmethod
    def _replayed(name, phase_ms):
        replay = Replay(flow(name))
        replay.set_phase(phase_ms)
        return replay.run(), replay.world.server.forbidden
