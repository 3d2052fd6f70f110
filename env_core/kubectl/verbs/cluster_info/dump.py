"""`kubectl cluster-info dump`: nodes, and of each namespace the objects that matter and the logs of its pods."""

from __future__ import annotations

from collections.abc import Callable

from env_core.apiserver.errors import StatusError
from env_core.apiserver.request import LogOptions
from env_core.apiserver.typed import list_in_type_order
from env_core.kubectl import pods
from env_core.kubectl.context import Context
from env_core.kubectl.output.printing import (
    FORMATS,
    object_printer,
    output_format,
    to_ordered_json,
    without_managed_fields,
)
from env_core.kubectl.screen import Failure, Screen
from env_core.kubectl.verb import ALL_NAMESPACES, PRINT_FLAGS, Args, Duration, Flag, Slice, Verb
from env_core.world import Object, Output

_LISTS = (
    ("events", "events"),
    ("replicationcontrollers", "replication-controllers"),
    ("services", "services"),
    ("daemonsets.apps", "daemonsets"),
    ("deployments.apps", "deployments"),
    ("replicasets.apps", "replicasets"),
    ("pods", "pods"),
)
"""What is dumped of a namespace, and the names of its files."""
_Write = Callable[[str, str], None]


def _run(ctx: Context, args: Args) -> Output:
    text_of = _printer(ctx, args)
    if args.number("pod-running-timeout") <= 0:
        raise Failure("--pod-running-timeout must be higher than zero")
    ending = {"json": ".json", "yaml": ".yaml"}.get(args.text("output"), ".txt")
    directory = args.text("output-directory")
    has_files = directory not in ("", "-")

    def write(name: str, text: str) -> None:
        if has_files:
            path = f"{directory}/{name}"
            try:
                ctx.files.makedirs(path.rpartition("/")[0])
                ctx.files.write(path, text)
            except OSError as error:
                raise Failure(str(error)) from None
        else:
            args.screen.out(text)

    write(f"nodes{ending}", text_of(ctx.api.call("list", "nodes")))
    for namespace in _namespaces(ctx, args):
        _dump(ctx, namespace, ending, text_of, write)
    if has_files:
        args.screen.out(f"Cluster info dumped to {directory}\n")
    return args.screen.done()


def _printer(ctx: Context, args: Args) -> Callable[[Object], str]:
    """Return the function that prints a list; YAML documents have a line between them."""
    keeps = args.is_set("show-managed-fields")
    printer = object_printer(ctx, args, formats=FORMATS)
    if output_format(args).lower() == "json":
        return lambda listed: to_ordered_json(
            list_in_type_order(listed if keeps else without_managed_fields(listed))
        )

    def text_of(listed: Object) -> str:
        screen = Screen()
        printer.print(listed, screen)
        return screen.done().stdout

    return text_of


def _namespaces(ctx: Context, args: Args) -> list[str]:
    if args.is_set("all-namespaces"):
        return [namespace["metadata"]["name"] for namespace in ctx.api.list("namespaces")]
    return list(args.items("namespaces")) or ["kube-system", ctx.namespace]


def _dump(ctx: Context, namespace: str, ending: str, text_of: Callable[[Object], str], write: _Write) -> None:
    listed: Object = {"items": []}
    for resource, name in _LISTS:
        listed = ctx.api.call("list", resource, namespace)
        write(f"{namespace}/{name}{ending}", text_of(listed))
    for pod in listed["items"]:
        parts = ("initContainers", "containers")
        logs = "".join(
            _log(ctx, namespace, pod, one["name"]) for part in parts for one in pods.containers(pod, part)
        )
        write(f"{namespace}/{pod['metadata']['name']}/logs.txt", logs)


def _log(ctx: Context, namespace: str, pod: Object, container: str) -> str:
    name = pod["metadata"]["name"]
    where = f"logs for container {container} of pod {namespace}/{name} ====\n"
    try:
        text = ctx.api.logs(namespace, name, LogOptions(container=container))
    except StatusError as error:
        text = f"Request log error: {error.message}\n"
    return f"==== START {where}{text}==== END {where}"


VERB = Verb(
    name="dump",
    usage="cluster-info dump [flags]",
    summary="Prints what helps to find out what is wrong.",
    flags=(
        *(flag for flag in PRINT_FLAGS if flag.name != "output"),
        ALL_NAMESPACES,
        Flag("namespaces", Slice, words="Namespaces to dump."),
        Flag("output", str, shorthand="o", default="json", words="Output format."),
        Flag("output-directory", str, words="Directory for the files."),
        Flag("pod-running-timeout", Duration, default="20s", words="How long to wait for a pod."),
    ),
    run=_run,
    source="k8s.io/kubectl pkg/cmd/clusterinfo clusterinfo_dump.go",
)
