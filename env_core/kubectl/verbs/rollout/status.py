"""`kubectl rollout status`: until the rollout is over."""

from __future__ import annotations

from env_core.apiserver.errors import StatusError
from env_core.kubectl import pods
from env_core.kubectl.context import Context
from env_core.kubectl.resolve import Info
from env_core.kubectl.screen import Failure, raise_all
from env_core.kubectl.verb import Args, Duration, Flag, Verb
from env_core.kubectl.verbs.rollout._arguments import TARGET_FLAGS, check_named, targets
from env_core.kubectl.verbs.rollout._status import rollout_status
from env_core.world import Object, Output

_BOUND_MS = 15 * 60 * 1000
"""How long to watch without --timeout: the real command never ends then."""
_TIMED_OUT = "timed out waiting for the condition"


def _run(ctx: Context, args: Args) -> Output:
    check_named(args)
    if args.number("revision") < 0:
        raise Failure(f"revision must be a positive integer: {args.number('revision')}")
    infos, errors = targets(ctx, args)
    failures: list[Exception] = []
    for info in infos:
        try:
            _follow(ctx, args, info)
        except (Failure, StatusError) as failure:
            failures.append(failure)
    failures.extend(errors)
    raise_all(failures)
    return args.screen.done()


def _follow(ctx: Context, args: Args, info: Info) -> None:
    """Print how far the rollout is, whenever the object changes, until it is over.

    Raises:
        Failure: when it fails, takes too long, or the object goes.
    """
    pods.refuse_custom(info)
    revision = args.number("revision")
    last: Object | None = info.found()
    is_done = False

    def look(obj: Object) -> bool:
        status = rollout_status(obj, revision)
        args.screen.out(status.message)
        return status.is_done or not args.is_set("watch")

    assert last is not None
    if look(last):
        return

    def has_ended() -> bool:
        nonlocal last, is_done
        now = ctx.api.find(info.kind.resource, info.namespace, info.name)
        if now is None:
            last = None
            return True
        if now is last or now == last:
            return False
        last = now
        is_done = look(now)
        return is_done

    if not ctx.clock.advance_until(has_ended, args.number("timeout") or _BOUND_MS):
        raise Failure(_TIMED_OUT)
    if last is None:
        raise Failure("object has been deleted")


VERB = Verb(
    name="status",
    usage="rollout status (TYPE NAME | TYPE/NAME) [flags]",
    summary="Shows how far a rollout is.",
    flags=(
        *TARGET_FLAGS,
        Flag("revision", int, words="Only this revision."),
        Flag("timeout", Duration, default="0s", words="How long to watch; 0 means to the end."),
        Flag("watch", bool, shorthand="w", default=True, words="Go on until the rollout is over."),
    ),
    run=_run,
    source="k8s.io/kubectl pkg/cmd/rollout rollout_status.go",
)
