"""l0/server_side_apply: live objects and managed fields after applies and updates."""

from __future__ import annotations

from typing import Any

from env_core.apiserver import errors
from env_core.apiserver.applypatch import config_problem, with_last_applied
from env_core.apiserver.managedfields.applying import Application, ConflictError, apply
from env_core.apiserver.managedfields.managers import APPLY, UPDATE, Managed, encoded, manager_of, updated
from env_core.apiserver.managedfields.mergetypes import MergeType, type_of
from env_core.apiserver.managedfields.walking import compare
from env_core.apiserver.strict import IGNORE, decode
from env_core.world import Object
from tests.golden.comparison import Comparison, Topic
from tests.golden.normalise import unordered
from tests.golden.recordings import Folder, Record


class _Object:
    """A live object and its managers; nothing is defaulted."""

    def __init__(self, api_version: str, kind: str) -> None:
        group, _, version = api_version.rpartition("/")
        self.identity = (group, version, kind)
        self.api_version = api_version
        self.type: MergeType = type_of(*self.identity)
        self.live: Object = {"apiVersion": api_version, "kind": kind}
        self.managed: Managed = {}

    def typed(self, obj: Object) -> Object:
        return decode(obj, *self.identity, IGNORE).object

    def apply(self, step: Record) -> Any:
        """Apply a configuration; returns the Status that refuses it."""
        problem = config_problem(step["object"], self.type, *self.identity)
        if problem is not None:
            return problem
        application = Application(
            self.type,
            step["object"],
            manager_of(step["manager"], APPLY, self.api_version, ""),
            self.api_version,
            is_forced=step["verb"] == "force",
        )
        try:
            applied = apply(application, self.live, self.managed, "")
        except ConflictError as error:
            return errors.apply_conflict(str(error), error.causes)
        self.live, self.managed = with_last_applied(application, applied.object or self.live), applied.managed
        return None

    def update(self, step: Record) -> None:
        new = self.typed(step["object"])
        change = compare(self.type, self.live, new)
        manager = manager_of(step["manager"], UPDATE, self.api_version, "")
        self.live, self.managed = new, updated(self.managed, change, manager, self.api_version, "")


def _judge(record: Record, _folder: Folder) -> Comparison:
    first = record["steps"][0]["object"]
    subject = _Object(first["apiVersion"], first["kind"])
    got: list[Record] = []
    for step in record["steps"]:
        answer: Record = {}
        refused = subject.update(step) if step["verb"] == "update" else subject.apply(step)
        if refused is not None:
            # What is no Status has a text only.
            answer = {"message": refused.message, "status": refused.status if refused.reason else None}
        got.append({**answer, "live": subject.live, "managedFields": unordered(encoded(subject.managed))})
    asked = ("verb", "manager", "object")
    wanted = [
        {key: value for key, value in step.items() if key not in asked}
        | {"managedFields": unordered(step["managedFields"])}
        for step in record["steps"]
    ]
    return Comparison({"steps": wanted}, {"steps": got})


TOPIC = Topic(
    name="l0/server_side_apply", files=("server_side_apply.jsonl",), answers=("steps",), judge=_judge
)
