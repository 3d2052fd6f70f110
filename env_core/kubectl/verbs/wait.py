"""`kubectl wait`: until objects are as asked for.

Source: k8s.io/kubectl pkg/cmd/wait; tests/golden/l2/kubectl, tests/golden/l2/flows.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from env_core.apiserver.errors import StatusError
from env_core.kubectl.context import Context
from env_core.kubectl.output.printing import result_printer
from env_core.kubectl.resolve import Info, Selection, select
from env_core.kubectl.screen import Failure, raise_all
from env_core.kubectl.verb import (
    ALL,
    ALL_NAMESPACES,
    FIELD_SELECTOR,
    PRINT_FLAGS,
    SELECTOR,
    Args,
    Array,
    Duration,
    Flag,
    Slice,
    Verb,
)
from env_core.objects import jsonpath
from env_core.objects.goformat import value_text
from env_core.objects.problems import quoted
from env_core.world import Object, Output

_WEEK_MS = 7 * 24 * 3600 * 1000
_TIMED_OUT = "timed out waiting for the condition on"
_NOT_MET = "condition not met for"
_NO_VALUE = (
    "jsonpath wait has to have a value after equal sign, like --for=jsonpath='{.status.readyReplicas}'=3"
)

_JSONPATH_FORM = (
    "jsonpath wait format must be --for=jsonpath='{.status.readyReplicas}'=3 or "
    "--for=jsonpath='{.status.readyReplicas}'"
)

_Check = Callable[[Object], bool]


@dataclass(frozen=True, slots=True)
class _Goal:
    """What the objects are waited for; `check` is None for deletion."""

    check: _Check | None


def _run(ctx: Context, args: Args) -> Output:
    wanted = list(args.items("for"))
    waits_for_creation = False
    goals: list[_Goal] = []
    if not wanted:
        raise Failure("unrecognized condition: []")
    for text in wanted:
        if text.lower() == "create":
            waits_for_creation = True
        else:
            goals.append(_goal(text))
    if args.is_set("all-namespaces"):
        ctx.is_namespace_explicit = False
    timeout_ms = args.number("timeout")
    deadline_ms = ctx.clock.now_ms + (_WEEK_MS if timeout_ms < 0 else timeout_ms)
    words = args.positional
    selection = select(ctx, args, words, allows_no_selector=False, selects_all=args.is_set("all"))
    if waits_for_creation:
        _wait_for_creation(ctx, selection, deadline_ms)
        goals = goals or [_Goal(lambda _obj: True)]
    is_for_deletion = any(goal.check is None for goal in goals)
    infos, errors = selection.load(ctx, ignore_not_found=is_for_deletion)
    printer = result_printer(ctx, args, "condition met")
    failures: list[Exception] = []
    has_expired = False
    late = _TIMED_OUT if timeout_ms else _NOT_MET
    for info in infos:
        try:
            obj = info.found()
            for goal in goals:
                obj = _wait(
                    ctx, info, obj, goal, deadline_ms, f"{late} {info.slash}", has_expired and timeout_ms != 0
                )
            printer.print(obj, args.screen)
        except (Failure, StatusError) as failure:
            failures.append(failure)
            has_expired = has_expired or ctx.clock.now_ms >= deadline_ms
    failures.extend(errors)
    if not infos and not failures and not is_for_deletion:
        raise Failure("no matching resources found")
    raise_all(failures)
    return args.screen.done()


def _goal(text: str) -> _Goal:
    if text.lower() == "delete":
        return _Goal(None)
    if text.startswith("condition="):
        name, equals, status = text[len("condition=") :].partition("=")
        return _Goal(_condition(name, status if equals else "true"))
    if text.startswith("jsonpath="):
        return _Goal(_jsonpath(text[len("jsonpath=") :]))
    raise Failure(f"unrecognized condition: {quoted(text)}")


def _condition(name: str, status: str) -> _Check:
    def check(obj: Object) -> bool:
        generation = obj["metadata"].get("generation")
        whole = obj.get("status") or {}
        for condition in whole.get("conditions") or ():
            if str(condition.get("type", "")).casefold() != name.casefold():
                continue
            observed = condition.get("observedGeneration", whole.get("observedGeneration"))
            if generation is not None and observed is not None and observed < generation:
                return False
            return str(condition.get("status", "")).casefold() == status.casefold()
        return False

    return check


def _jsonpath(text: str) -> _Check:
    expression, value = _split_jsonpath(text)
    try:
        path = jsonpath.compiled(expression)
    except jsonpath.JSONPathError as error:
        raise Failure(str(error)) from None

    def check(obj: Object) -> bool:
        try:
            found = path.find(obj, allow_missing=False)
        except jsonpath.JSONPathError:
            return False
        if not found or not found[0]:
            return False
        if value is None:
            return True
        if len(found) > 1:
            raise Failure("given jsonpath expression matches more than one list")
        if len(found[0]) > 1:
            raise Failure("given jsonpath expression matches more than one value")
        one: Any = found[0][0]
        if isinstance(one, (dict, list)):
            raise Failure("jsonpath leads to a nested object or list which is not supported")
        return value_text(one) == value

    return check


def _split_jsonpath(text: str) -> tuple[str, str | None]:
    """Return the expression, braces added, and the value after it; None when there is none."""
    # Split at single signs only; two in a row belong to the expression.
    parts = [part.replace("\0", "==") for part in text.replace("==", "\0").split("=")]
    if len(parts) > 2:
        raise Failure(_JSONPATH_FORM)
    expression = parts[0]
    if not expression:
        raise Failure("jsonpath expression cannot be empty")
    try:
        expression = jsonpath.relaxed(expression)
    except jsonpath.JSONPathError as error:
        raise Failure(str(error)) from None
    if len(parts) == 1:
        return expression, None
    value = parts[1].strip("'\"")
    if not value:
        raise Failure(_NO_VALUE)
    return expression, value


def _wait_for_creation(ctx: Context, selection: Selection, deadline_ms: int) -> None:
    def is_there() -> bool:
        try:
            for info in selection.infos:
                info.fetch(ctx)
            for listing in selection.listings:
                if not listing.fetch(ctx):
                    return False
        except StatusError as error:
            if error.code == 404:
                return False
            raise
        return True

    if not _until(ctx, is_there, deadline_ms):
        raise Failure(_TIMED_OUT.removesuffix(" on"))


def _until(ctx: Context, is_met: Callable[[], bool], deadline_ms: int) -> bool:
    if is_met():
        return True
    left_ms = deadline_ms - ctx.clock.now_ms
    return left_ms > 0 and ctx.clock.advance_until(is_met, left_ms)


def _wait(
    ctx: Context, info: Info, obj: Object, goal: _Goal, deadline_ms: int, late: str, has_expired: bool
) -> Object:
    """Return the object as it is when the goal is reached; `late` is the error when it is not in time.

    Raises:
        Failure: when it is not reached in time.
    """
    last = obj
    uid = obj["metadata"].get("uid")
    if goal.check is None:
        if has_expired:
            raise Failure("context deadline exceeded")

        def is_gone() -> bool:
            found = ctx.api.find(info.kind.resource, info.namespace, info.name)
            return found is None or found["metadata"].get("uid") != uid

        if not _until(ctx, is_gone, deadline_ms):
            raise Failure(late)
        return obj
    if has_expired:
        raise Failure(late)
    check = goal.check
    if check(obj):
        return obj

    def is_met() -> bool:
        nonlocal last
        found = ctx.api.find(info.kind.resource, info.namespace, info.name)
        if found is None:
            return False
        last = found
        return check(found)

    if not _until(ctx, is_met, deadline_ms):
        raise Failure(late)
    return last


VERB = Verb(
    name="wait",
    usage=(
        "wait ([-f FILENAME] | resource.group/resource.name | resource.group [(-l label | --all)]) "
        "[--for=create|--for=delete|--for condition=available|--for=jsonpath='{}'[=value]]"
    ),
    summary="Waits until objects are as asked for.",
    flags=(
        *PRINT_FLAGS,
        ALL,
        ALL_NAMESPACES,
        FIELD_SELECTOR,
        SELECTOR,
        Flag("filename", Slice, shorthand="f", words="File, directory or - that names the objects."),
        Flag("for", Array, words="What to wait for; several are waited for in turn."),
        Flag("local", bool, words="Do not ask the server."),
        Flag("recursive", bool, shorthand="R", default=True, words="Descend into directories of -f."),
        Flag(
            "timeout",
            Duration,
            default="30s",
            words="How long to wait; 0 checks once, less than 0 waits a week.",
        ),
    ),
    run=_run,
    source="k8s.io/kubectl pkg/cmd/wait",
)
