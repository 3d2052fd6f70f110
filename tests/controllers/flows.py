"""Replays recorded flows: what users wrote is read off the recorded states, the rest is left to our controllers.

A step's writes are derived from the difference between the recorded states before and after it, as far as users own the
objects; deletes and changes of pods come from the command line. Names that the server generates are given the recorded
ones, in order, so that objects can be compared by name. Times, uids and pods' inner status are not compared.
"""

import re
from collections import Counter
from contextlib import contextmanager
from unittest import mock
from urllib.parse import parse_qsl

import yaml

from env_core.apiserver.admission import service_addresses
from env_core.apiserver.client import ApiClient
from env_core.apiserver.errors import StatusError
from env_core.apiserver.recorder import COMBINED, SIMILAR_MAX, EventRecorder
from env_core.apiserver.request import ADMIN, JSON_PATCH, MERGE_PATCH, STRATEGIC_PATCH, ApiRequest, Options
from env_core.apiserver.server import ApiServer
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
from tests.controllers.recorded_shift import Shift
from tests.controllers.script_kubelet import ScriptKubelet
from tests.controllers.script_nodes import LEASES
from tests.controllers.world import World, registry, registry_without_metrics
from tests.controllers.writing import (
    OWN_ANNOTATIONS,
    creation_order,
    is_made_by_controllers,
    is_owned,
    written,
)

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
WRITES = {"create", "update", "patch", "delete"}
RECORDER = "l2-recorder"
"""What the recorder calls itself in requests of its own."""
RESOURCES = {kind.plural: kind for kind in reversed(registry().kinds)}


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


class NamingServer(ApiServer):
    """Gives objects with generated names those of the recording, in order of creation.

    Pods that are made for a node (those of DaemonSets) get the name of a pod that was on it.
    """

    __slots__ = ("answered", "forbidden", "moments", "names", "node_of", "renamed", "shift")

    def handle(self, request: ApiRequest):
        if request.verb in WRITES:
            request = request._replace(body=self.shift.with_recorded_stamp(request.body))
        response = self._named(request)
        if response.code == 403 and " cannot " in response.object.get("message", ""):
            self.forbidden.append(response.object["message"])
        return response

    def _named(self, request):
        if request.verb == "create" and not request.subresource and isinstance(request.body, dict):
            metadata = request.body.get("metadata") or {}
            prefix = metadata.get("generateName")
            queue = self.names.get((request.resource.split(".")[0], prefix)) if prefix else None
            if prefix is None and metadata.get("name"):
                request = self._with_alias(request)
            if queue and not metadata.get("name"):
                name = self._next_name(queue, request.body)
                body = {**request.body, "metadata": {**metadata, "name": name}}
                response = self._timed(request._replace(body=body))
                if response.is_ok:
                    queue.remove(name)
                return response
        return self._timed(request)

    def _timed(self, request):
        """Answer at the moment at which the recorded server did."""
        now_ms = self.loop.now_ms
        if request.resource == "endpointslices.discovery.k8s.io" and request.verb in ("create", "update"):
            request = self._in_order(request)
        moment_ms = self.moments.of(request, now_ms) if request.verb in WRITES else None
        if moment_ms is None:
            return super().handle(request)
        # The clock itself stays: what else is due meanwhile has its own moments.
        self.answered = (self.loop.handled, moment_ms)
        if moment_ms > self.loop.now_ms:
            self.loop.now_ms = moment_ms
            return super().handle(request)
        with self.loop.as_of(moment_ms):
            return super().handle(request)

    def told_ms(self):
        """Return when an event that follows on a write is told: not before that write's answer."""
        handled, moment_ms = self.answered
        return moment_ms if handled == self.loop.handled else self.loop.now_ms

    def _with_alias(self, request):
        """Give an object whose name a client drew the name that recordings write for those that nobody else knows."""
        name = request.body["metadata"]["name"]
        drawn = f"{name[:-5]}uxxxx"
        if drawn not in self.names.get((request.resource.split(".")[0], name[:-5]), ()):
            return request
        self.renamed[name] = drawn
        return request._replace(
            body={**request.body, "metadata": {**request.body["metadata"], "name": drawn}}
        )

    def _in_order(self, request):
        body = request.body
        name = body["metadata"].get("name", "") if isinstance(body, dict) else ""
        if not name or not body.get("endpoints"):
            return request
        rows = self.moments.endpoints_in_order(name, body["endpoints"], self.loop.now_ms)
        return request._replace(body={**body, "endpoints": rows})

    def _next_name(self, queue, body):
        target = _daemonset_nodes.target_node(body) if body.get("kind") == "Pod" else ""
        if not target:
            return queue[0]
        return next((name for name in queue if self.node_of(name, 1) == target), queue[0])


class Replay:
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
        self.forgetful = set()
        self.events_now = []
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

    def _aggregated(self, method):
        """Let a full aggregator have forgotten those messages that the recorded one had: it forgets one that is drawn."""

        def aggregated(recorder, group, message, now_ms):
            similar = recorder._similar.get(group)
            if similar is None or len(similar.messages) < SIMILAR_MAX - 1 or group not in self.forgetful:
                text, local = method(recorder, group, message, now_ms)
                if local == COMBINED:
                    self.forgetful.add(group)
                return text, local
            told = next(
                (
                    seen.times
                    for key, seen in recorder._seen.items()
                    if key[: len(group) - 2] == group[:-2] and key[-1] == message
                ),
                0,
            )
            if told and told < self._recorded_count(group, message):
                return message, message
            return COMBINED + message, COMBINED

        return aggregated

    def _recorded_count(self, group, message):
        return max(
            (
                event.get("count") or 0
                for event in self.events_now
                if event["reason"] == group[-1] and event["message"] == message
            ),
            default=0,
        )

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
            mock.patch.object(EventRecorder, "_aggregated", self._aggregated(EventRecorder._aggregated)),
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
            self.events_now = step.get("events", self.events_now)
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

    def _call(self, step):
        parts = step["path"].split("?")[0].strip("/").split("/")
        parts = parts[2:] if parts[0] == "api" else parts[3:]
        namespace = ""
        if parts[0] == "namespaces" and len(parts) > 2:
            namespace, parts = parts[1], parts[2:]
        resource = RESOURCES[parts[0]].resource
        name = parts[1] if len(parts) > 1 else ""
        subresource = parts[2] if len(parts) > 2 else ""
        verb = {"POST": "create", "PUT": "update", "PATCH": "patch", "DELETE": "delete", "GET": "get"}[
            step["method"]
        ]
        body = step.get("body")
        query = dict(parse_qsl(step["path"].partition("?")[2]))
        options = Options(field_manager=query.get("fieldManager", ""), force=query.get("force") == "true")
        if verb == "delete" and isinstance(body, dict):
            options = Options(
                grace_period_seconds=body.get("gracePeriodSeconds"),
                propagation_policy=body.get("propagationPolicy") or "",
            )
            body = None
        self.recorder.call(
            verb,
            resource,
            namespace,
            name,
            subresource=subresource,
            body=body,
            content_type=step.get("ctype") or "",
            options=options,
        )

    def _delete(self, argv, recorded):
        words = [word for word in argv[1:] if not word.startswith("-")]
        flags = dict(word.lstrip("-").partition("=")[::2] for word in argv[1:] if word.startswith("--"))
        for index, word in enumerate(argv):
            if word in ("-l", "-f", "-n", "--field-selector"):
                flags[word] = argv[index + 1]
                words = [each for each in words if each != argv[index + 1]]
        if "-f" in flags or not words:
            return False
        policy = {"orphan": "Orphan", "foreground": "Foreground"}.get(flags.get("cascade", ""), "Background")
        grace = flags.get("grace-period")
        grace = int(grace) if grace else (0 if "force" in flags else (1 if "now" in flags else None))
        options = Options(propagation_policy=policy, grace_period_seconds=grace)
        targets = []
        if "/" in words[0]:
            targets = [word.split("/", 1) for word in words]
        elif len(words) > 1:
            targets = [(words[0], name) for name in words[1:]]
        elif "-l" in flags or "--field-selector" in flags or "field-selector" in flags or "all" in flags:
            for plural in words[0].split(","):
                kind = registry().find(plural)
                found = self.world.api.list(
                    kind.resource,
                    self.namespace,
                    label_selector=flags.get("-l", ""),
                    field_selector=flags.get("--field-selector", flags.get("field-selector", "")),
                )
                targets += [(plural, obj["metadata"]["name"]) for obj in found]
        for word, name in targets:
            kind = registry().find(word)
            namespace = self.namespace if kind.is_namespaced else ""
            try:
                self.world.api.delete(kind.resource, namespace, name, options)
            except StatusError as error:
                if error.code != 404:
                    raise
        return True

    def _change(self, argv):
        if any(word in ("-l", "--all", "-f") or "dry-run" in word or "server-side" in word for word in argv):
            return False
        words, skip = [], False
        for word in argv[1:]:
            if skip:
                skip = False
            elif word in ("-p", "-n", "--type", "--subresource", "--patch", "-o"):
                skip = True
            elif not word.startswith("-"):
                words.append(word)
        if words and "/" in words[0]:
            words = [*words[0].split("/", 1), *words[1:]]
        kind = registry().find(words[0]) if words else None
        if kind is None or len(words) < 2:
            return False
        namespace, name = self.namespace if kind.is_namespaced else "", words[1]
        if argv[0] == "scale":
            replicas = next(int(word.split("=")[1]) for word in argv if word.startswith("--replicas="))
            self.world.api.patch(
                kind.resource, namespace, name, {"spec": {"replicas": replicas}}, subresource="scale"
            )
            return True
        if argv[0] == "patch":
            text = next((argv[i + 1] for i, word in enumerate(argv) if word in ("-p", "--patch")), None)
            if text is None:
                return False
            type_ = next((word.split("=")[1] for word in argv if word.startswith("--type=")), "strategic")
            subresource = next((word.split("=")[1] for word in argv if word.startswith("--subresource=")), "")
            content = {"strategic": STRATEGIC_PATCH, "merge": MERGE_PATCH, "json": JSON_PATCH}[type_]
            self.world.api.patch(
                kind.resource, namespace, name, yaml.safe_load(text), content, subresource=subresource
            )
            return True
        field = "labels" if argv[0] == "label" else "annotations"
        changes = {}
        for word in words[2:]:
            if word.endswith("-") and "=" not in word:
                changes[word[:-1]] = None
            elif "=" not in word:
                return False
            else:
                key, _, value = word.partition("=")
                changes[key] = value
        self.world.api.patch(kind.resource, namespace, name, {"metadata": {field: changes}})
        return True

    # Deriving writes from recorded states

    def _apply_difference(self, recorded):
        rows = [
            *recorded.get("horizontalpodautoscalers", ()),
            *self.before.get("horizontalpodautoscalers", ()),
        ]
        autoscaled = {row["spec"]["scaleTargetRef"]["name"] for row in rows}
        for plural in sorted({*recorded, *self.before}, key=creation_order):
            if plural in ("controllerrevisions", "events"):
                continue
            kind = RESOURCES.get(plural)
            if kind is None:
                continue
            old = {obj["metadata"]["name"]: obj for obj in self.before.get(plural, ())}
            new = {obj["metadata"]["name"]: obj for obj in recorded.get(plural, ())}
            for name in sorted({*old, *new}):
                after = new.get(name)
                if is_made_by_controllers(after or old[name], recorded):
                    continue
                if name in autoscaled and after and "replicas" in after.get("spec", {}) and old.get(name):
                    # Not the user's: what the autoscaler has asked for.
                    spec = {**after["spec"], "replicas": old[name]["spec"]["replicas"]}
                    after = {**after, "spec": spec}
                self._apply_object(kind, old.get(name), after)

    def _apply_object(self, kind, old, new):
        namespace = self.namespace if kind.is_namespaced else ""
        either = new or old
        name = either["metadata"]["name"]
        if kind.plural == "pods" and old is not None and new is not None and not is_owned(old):
            # A shared field may also have been changed by controllers; only labels are the user's.
            if old["metadata"].get("labels") != new["metadata"].get("labels"):
                patch = {"metadata": {"labels": new["metadata"].get("labels")}}
                self.world.api.patch(kind.resource, namespace, name, patch)
            return
        if is_owned(either) or "endpoints.kubernetes.io/managed-by" in (
            either["metadata"].get("labels") or {}
        ):
            return
        if kind.plural in ("nodes", "namespaces"):
            if kind.plural == "nodes" and new:
                self._apply_node(old or self.world.store.get("nodes", "", name) or new, new)
            return
        if new is None:
            try:
                self.world.api.delete(
                    kind.resource, namespace, name, Options(propagation_policy="Background")
                )
            except StatusError as error:
                if error.code != 404:
                    raise
            return
        if old is None or old["metadata"]["uid"] != new["metadata"]["uid"]:
            if old is not None:
                self.world.api.delete(
                    kind.resource, namespace, name, Options(propagation_policy="Background")
                )
            if self.world.store.get(kind.resource, namespace, name) is None:
                self.world.api.create(kind.resource, namespace, written(new, self.world.store))
            return
        before, after = written(old, self.world.store), written(new, self.world.store)
        if "deletionTimestamp" in new["metadata"] and "deletionTimestamp" not in old["metadata"]:
            self.world.api.delete(kind.resource, namespace, name, Options(propagation_policy="Background"))
            return
        if before == after:
            return
        current = self.world.store.get(kind.resource, namespace, name)
        if current is None:
            return
        kept = {
            key: value
            for key, value in (current["metadata"].get("annotations") or {}).items()
            if key in OWN_ANNOTATIONS
        }
        metadata = {
            **{
                key: value
                for key, value in current["metadata"].items()
                if key not in ("labels", "annotations", "finalizers")
            },
            **{
                key: value
                for key, value in after["metadata"].items()
                if key in ("labels", "finalizers", "ownerReferences")
            },
            "annotations": {**(after["metadata"].get("annotations") or {}), **kept},
        }
        self.world.api.update(kind.resource, namespace, {**current, **after, "metadata": metadata})

    def _apply_node(self, old, new):
        def users(node):
            return [
                taint
                for taint in node["spec"].get("taints") or ()
                if not taint["key"].startswith("node.kubernetes.io/")
            ]

        name = new["metadata"]["name"]
        current = self.world.store.get("nodes", "", name)
        if current is None:
            return
        spec = dict(current["spec"])
        if users(old) != users(new):
            own = [
                taint for taint in spec.get("taints") or () if taint["key"].startswith("node.kubernetes.io/")
            ]
            spec["taints"] = [*own, *users(new)]
        if old["spec"].get("unschedulable") != new["spec"].get("unschedulable"):
            spec["unschedulable"] = bool(new["spec"].get("unschedulable"))
        if spec != current["spec"]:
            self.world.api.update("nodes", "", {**current, "spec": spec})

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
