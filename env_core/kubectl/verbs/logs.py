"""`kubectl logs`: what containers have printed."""

from __future__ import annotations

from dataclasses import replace

from env_core.apiserver.errors import StatusError
from env_core.apiserver.request import LogOptions
from env_core.kubectl import pods
from env_core.kubectl.context import Context
from env_core.kubectl.resolve import Info, Listing, kind_named, select_one
from env_core.kubectl.screen import Failure, usage_failure
from env_core.kubectl.verb import SELECTOR, Args, Duration, Flag, Verb
from env_core.kubectl.verbs._streams import Source, follow, prefixed
from env_core.sim.timefmt import parse_ms
from env_core.world import Object, Output

_USAGE = (
    "expected 'logs [-f] [-p] (POD | TYPE/NAME) [-c CONTAINER]'.\n"
    "POD or TYPE/NAME is a required argument for the logs command"
)
_SELECTED_TAIL = 10


def _run(ctx: Context, args: Args) -> Output:
    words = args.positional
    selector = args.text("selector").strip()
    if not words and not selector:
        raise usage_failure(args.path, _USAGE)
    if len(words) > 2:
        raise usage_failure(args.path, _USAGE)
    if words and selector:
        raise usage_failure(args.path, "only a selector (-l) or a POD name is allowed")
    container = args.text("container")
    if len(words) == 2:
        container = words[1]
    _check_time(args)
    info: Info | None = None
    found: list[Object] = []
    if selector:
        found = Listing(kind_named(ctx, "pods"), ctx.namespace, selector).fetch(ctx)
        if not found:
            args.screen.err(f"No resources found in {ctx.namespace} namespace.\n")
    else:
        info = _find(ctx, args, words[0])
    _check(args, container)
    options = _options(args, bool(selector))
    if info is None:
        sources = [source for pod in found for source in _sources(args, pod, container)]
    else:
        sources = _sources_of(ctx, args, info, container)
    limit = args.number("max-log-requests")
    if args.is_set("follow") and len(sources) > limit:
        raise Failure(
            f"you are attempting to follow {len(sources)} log streams, but maximum allowed concurrency is {limit}, "
            "use --max-log-requests to increase the limit"
        )
    _print(ctx, args, sources, options)
    return args.screen.done()


def _check_time(args: Args) -> None:
    since_time = args.text("since-time")
    if since_time:
        try:
            parse_ms(since_time)
        except ValueError:
            raise Failure(
                f'parsing time "{since_time}" as "2006-01-02T15:04:05Z07:00": cannot parse "{since_time}" as "2006"'
            ) from None


def _check(args: Args, container: str) -> None:
    """Refuse flags that do not go together; the object has been looked up before.

    Raises:
        Failure: for the first of them.
    """
    if args.text("since-time") and args.number("since"):
        raise Failure("at most one of `sinceTime` or `sinceSeconds` may be specified")
    if args.is_set("all-containers") and container:
        raise Failure(f"--all-containers=true should not be specified with container name {container}")
    if "container" in args.given and len(args.positional) == 2:
        raise Failure("only one of -c or an inline [CONTAINER] arg is allowed")
    if args.number("limit-bytes") < 0:
        raise Failure("--limit-bytes must be greater than 0")
    if _seconds(args.number("since")) < 0:
        raise Failure("--since must be greater than 0")
    if args.number("tail") < -1:
        raise Failure("--tail must be greater than or equal to -1")


def _seconds(milliseconds: int) -> int:
    """Round as Go's Duration.Round does: half away from zero."""
    whole = (abs(milliseconds) + 500) // 1000
    return whole if milliseconds > 0 else -whole


def _options(args: Args, is_selected: bool) -> LogOptions:
    since_ms, tail = args.number("since"), args.number("tail")
    tail_lines = tail if tail != -1 else None
    if is_selected and "tail" not in args.given:
        tail_lines = _SELECTED_TAIL
    return LogOptions(
        previous=args.is_set("previous"),
        timestamps=args.is_set("timestamps"),
        tail_lines=tail_lines,
        since_seconds=_seconds(since_ms) if since_ms else None,
        since_time=args.text("since-time"),
        limit_bytes=args.number("limit-bytes") or None,
    )


def _find(ctx: Context, args: Args, word: str) -> Info:
    """Return the object whose logs are asked for.

    Raises:
        Failure: when it does not exist, in the words of `logs`.
    """
    info = select_one(ctx, args, word, "pods")
    pods.refuse_custom(info)
    try:
        return info.fetch(ctx)
    except StatusError as error:
        if error.code == 404:
            raise Failure(
                f'error from server (NotFound): {error.message} in namespace "{ctx.namespace}"'
            ) from None
        raise


def _sources_of(ctx: Context, args: Args, info: Info, container: str) -> list[Source]:
    if info.kind.kind == "Pod":
        return _sources(args, info.found(), container)
    selector = pods.pod_selector(info, "cannot get the logs from")
    if args.is_set("all-pods"):
        found = ctx.api.list("pods", info.namespace, label_selector=selector)
        if not found:
            raise Failure(
                f"timed out waiting for the condition: no pods found for {info.kind.kind} {info.name}"
            )
        return [source for pod in pods.by_logging(found) for source in _sources(args, pod, container)]
    pod, count = pods.first_pod(
        ctx, info.namespace, selector, args.number("pod-running-timeout"), pods.by_logging
    )
    if count > 1:
        args.screen.err(f"Found {count} pods, using pod/{pod['metadata']['name']}\n")
    return _sources(args, pod, container)


def _sources(args: Args, pod: Object, container: str) -> list[Source]:
    metadata = pod["metadata"]
    if args.is_set("all-containers"):
        return [
            Source(metadata.get("namespace", ""), metadata["name"], one["name"])
            for part in ("initContainers", "containers", "ephemeralContainers")
            for one in pods.containers(pod, part)
        ]
    name = pods.chosen_container(pod, container, args.screen)
    return [Source(metadata.get("namespace", ""), metadata["name"], name)]


def _print(ctx: Context, args: Args, sources: list[Source], options: LogOptions) -> None:
    has_prefix = args.is_set("prefix") or args.is_set("all-pods")
    started_ms = ctx.clock.now_ms
    for source in sources:
        try:
            text = _read(ctx, source, options)
        except StatusError as error:
            if not args.is_set("ignore-errors"):
                raise
            args.screen.out(f"error: {error.message}\n")
            continue
        args.screen.out(prefixed(text, source.prefix) if has_prefix else text)
    if args.is_set("follow") and sources:
        follow(ctx, args, sources, options, started_ms, has_prefix)


def _read(ctx: Context, source: Source, options: LogOptions) -> str:
    return ctx.api.logs(source.namespace, source.pod, replace(options, container=source.container))


VERB = Verb(
    name="logs",
    usage="logs [-f] [-p] (POD | TYPE/NAME) [-c CONTAINER]",
    summary="Shows what containers have printed.",
    flags=(
        Flag("all-containers", bool, words="Every container of the pod."),
        Flag("all-pods", bool, words="Every pod of the object, with prefixes."),
        Flag("container", str, shorthand="c", words="The container."),
        Flag("follow", bool, shorthand="f", words="Go on with what is printed."),
        Flag("ignore-errors", bool, words="Go on after errors."),
        Flag("insecure-skip-tls-verify-backend", bool, words="Trust any kubelet certificate."),
        Flag("limit-bytes", int, words="Most bytes to print."),
        Flag("max-log-requests", int, default=5, words="Most streams to follow."),
        Flag("pod-running-timeout", Duration, default="20s", words="How long to wait for a pod."),
        Flag("prefix", bool, words="Put pod and container before each line."),
        Flag("previous", bool, shorthand="p", words="The log of the instance before."),
        SELECTOR,
        Flag("since", Duration, default="0s", words="Only what is not older."),
        Flag("since-time", str, words="Only what is newer."),
        Flag("tail", int, default=-1, words="Only that many last lines."),
        Flag("timestamps", bool, words="Put the time before each line."),
    ),
    run=_run,
    source="k8s.io/kubectl pkg/cmd/logs",
)
