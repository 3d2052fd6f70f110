"""`kubectl debug`: a container beside the others, a copy of a pod, or a pod on a node."""

from __future__ import annotations

from env_core.apiserver.errors import StatusError
from env_core.apiserver.request import STRATEGIC_PATCH, Options
from env_core.apiserver.schema import schema_for
from env_core.kubectl import pods
from env_core.kubectl.context import Context
from env_core.kubectl.name_suffix import name_suffix
from env_core.kubectl.resolve import Info, select
from env_core.kubectl.screen import Failure, raise_all
from env_core.kubectl.verb import Args, Flag, Slice, Verb
from env_core.kubectl.verbs._attached import follow_container
from env_core.kubectl.verbs.debug._custom import check_profile, custom_profile, with_custom
from env_core.kubectl.verbs.debug._profiles import COPY, EPHEMERAL, NODE, PROFILES, Keep, with_profile
from env_core.kubectl.verbs.run import IMAGE
from env_core.objects.patch_strategic import create_two_way_patch
from env_core.objects.problems import quoted
from env_core.world import Object, Output

_PULL_POLICIES = ("", "Always", "IfNotPresent", "Never")
_TARGETING = (
    "Targeting container {}. If you don't see processes from this container it may be because the container runtime "
    "doesn't support this feature.\n"
)
_LEGACY = (
    "--profile=legacy is deprecated and planned to be removed in v1.39. It is recommended to specify other profile, "
    'for example "--profile=general".\n'
)
_NOT_ROOT = (
    "Warning: Non-root user is configured for the entire target Pod, and some capabilities granted by debug profile "
    'may not work. Please consider using "--custom" with a custom profile that specifies '
    '"securityContext.runAsUser: 0".\n'
)


def _run(ctx: Context, args: Args) -> Output:
    count = args.before_dash if args.before_dash >= 0 else len(args.positional)
    names, command = args.positional[:count], list(args.positional[count:])
    images = _pairs(args, "set-image")
    is_attached = args.is_set("attach") if "attach" in args.given else args.is_set("stdin")
    if args.text("profile") not in PROFILES:
        raise Failure(f"unknown profile: {args.text('profile')}")
    custom = custom_profile(ctx, args)
    _check(args, names, command, images, custom, is_attached)
    selection = select(ctx, args, names, default_type="pods" if names else "")
    infos, errors = selection.load(ctx)
    raise_all(errors)
    for info in infos:
        pods.refuse_custom(info)
        if info.kind.kind == "Node":
            pod, container = _on_node(ctx, args, info, command)
        elif info.kind.kind == "Pod" and args.text("copy-to"):
            pod, container = _copied(ctx, args, info.found(), command, images)
        elif info.kind.kind == "Pod":
            pod, container = _beside(ctx, args, info.found(), command)
        else:
            raise Failure(f"{quoted(_gvk(info))} not supported by debug")
        if is_attached and container:
            follow_container(
                ctx, args.screen, pod["metadata"]["namespace"], pod["metadata"]["name"], container
            )
    return args.screen.done()


def _gvk(info: Info) -> str:
    return f"{info.kind.group}/{info.kind.version}, Kind={info.kind.kind}"


def _pairs(args: Args, flag: str) -> dict[str, str]:
    found: dict[str, str] = {}
    for text in args.items(flag):
        key, equals, value = text.partition("=")
        if not equals:
            raise Failure(
                f'invalid argument {quoted(text)} for "--{flag}" flag: {text} must be formatted as key=value\n'
                f"See '{args.path} --help' for usage."
            )
        found[key] = value
    return found


def _check(
    args: Args,
    names: tuple[str, ...],
    command: list[str],
    images: dict[str, str],
    custom: Object | None,
    is_attached: bool,
) -> None:
    image, target = args.text("image"), args.text("target")
    if is_attached and "attach" in args.given and not image and not args.text("container"):
        raise Failure(
            "you must specify --container or create a new container using --image in order to attach."
        )
    if args.text("copy-to"):
        if not image and not images and not command:
            raise Failure("you must specify --image, --set-image or command arguments.")
        if command and not args.text("container") and not image:
            raise Failure("you must specify an existing container or a new image when specifying args.")
    else:
        for flag in ("replace", "same-node"):
            if args.is_set(flag):
                raise Failure(f"--{flag} may only be used with --copy-to.")
        if images:
            raise Failure("--set-image may only be used with --copy-to.")
        if not image:
            raise Failure("you must specify --image when not using --copy-to.")
    if image and not IMAGE.match(image):
        raise Failure(f"invalid image name {quoted(image)}: invalid reference format")
    if not names and not args.items("filename"):
        raise Failure("NAME or filename is required for debug")
    if args.text("image-pull-policy") not in _PULL_POLICIES:
        raise Failure(f"invalid image pull policy: {args.text('image-pull-policy')}")
    for name, text in images.items():
        if not IMAGE.match(text):
            raise Failure(
                f"invalid image name {quoted(text)} for container {quoted(name)}: invalid reference format"
            )
    if target:
        if args.text("copy-to"):
            raise Failure("--target is incompatible with --copy-to. Use --share-processes instead.")
        if not args.is_set("quiet"):
            args.screen.out(_TARGETING.format(quoted(target)))
    if args.is_set("tty") and not args.is_set("stdin"):
        raise Failure("-i/--stdin is required for containers with -t/--tty=true")
    check_profile(custom)
    if args.text("profile") == "legacy":
        args.screen.err(_LEGACY)


def _keep(args: Args) -> Keep:
    return Keep(
        labels=args.is_set("keep-labels"),
        annotations=args.is_set("keep-annotations"),
        liveness=args.is_set("keep-liveness"),
        readiness=args.is_set("keep-readiness"),
        startup=args.is_set("keep-startup"),
        init_containers=args.is_set("keep-init-containers"),
    )


def _new_container(args: Args, name: str, command: list[str]) -> Object:
    container: Object = {
        "name": name,
        "image": args.text("image"),
        "terminationMessagePolicy": "File",
        "resources": {},
    }
    variables = [{"name": key, "value": value} for key, value in _pairs(args, "env").items()]
    if variables:
        container["env"] = variables
    if args.text("image-pull-policy"):
        container["imagePullPolicy"] = args.text("image-pull-policy")
    if command:
        container["args" if args.is_set("arguments-only") else "command"] = command
    for flag in ("stdin", "tty"):
        if args.is_set(flag):
            container[flag] = True
    return container


def _container_name(ctx: Context, args: Args, pod: Object) -> str:
    if args.text("container"):
        return args.text("container")
    spec = pod["spec"]
    taken = {
        item["name"]
        for part in ("containers", "initContainers", "ephemeralContainers")
        for item in spec.get(part) or ()
    }
    attempt = 0
    while True:
        name = f"debugger-{name_suffix(ctx, pod['metadata']['name'], str(len(taken)), str(attempt))}"
        if name not in taken:
            break
        attempt += 1
    if not args.is_set("quiet"):
        args.screen.out(f"Defaulting debug container name to {name}.\n")
    return name


def _beside(ctx: Context, args: Args, pod: Object, command: list[str]) -> tuple[Object, str]:
    """Add an ephemeral container to the pod."""
    name = _container_name(ctx, args, pod)
    container = _new_container(args, name, command)
    if args.text("target"):
        container["targetContainerName"] = args.text("target")
    items = [*(pod["spec"].get("ephemeralContainers") or ()), container]
    changed = {**pod, "spec": {**pod["spec"], "ephemeralContainers": items}}
    changed = with_profile(args.text("profile"), changed, name, EPHEMERAL, _keep(args))
    changed = with_custom(changed, "ephemeralContainers", name, custom_profile(ctx, args))
    _warn(args, changed, changed["spec"]["ephemeralContainers"][-1])
    schema = schema_for("", "v1", "Pod")
    assert schema is not None
    try:
        result = ctx.api.patch(
            "pods",
            pod["metadata"]["namespace"],
            pod["metadata"]["name"],
            create_two_way_patch(pod, changed, schema),
            STRATEGIC_PATCH,
            subresource="ephemeralcontainers",
        )
    except StatusError as error:
        if error.reason == "NotFound" and not (error.status.get("details") or {}).get("name"):
            raise Failure(
                f"ephemeral containers are disabled for this cluster (error from server: {quoted(error.message)})"
            ) from None
        raise
    return result, name


def _warn(args: Args, pod: Object, container: Object) -> None:
    """Say that a capability may not work for a pod whose user is not root."""
    user = (pod["spec"].get("securityContext") or {}).get("runAsUser")
    security = container.get("securityContext")
    if not user or security is None or security.get("runAsUser") == 0:
        return
    if security.get("privileged") or (security.get("capabilities") or {}).get("add"):
        args.screen.err(_NOT_ROOT)


def _copied(
    ctx: Context, args: Args, pod: Object, command: list[str], images: dict[str, str]
) -> tuple[Object, str]:
    """Create a copy of the pod with a debug container, or with other images."""
    metadata: Object = {"name": args.text("copy-to"), "namespace": pod["metadata"]["namespace"]}
    for field in ("annotations", "labels"):
        if pod["metadata"].get(field):
            metadata[field] = pod["metadata"][field]
    spec = {key: value for key, value in pod["spec"].items() if key != "ephemeralContainers"}
    if "share-processes" in args.given:
        spec["shareProcessNamespace"] = args.is_set("share-processes")
    if not args.is_set("same-node"):
        spec.pop("nodeName", None)
    spec["containers"] = [
        {**item, "image": images.get(item["name"]) or images.get("*") or item["image"]}
        for item in spec["containers"]
    ]
    copy: Object = {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec}
    name = args.text("container")
    if not any(item["name"] == name for item in spec["containers"]):
        if not args.text("image"):
            if not images:
                raise Failure("you must specify image when creating new container")
            return _created(ctx, args, pod, copy), ""
        name = name or _container_name(ctx, args, copy)
        added = _new_container(args, name, command)
        spec["containers"] = [*spec["containers"], added]
    else:
        spec["containers"] = [
            _overridden(args, item, command) if item["name"] == name else item for item in spec["containers"]
        ]
    copy = with_profile(args.text("profile"), copy, name, COPY, _keep(args))
    copy = with_custom(copy, "containers", name, custom_profile(ctx, args))
    debugged = next(item for item in copy["spec"]["containers"] if item["name"] == name)
    _warn(args, copy, debugged)
    return _created(ctx, args, pod, copy), name


def _overridden(args: Args, container: Object, command: list[str]) -> Object:
    given = _new_container(args, container["name"], command)
    kept = {
        key: value for key, value in given.items() if key not in ("terminationMessagePolicy", "resources")
    }
    if not kept["image"]:
        del kept["image"]
    changed = {**container, **kept}
    if command and not args.is_set("arguments-only"):
        changed.pop("args", None)
    for flag in ("stdin", "tty"):
        if not args.is_set(flag):
            changed.pop(flag, None)
    return changed


def _created(ctx: Context, args: Args, pod: Object, copy: Object) -> Object:
    created = ctx.api.create("pods", copy["metadata"]["namespace"], copy)
    if args.is_set("replace"):
        name = pod["metadata"]["name"]
        ctx.api.delete("pods", pod["metadata"]["namespace"], name, Options(grace_period_seconds=0))
    return created


def _on_node(ctx: Context, args: Args, info: Info, command: list[str]) -> tuple[Object, str]:
    """Create a pod on the node."""
    container = args.text("container") or "debugger"
    name = f"node-debugger-{info.name}-{name_suffix(ctx, info.name)}"
    if not args.is_set("quiet"):
        args.screen.out(f"Creating debugging pod {name} with container {container} on node {info.name}.\n")
    pod: Object = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "labels": {"app.kubernetes.io/managed-by": "kubectl-debug"}},
        "spec": {
            "containers": [_new_container(args, container, command)],
            "nodeName": info.name,
            "restartPolicy": "Never",
            "tolerations": [{"operator": "Exists"}],
        },
    }
    pod = with_profile(args.text("profile"), pod, container, NODE, _keep(args))
    pod = with_custom(pod, "containers", container, custom_profile(ctx, args))
    return ctx.api.create("pods", ctx.namespace, pod), container


VERB = Verb(
    name="debug",
    usage="debug (POD | TYPE[[.VERSION].GROUP]/NAME) [ -- COMMAND [args...] ]",
    summary="Creates a container for looking into a pod or node.",
    flags=(
        Flag("arguments-only", bool, words="The words behind -- are arguments of the image's command."),
        Flag("attach", bool, words="Wait for the container and attach to it."),
        Flag("container", str, shorthand="c", words="Name of the container."),
        Flag("copy-to", str, words="Name of a copy of the pod."),
        Flag("custom", str, words="File with a container spec."),
        Flag("env", Slice, words="KEY=VALUE for the container."),
        Flag("filename", Slice, shorthand="f", words="File that names the object."),
        Flag("image", str, words="Image of the container."),
        Flag("image-pull-policy", str, words="Always, IfNotPresent or Never."),
        Flag("keep-annotations", bool, words="The copy keeps annotations."),
        Flag("keep-init-containers", bool, default=True, words="The copy keeps init containers."),
        Flag("keep-labels", bool, words="The copy keeps labels."),
        Flag("keep-liveness", bool, words="The copy keeps liveness probes."),
        Flag("keep-readiness", bool, words="The copy keeps readiness probes."),
        Flag("keep-startup", bool, words="The copy keeps startup probes."),
        Flag(
            "profile",
            str,
            default="general",
            words="legacy, general, baseline, netadmin, restricted, sysadmin.",
        ),
        Flag("quiet", bool, shorthand="q", words="Print less."),
        Flag("replace", bool, words="Delete the original pod."),
        Flag("same-node", bool, words="Put the copy on the same node."),
        Flag("set-image", Slice, words="CONTAINER=IMAGE of the copy."),
        Flag(
            "share-processes", bool, default=True, words="Containers of the copy see each other's processes."
        ),
        Flag("stdin", bool, shorthand="i", words="Keep standard input open."),
        Flag("target", str, words="Container whose processes are seen."),
        Flag("tty", bool, shorthand="t", words="Ask for a terminal."),
    ),
    run=_run,
    source="k8s.io/kubectl pkg/cmd/debug",
)
