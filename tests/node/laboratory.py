"""A recorded node with everything that was done to it, and the recorded pods that it had."""

from __future__ import annotations

from collections.abc import Mapping

from tests.node.lab import CREATED_MS, Lab
from tests.node.playing import DEFAULT_CONFIG, SETTLE_MS, Play, Record

BEGINS_MS: Mapping[str, int] = {
    "rawA": 0, "rawB": 144_175, "rawA2": 772_733, "rawD": 1_064_052, "rawE": 1_687_535,
}  # fmt: skip
"""README: "they start at 0 / 144.175 / 772.733 / 1064.052 / 1687.535 s in the order above"."""
_OF_NODES = ("set", "killnode", "startnode")
FRESH_MS = 3_000
STARTING_MS = 1_000


class NodePlay(Play):
    """A node's time line. Offsets count from the start of its recording.

    `origin_ms` is the offset that is the recordings' first moment on the world's clock; with one, nothing is watched.
    """

    def __init__(
        self, record: Record, cases: Mapping[str, Record], seed: int = 7, origin_ms: int | None = None
    ) -> None:
        self.node: str = record["node"]
        self.record = {**record, "posted_ms": 0, "cri": []}
        self.name = ""
        self.pod = None
        self.error = ""
        self._cases = cases
        self._plan = []
        self._nodes = {}
        self._played = set()
        self._left = {}
        self._config = record["node_config"] or DEFAULT_CONFIG
        self._nodes[self.node] = self._config
        self._node("node-1" if self.node != "node-1" else "node-9", None)
        self._plan_node(record)
        base_ms = BEGINS_MS[record["recording"]]
        own = [
            self._moved(case, base_ms)
            for case in cases.values()
            if case["node"] == self.node and "static" not in case["tags"]
        ]
        for case in own:
            self._add(case)
        first = min((each[0] for each in self._plan), default=0)
        self.start_ms = CREATED_MS - (origin_ms or 0)
        self._round = self._round_of(own)
        self.world = Lab(self.start_ms - SETTLE_MS + min(first, 0), seed)
        for name in sorted(self._nodes):
            if name != self.node:
                self.world.join(name, self._nodes[name])
        self._plan.sort(key=lambda each: each[:2])
        self.before = None
        if origin_ms is not None:
            return
        first_ms = min([each["t"] for each in (*record["status"], *record["events"])], default=0)
        started = [each["t"] for each in record["node_controls"] if "start" in each["control"]]
        began_ms = max([at_ms for at_ms in started if at_ms <= first_ms], default=first_ms)
        # Where the recording shows the kubelet's first words, the watch was there before it.
        self.run_to((began_ms if first_ms - began_ms < STARTING_MS else first_ms) - 50)
        self.before = self.world.store.get("nodes", "", self.node)
        self.world.is_watching = True

    def _moved(self, case: Record, base_ms: int) -> Record:
        """A recorded pod on this recording's clock, without what is done to nodes: that is planned from the node's."""
        shift_ms = BEGINS_MS[case["recording"]] - base_ms
        objects = [
            {**each, "at_ms": each["at_ms"] + shift_ms}
            for each in case["depends_on"]
            if "object" in each and each["object"]["kind"] != "Node"
        ]
        return {
            **case,
            "posted_ms": case["posted_ms"] + shift_ms,
            "depends_on": objects,
            "actions": [each for each in case["actions"] if each["action"][0] not in _OF_NODES],
        }

    def _round_of(self, cases: list[Record]) -> int | None:
        for case in cases:
            for each in case["events"]:
                if each["reason"] == "Evicted" and "had condition" not in each["message"]:
                    return int(self.start_ms + case["posted_ms"] + each["t"])
        return None

    def _plan_node(self, record: Record) -> None:
        created_ms = record["created_ms"]
        starts = [
            each["t"]
            for each in record["node_controls"]
            if "start" in each["control"] and created_ms - FRESH_MS <= each["t"] <= created_ms + FRESH_MS
        ]
        joined_ms = starts[0] if starts else created_ms
        self._at(joined_ms, self._join)
        for each in record["node_controls"]:
            control = each["control"]
            if "start" not in control or each["t"] != joined_ms:
                self._at(each["t"], lambda control=control: self._node_control(control))
        # Nodes are removed between recordings; that is not among the controls.
        removed = {each["t"] for each in record["events"] if each["reason"] == "RemovingNode"}
        removed |= {each["t"] for each in record["status"] if each["type"] == "DELETED"}
        for at_ms in sorted(removed):
            self._at(at_ms - 20, self._delete)

    def _join(self) -> None:
        self.world.join(self.node, self._config, self._round, is_new=True)

    def _delete(self) -> None:
        """The recorder takes a node away: its kubelet was stopped before."""
        if self.world.store.get("nodes", "", self.node) is not None:
            self.world.kubelets.stop_node(self.node)
            self.world.admin.delete("nodes", "", self.node)

    def _node_control(self, control: Record) -> None:
        if "start" in control and self.world.store.get("nodes", "", self.node) is None:
            self._join()
        elif "crash" in control:
            self.world.kubelets.stop_node(self.node)
        else:
            self._control(self.node, control)
