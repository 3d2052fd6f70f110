"""`kubectl auth can-i`: whether, or everything that, one may do.

Source: k8s.io/kubectl pkg/cmd/auth cani.go, pkg/util/rbac; tests/golden/l2/kubectl/rbac, web.
"""

from __future__ import annotations

from env_core.kubectl.context import Context
from env_core.kubectl.output.table import align
from env_core.kubectl.resolve import find_kind
from env_core.kubectl.screen import Failure
from env_core.kubectl.verb import ALL_NAMESPACES, NO_HEADERS, Args, Flag, Verb
from env_core.world import Object, Output

_GROUP = "authorization.k8s.io"
_TWO_ARGUMENTS = (
    "you must specify two arguments: verb resource or verb resource/resourceName.\n"
    "See 'kubectl auth can-i -h' for help and examples."
)
_RESOURCE_VERBS = frozenset(
    (
        "get", "list", "watch", "create", "update", "patch", "delete", "deletecollection", "use", "bind",
        "impersonate", "*", "approve", "sign", "escalate", "attest",
    )
)  # fmt: skip
_PATH_VERBS = frozenset(("get", "put", "post", "head", "options", "delete", "patch", "*"))


def _run(ctx: Context, args: Args) -> Output:
    words = args.positional
    namespace = "" if args.is_set("all-namespaces") else ctx.namespace
    if args.is_set("list"):
        if words:
            raise Failure("list option must be specified with no arguments")
        return _list(ctx, args, ctx.namespace)
    if args.is_set("quiet"):
        has_output = False
    else:
        has_output = True
    if len(words) != 2:
        raise Failure(_TWO_ARGUMENTS)
    verb, target = words
    if target.startswith("/"):
        if args.text("subresource"):
            raise Failure("--subresource can not be used with NonResourceURL")
        if verb not in _PATH_VERBS:
            _warn(args, f"verb '{verb}' is not a known verb")
        spec: Object = {"nonResourceAttributes": {"verb": verb, "path": target}}
    else:
        spec = {"resourceAttributes": _attributes(ctx, args, verb, target, namespace)}
    review = {"apiVersion": f"{_GROUP}/v1", "kind": "SelfSubjectAccessReview", "metadata": {}, "spec": spec}
    status = ctx.api.create(f"selfsubjectaccessreviews.{_GROUP}", "", review).get("status") or {}
    is_allowed = bool(status.get("allowed"))
    if has_output:
        text = "yes" if is_allowed else "no"
        if not is_allowed:
            for part in ("reason", "evaluationError"):
                if status.get(part):
                    text += f" - {status[part]}"
        args.screen.out(text + "\n")
    return args.screen.done(0 if is_allowed else 1)


def _warn(args: Args, text: str) -> None:
    args.screen.err(f"Warning: {text}\n\n")


def _attributes(ctx: Context, args: Args, verb: str, target: str, namespace: str) -> Object:
    resource, _, name = target.partition("/")
    attributes: Object = {"verb": verb, "resource": resource}
    kind = None
    if resource != "*":
        kind = find_kind(ctx, resource)
        if kind is None:
            plural, dot, group = resource.partition(".")
            if dot:
                _warn(args, f"the server doesn't have a resource type '{plural}' in group '{group}'")
                attributes.update(resource=plural, group=group)
            else:
                _warn(args, f"the server doesn't have a resource type '{resource}'")
        else:
            attributes["resource"] = kind.plural
            if kind.group:
                attributes["group"] = kind.group
            if namespace and not kind.is_namespaced:
                where = f" in group '{kind.group}'" if kind.group else ""
                _warn(args, f"resource '{kind.plural}' is not namespace scoped{where}")
    if verb not in _RESOURCE_VERBS:
        _warn(args, f"verb '{verb}' is not a known verb")
    if namespace:
        attributes["namespace"] = namespace
    if name:
        attributes["name"] = name
    if args.text("subresource"):
        attributes["subresource"] = args.text("subresource")
    return attributes


def _list(ctx: Context, args: Args, namespace: str) -> Output:
    review = {
        "apiVersion": f"{_GROUP}/v1",
        "kind": "SelfSubjectRulesReview",
        "metadata": {},
        "spec": {"namespace": namespace},
    }
    status = ctx.api.create(f"selfsubjectrulesreviews.{_GROUP}", "", review).get("status") or {}
    if not args.is_set("quiet"):
        args.screen.out(rules_table(status, has_headers=not args.is_set("no-headers")))
    return args.screen.done()


def rules_table(status: Object, *, has_headers: bool = True) -> str:
    """Return the table of a SelfSubjectRulesReview's status: one row a resource, verbs together."""
    rows = [_row(rule) for rule in sorted(_compacted(status), key=_rule_text)]
    if has_headers:
        rows.insert(0, ["Resources", "Non-Resource URLs", "Resource Names", "Verbs"])
    return align(rows)


_Rule = dict[str, list[str]]


def _compacted(status: Object) -> list[_Rule]:
    simple: dict[tuple[str, str, tuple[str, ...]], _Rule] = {}
    others: list[_Rule] = []
    for rule in status.get("resourceRules") or ():
        for group in rule.get("apiGroups") or ():
            for resource in rule.get("resources") or ():
                for verb in rule.get("verbs") or ():
                    for names in [[name] for name in rule.get("resourceNames") or ()] or [[]]:
                        key = (group, resource, tuple(names))
                        found = simple.get(key)
                        if found is None:
                            simple[key] = {
                                "verbs": [verb],
                                "groups": [group],
                                "resources": [resource],
                                "names": names,
                                "urls": [],
                            }
                        else:
                            found["verbs"].append(verb)
    for rule in status.get("nonResourceRules") or ():
        for url in rule.get("nonResourceURLs") or ():
            others.extend(
                {"verbs": [verb], "groups": [], "resources": [], "names": [], "urls": [url]}
                for verb in rule.get("verbs") or ()
            )
    return [*others, *simple.values()]


def _rule_text(rule: _Rule) -> str:
    """Return a rule as its Go String() prints it, which is what rules are sorted by."""
    return (
        f"&PolicyRule{{Verbs:{_go_list(rule['verbs'])},APIGroups:{_go_list(rule['groups'])},"
        f"Resources:{_go_list(rule['resources'])},ResourceNames:{_go_list(rule['names'])},"
        f"NonResourceURLs:{_go_list(rule['urls'])},}}"
    )


def _row(rule: _Rule) -> list[str]:
    resource = ""
    if rule["resources"]:
        resource, slash, sub = rule["resources"][0].partition("/")
        group = rule["groups"][0]
        resource += (f".{group}" if group else "") + slash + sub
    return [resource, _go_list(rule["urls"]), _go_list(rule["names"]), _go_list(rule["verbs"])]


def _go_list(items: list[str]) -> str:
    return "[" + " ".join(items) + "]"


VERB = Verb(
    name="can-i",
    usage="auth can-i VERB [TYPE | TYPE/NAME | NONRESOURCEURL]",
    summary="Tells whether you may do something.",
    flags=(
        ALL_NAMESPACES,
        NO_HEADERS,
        Flag("list", bool, words="Show everything that you may do."),
        Flag("quiet", bool, shorthand="q", words="Tell by the exit code only."),
        Flag("subresource", str, words="Subresource that is meant."),
    ),
    run=_run,
    source="k8s.io/kubectl pkg/cmd/auth cani.go",
)
