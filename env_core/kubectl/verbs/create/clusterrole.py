"""`kubectl create clusterrole`."""

from __future__ import annotations

from env_core.kubectl.context import Context
from env_core.kubectl.screen import Failure
from env_core.kubectl.verb import Args, Flag, Slice, Verb
from env_core.kubectl.verbs.create._generator import GENERATOR_FLAGS, create_generated, name_argument
from env_core.kubectl.verbs.create._rules import RULE_FLAGS, resource_rules, verbs_of
from env_core.objects.problems import quoted
from env_core.world import Object, Output

_PATH_VERBS = ("*", "get", "post", "put", "delete", "patch", "head", "options")


def _run(ctx: Context, args: Args) -> Output:
    name = name_argument(args)
    obj: Object = {
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "ClusterRole",
        "metadata": {"name": name},
    }
    if args.items("aggregation-rule"):
        if any(args.items(flag) for flag in ("non-resource-url", "verb", "resource", "resource-name")):
            raise Failure(
                "aggregation rule must be specified without nonResourceURLs, verbs, resources or resourceNames"
            )
        obj["aggregationRule"] = {"clusterRoleSelectors": [{"matchLabels": _aggregation(args)}]}
    else:
        obj["rules"] = _rules(ctx, args)
    return create_generated(ctx, args, "clusterroles.rbac.authorization.k8s.io", obj, is_namespaced=False)


def _aggregation(args: Args) -> dict[str, str]:
    labels: dict[str, str] = {}
    for pair in args.items("aggregation-rule"):
        key, equals, value = pair.partition("=")
        if not equals:
            text = ",".join(args.items("aggregation-rule"))
            raise Failure(
                f'invalid argument {quoted(text)} for "--aggregation-rule" flag: malformed pair, expect string=string\n'
                f"See '{args.path} --help' for usage."
            )
        labels[key.strip()] = value.strip()
    return labels


def _rules(ctx: Context, args: Args) -> list[Object]:
    verbs = verbs_of(args)
    if not verbs:
        raise Failure("at least one verb must be specified")
    paths = list(dict.fromkeys(args.items("non-resource-url")))
    if not paths and not args.items("resource"):
        raise Failure("one of resource or nonResourceURL must be specified")
    rules = resource_rules(ctx, args, verbs, missing="")
    if not paths:
        return rules
    for verb in verbs:
        if verb not in _PATH_VERBS:
            raise Failure(f"invalid verb: '{verb}' for nonResourceURL")
    for path in paths:
        if path == "*":
            continue
        if not path.startswith("/"):
            raise Failure("nonResourceURL should start with /")
        if "*" in path[:-1]:
            raise Failure("nonResourceURL only supports wildcard matches when '*' is at the end")
    return [*rules, {"nonResourceURLs": paths, "verbs": verbs}]


VERB = Verb(
    name="clusterrole",
    usage=(
        "create clusterrole NAME --verb=verb --resource=resource.group [--resource-name=resourcename] "
        "[--dry-run=server|client|none]"
    ),
    summary="Creates a cluster role.",
    flags=(
        *GENERATOR_FLAGS,
        *RULE_FLAGS,
        Flag("aggregation-rule", Slice, shown="", words="Labels of the roles that this one is made of."),
        Flag("non-resource-url", Slice, words="Path that the rule allows."),
    ),
    run=_run,
    source="k8s.io/kubectl pkg/cmd/create create_clusterrole.go",
)
