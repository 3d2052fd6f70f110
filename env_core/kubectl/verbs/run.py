"""`kubectl run`: one pod with one image."""

from __future__ import annotations

import re

from env_core.apiserver.errors import StatusError
from env_core.kubectl.cascade import cascade_of
from env_core.kubectl.context import Context
from env_core.kubectl.dry_run import dry_run_of
from env_core.kubectl.govalues import as_int32
from env_core.kubectl.last_applied import saved
from env_core.kubectl.output.printing import Printer
from env_core.kubectl.overrides import OVERRIDE_FLAGS, overridden
from env_core.kubectl.pairs import read_labels, read_pairs
from env_core.kubectl.resolve import Selection, info_of
from env_core.kubectl.screen import Failure, raise_all
from env_core.kubectl.verb import (
    DRY_RUN,
    FILE_FLAGS,
    PRINT_FLAGS,
    Args,
    Array,
    Duration,
    Flag,
    Slice,
    Verb,
    field_manager,
)
from env_core.kubectl.verbs._attached import follow_pod
from env_core.kubectl.verbs.delete import DELETE_FLAGS, Deletion
from env_core.kubectl.writes import SAVE_CONFIG, as_typed, options_of, result_printer_of
from env_core.objects import names
from env_core.objects.problems import quoted
from env_core.world import Object, Output

_POLICIES = ("Always", "OnFailure", "Never")
_PULL_POLICIES = ("Always", "IfNotPresent", "Never")
_INTEGER = re.compile(r"[+-]?[0-9]+\Z")
_DOMAIN = r"(?:[a-zA-Z0-9]|[a-zA-Z0-9][a-zA-Z0-9-]*[a-zA-Z0-9])"
_PATH = r"[a-z0-9]+(?:(?:[._]|__|[-]+)[a-z0-9]+)*"
IMAGE = re.compile(
    rf"(?:(?:{_DOMAIN}(?:\.{_DOMAIN})*|\[[a-fA-F0-9:]+\])(?::[0-9]+)?/)?{_PATH}(?:/{_PATH})*"
    r"(?::[\w][\w.-]{0,127})?(?:@[A-Za-z][A-Za-z0-9]*(?:[-_+.][A-Za-z][A-Za-z0-9]*)*:[0-9a-fA-F]{32,})?\Z",
    re.ASCII,
)
"""Image references. Source: github.com/distribution/reference regexp.go."""
_DRY = (
    "--dry-run=[server|client] can't be used with attached containers options (--attach, --stdin, or --tty)"
)


def _run(ctx: Context, args: Args) -> Output:
    annotations, _ = read_pairs(args.items("annotations"), "annotations", allows_removal=False)
    labels = read_labels(args.text("labels"))
    variables = [_variable(text) for text in args.items("env")]
    restart = _restart_policy(args)
    pull = args.text("image-pull-policy")
    if pull and pull not in _PULL_POLICIES:
        raise Failure(f"invalid image pull policy: {pull}, valid values are: {', '.join(_PULL_POLICIES)}")
    is_attached = args.is_set("attach") if "attach" in args.given else args.is_set("stdin")
    dry_run = dry_run_of(ctx, args)
    printer = result_printer_of(ctx, args, dry_run, is_typed=True)("created")
    cascade_of(args)
    _check(args, is_attached, dry_run)
    name = args.positional[0]
    pod = _pod(args, name, labels, annotations, variables, restart)
    created = [_create(ctx, args, "pods", overridden(args, pod), dry_run)]
    errors: list[Exception] = []
    if args.is_set("expose"):
        try:
            created.append(_create(ctx, args, "services", _service(args, name, labels), dry_run))
        except StatusError as error:
            errors.append(error)
    if is_attached:
        return _attach(ctx, args, created, restart)
    return _print(args, printer, created, errors)


def _print(args: Args, printer: Printer, created: list[Object], errors: list[Exception]) -> Output:
    for obj in created:
        printer.print(obj, args.screen)
    raise_all(errors)
    return args.screen.done()


def _check(args: Args, is_attached: bool, dry_run: str) -> None:
    image, port = args.text("image"), args.text("port")
    if not args.positional or args.before_dash == 0:
        raise Failure("NAME is required for run")
    if not image:
        raise Failure("--image is required")
    if not IMAGE.match(image):
        raise Failure(f"invalid image name {quoted(image)}: invalid reference format")
    if args.is_set("tty") and not args.is_set("stdin"):
        raise Failure("-i/--stdin is required for containers with -t/--tty=true")
    if args.is_set("expose") and not port:
        raise Failure("--port must be set when exposing a service")
    if port and not _INTEGER.match(port):
        raise Failure("--port must be a number")
    if args.is_set("rm") and not is_attached:
        raise Failure("--rm should only be used for attached containers")
    if is_attached and dry_run:
        raise Failure(_DRY)


def _restart_policy(args: Args) -> str:
    policy = args.text("restart")
    if not policy:
        return "OnFailure" if args.is_set("stdin") else "Always"
    if policy not in _POLICIES:
        raise Failure(f"invalid restart policy: {policy}, valid values are: {', '.join(_POLICIES)}")
    return policy


def _variable(text: str) -> Object:
    name, equals, value = text.partition("=")
    if not equals or not name or names.is_strict_env_var_name(name):
        raise Failure(f"invalid env: {text}")
    return {"name": name, "value": value} if value else {"name": name}


def _pod(
    args: Args,
    name: str,
    labels: dict[str, str],
    annotations: dict[str, str],
    variables: list[Object],
    restart: str,
) -> Object:
    container: Object = {"name": name, "image": args.text("image")}
    words = list(args.positional[1:])
    if words:
        container["command" if args.is_set("command") else "args"] = words
    if args.text("port"):
        container["ports"] = [{"containerPort": as_int32(int(args.text("port")))}]
    if variables:
        container["env"] = variables
    if args.text("image-pull-policy"):
        container["imagePullPolicy"] = args.text("image-pull-policy")
    if args.is_set("privileged"):
        container["securityContext"] = {"privileged": True}
    if args.is_set("stdin"):
        container["stdin"] = True
        if not args.is_set("leave-stdin-open"):
            container["stdinOnce"] = True
    if args.is_set("tty"):
        container["tty"] = True
    metadata: Object = {"name": name, "labels": labels or {"run": name}}
    if annotations:
        metadata["annotations"] = annotations
    return as_typed(
        {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": metadata,
            "spec": {"containers": [container], "dnsPolicy": "ClusterFirst", "restartPolicy": restart},
        }
    )


def _service(args: Args, name: str, labels: dict[str, str]) -> Object:
    port = as_int32(int(args.text("port")))
    metadata: Object = {"name": name}
    if labels:
        metadata["labels"] = labels
    return as_typed(
        {
            "apiVersion": "v1",
            "kind": "Service",
            "metadata": metadata,
            "spec": {
                "selector": labels or {"run": name},
                "ports": [{"port": port, "protocol": "TCP", "targetPort": port}],
            },
        }
    )


def _create(ctx: Context, args: Args, resource: str, obj: Object, dry_run: str) -> Object:
    if dry_run == "client":
        if ctx.is_namespace_explicit:
            return {**obj, "metadata": {**obj["metadata"], "namespace": ctx.namespace}}
        return obj
    obj = saved(obj, is_wanted=args.is_set("save-config"), is_typed=True)
    return ctx.api.create(resource, ctx.namespace, obj, options=options_of(args, dry_run))


def _attach(ctx: Context, args: Args, created: list[Object], restart: str) -> Output:
    """Show what the pod prints until it ends; its exit code is the command's unless it restarts."""
    pod = created[0]
    metadata = pod["metadata"]
    try:
        ended = follow_pod(
            ctx,
            args.screen,
            metadata["namespace"],
            metadata["name"],
            pod["spec"]["containers"][0]["name"],
            args.number("pod-running-timeout"),
            is_quiet=args.is_set("quiet"),
        )
        if not args.is_set("leave-stdin-open") and restart != "Always":
            _check_exit(_completed(ctx, args, ended, restart))
    finally:
        if args.is_set("rm"):
            _remove(ctx, args, created)
    return args.screen.done()


def _completed(ctx: Context, args: Args, pod: Object, restart: str) -> Object:
    """Return the pod when it is over: succeeded, or with --restart=Never failed.

    Raises:
        Failure: when it is not over in time.
    """
    wanted = ("Succeeded",) if restart == "OnFailure" else ("Succeeded", "Failed")
    namespace, name = pod["metadata"]["namespace"], pod["metadata"]["name"]

    def is_over() -> bool:
        nonlocal pod
        pod = ctx.api.get("pods", namespace, name)
        return (pod.get("status") or {}).get("phase") in wanted

    if not is_over() and not ctx.clock.advance_until(is_over, args.number("pod-running-timeout")):
        raise Failure("timed out waiting for the condition")
    return pod


def _check_exit(pod: Object) -> None:
    """Raise what a failed pod means for the command.

    Raises:
        Failure: with the exit code of the container.
    """
    status = pod.get("status") or {}
    where = f"pod {pod['metadata']['namespace']}/{pod['metadata']['name']}"
    if status.get("phase") == "Succeeded":
        return
    if status.get("phase") != "Failed":
        raise Failure(f"{where} left in phase {status.get('phase', '')}")
    rows = status.get("containerStatuses") or ()
    terminated = (rows[0].get("state") or {}).get("terminated") if rows else None
    if not terminated or not terminated.get("exitCode"):
        raise Failure(f"{where} failed with unknown exit code")
    raise Failure(
        f"{where} terminated ({terminated.get('reason', '')})\n{terminated.get('message', '')}",
        terminated["exitCode"],
        is_bare=True,
    )


def _remove(ctx: Context, args: Args, created: list[Object]) -> None:
    deletion = Deletion(ctx, args, policy=cascade_of(args), grace=-1, dry_run="", ignores_missing=True)
    for obj in created:
        deletion.run(Selection(infos=(info_of(ctx, obj),)), waits=False, timeout_ms=0)


VERB = Verb(
    name="run",
    usage=(
        'run NAME --image=image [--env="key=value"] [--port=port] [--dry-run=server|client] [--overrides=inline-json] '
        "[--command] -- [COMMAND] [args...]"
    ),
    summary="Runs an image in a pod.",
    flags=(
        *PRINT_FLAGS,
        *(flag for flag in FILE_FLAGS if flag.name != "filename"),
        *DELETE_FLAGS,
        *OVERRIDE_FLAGS,
        DRY_RUN,
        SAVE_CONFIG,
        field_manager("kubectl-run"),
        Flag("annotations", Array, words="KEY=VALUE."),
        Flag("attach", bool, words="Wait for the pod and attach to it."),
        Flag("command", bool, words="The words behind -- replace the image's command."),
        Flag("detach-keys", str, default="ctrl-p,ctrl-q", words="Keys that detach."),
        Flag("env", Array, words="KEY=VALUE for the container."),
        Flag("expose", bool, words="Create a service too."),
        Flag(
            "filename",
            Slice,
            shorthand="f",
            words="Ignored.",
            deprecated="it is ignored by kubectl run and will be removed in a future release",
        ),
        Flag("image", str, is_required=True, words="Image of the container."),
        Flag("image-pull-policy", str, words="Always, IfNotPresent or Never."),
        Flag("labels", str, shorthand="l", words="Labels of the pod."),
        Flag("leave-stdin-open", bool, words="Leave standard input open after the session."),
        Flag("pod-running-timeout", Duration, default="1m0s", words="How long to wait for the pod."),
        Flag("port", str, words="Port of the container."),
        Flag("privileged", bool, words="Run the container privileged."),
        Flag("quiet", bool, shorthand="q", words="Print only what the container prints."),
        Flag("restart", str, default="Always", words="Always, OnFailure or Never."),
        Flag("rm", bool, words="Delete the pod after the session."),
        Flag("stdin", bool, shorthand="i", words="Keep standard input open."),
        Flag("tty", bool, shorthand="t", words="Ask for a terminal."),
        Flag("wait", bool, words="Wait until deleted objects are gone."),
    ),
    run=_run,
    source="k8s.io/kubectl pkg/cmd/run",
)
