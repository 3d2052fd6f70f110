"""`kubectl version`: the client's and the server's."""

from __future__ import annotations

from env_core.apiserver.about import SERVER_VERSION
from env_core.kubectl.context import Context
from env_core.kubectl.output.printing import to_ordered_json
from env_core.kubectl.screen import Failure
from env_core.kubectl.verb import Args, Flag, Verb
from env_core.objects.yamlout import to_yaml
from env_core.world import Object, Output

KUSTOMIZE = "v5.8.1"
CLIENT: Object = {
    "major": "1",
    "minor": "37",
    "gitVersion": "v1.37.1",
    "gitCommit": "f78e722310e50bcaca9276be22276d9e91d91308",
    "gitTreeState": "clean",
    "buildDate": "2026-09-23T17:10:04Z",
    "goVersion": "go1.26.8",
    "compiler": "gc",
    "platform": "linux/amd64",
}


def _run(_ctx: Context, args: Args) -> Output:
    if args.positional:
        raise Failure(f"extra arguments: [{' '.join(args.positional)}]")
    chosen = args.text("output")
    if chosen not in ("", "yaml", "json"):
        raise Failure("--output must be 'yaml' or 'json'")
    has_server = not args.is_set("client")
    versions: Object = {"clientVersion": CLIENT, "kustomizeVersion": KUSTOMIZE}
    if has_server:
        versions["serverVersion"] = SERVER_VERSION
    if chosen == "json":
        args.screen.out(to_ordered_json(versions, indent=2))
    elif chosen == "yaml":
        args.screen.out(to_yaml(versions) + "\n")
    else:
        args.screen.out(f"Client Version: {CLIENT['gitVersion']}\nKustomize Version: {KUSTOMIZE}\n")
        if has_server:
            args.screen.out(f"Server Version: {SERVER_VERSION['gitVersion']}\n")
    return args.screen.done()


VERB = Verb(
    name="version",
    usage="version [flags]",
    summary="Tells the versions of kubectl and of the server.",
    flags=(
        Flag("client", bool, words="Only kubectl's version."),
        Flag("output", str, shorthand="o", words="yaml or json."),
    ),
    run=_run,
    source="k8s.io/kubectl pkg/cmd/version",
    needs_config=False,
)
