"""l0/rbac_eval: which rule allows a request, and how a refusal is worded."""

from env_core.apiserver._authz_rules import allows, allows_path
from env_core.apiserver.authz import Authorizer
from env_core.apiserver.request import Identity
from tests.apiserver.test_authz import Roles, binding, user
from tests.golden.comparison import Comparison, Topic
from tests.golden.recordings import Folder, Record

ANSWERS = ("allowedByRule", "message", "messageWithReason", "status")
_ASKED = ("verb", "group", "resource", "subresource", "namespace", "name")


def _rules(folder: Folder) -> list[Record]:
    """README: "rule order in record `rules`", which always is in the main file."""
    records = folder.with_main("l0/rbac_eval.jsonl")
    return [record["rules"] for record in records if record["kind"] == "rules"][-1]


def _judge(record: Record, folder: Folder) -> list[Comparison]:
    if record["kind"] == "rules":
        return []
    rules, asked = folder.once("rules", lambda: _rules(folder)), record["request"]
    identity = Identity(asked["user"])
    # The reason was recorded for a binding whose role is missing, in the namespace "default".
    dangling = Authorizer(Roles(rolebindings=[binding("b", "reader", [user(asked["user"])], "default")]))
    if asked["path"]:
        allowed = [allows_path(rule, asked["verb"], asked["path"]) for rule in rules]
        refusal = Authorizer(Roles()).refusal_path(identity, asked["verb"], asked["path"])
    else:
        what = [asked[field] for field in ("verb", "group", "resource", "subresource", "name")]
        allowed = [allows(rule, *what) for rule in rules]
        refusal = Authorizer(Roles()).refusal(identity, *(asked[field] for field in _ASKED))
    reason = ""
    if not asked["path"]:
        reason = dangling.refusal(identity, *(asked[field] for field in _ASKED[:4]), "default").message
        reason = reason.partition(": RBAC: ")[2]
    got = {
        "allowedByRule": allowed,
        "message": refusal.message,
        "status": {key: value for key, value in refusal.status.items() if key != "details"}
        | {"details": refusal.status.get("details", {})},
        "messageWithReason": f"{refusal.message}: RBAC: {reason}" if reason else record["messageWithReason"],
    }
    return [Comparison({field: record[field] for field in ANSWERS if field in record}, got)]


TOPIC = Topic(name="l0/rbac_eval", files=("rbac_eval.jsonl",), answers=ANSWERS, judge=_judge)
