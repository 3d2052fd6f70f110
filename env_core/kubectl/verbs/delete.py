"""`kubectl delete`: objects gone, and waiting until they are."""

from __future__ import annotations

from collections.abc import Sequence

from env_core.apiserver.errors import StatusError
from env_core.apiserver.request import Options
from env_core.kubectl.cascade import CASCADE, cascade_of
from env_core.kubectl.context import Context
from env_core.kubectl.dry_run import dry_run_of
from env_core.kubectl.raw import body_of, check, send
from env_core.kubectl.resolve import Info, Selection, info_of, kind_label, select
from env_core.kubectl.screen import Failure, raise_all
from env_core.kubectl.verb import (
    ALL_NAMESPACES,
    DRY_RUN,
    FIELD_SELECTOR,
    FILE_FLAGS,
    SELECTOR,
    Args,
    Duration,
    Flag,
    Verb,
)
from env_core.kubectl.writes import BOUND_MS, with_source
from env_core.world import Output

_IMMEDIATE = (
    "Immediate deletion does not wait for confirmation that the running resource has been terminated. "
    "The resource may continue to run on the cluster indefinitely."
)
_NOTES = {"client": " (dry run)", "server": " (server dry run)"}
DELETE_FLAGS = (
    CASCADE,
    Flag("force", bool, words="Delete at once, without a graceful end."),
    Flag("grace-period", int, default=-1, words="Seconds that a pod gets to end; negative for its own."),
    Flag("timeout", Duration, default="0s", words="How long to wait for the end."),
)

_OUTPUTS = "unexpected -o output mode: {}. We only support '-o name'"


def _run(ctx: Context, args: Args) -> Output:
    if args.text("raw"):
        if args.text("output") not in ("", "name"):
            raise Failure(_OUTPUTS.format(args.text("output")))
        if args.is_set("interactive"):
            raise Failure("--interactive can not be used with --raw")
        check(args)
        files = args.items("filename")
        return send(ctx, args, "DELETE", body_of(ctx, files[0]) if files else "")
    policy = cascade_of(args)
    grace = args.number("grace-period")
    by_selector = args.is_set("all") or bool(args.text("selector")) or bool(args.text("field-selector"))
    ignores_missing = args.is_set("ignore-not-found")
    if by_selector and "ignore-not-found" not in args.given:
        ignores_missing = True
    if args.is_set("now"):
        if grace != -1:
            raise Failure("--now and --grace-period cannot be specified together")
        grace = 1
    grace = effective_grace(grace, is_forced=args.is_set("force"))
    dry_run = dry_run_of(ctx, args)
    if args.is_set("all") and args.text("selector"):
        raise Failure("setting 'all' parameter but found a non empty selector. ")
    warns_cluster_scope = ctx.is_namespace_explicit and not args.is_set("all-namespaces")
    if args.is_set("all-namespaces"):
        ctx.is_namespace_explicit = False
    selection = select(ctx, args, args.positional, selects_all=args.is_set("all"))
    output = args.text("output")
    if output not in ("", "name"):
        raise Failure(_OUTPUTS.format(output))
    if args.is_set("force"):
        if grace > 0:
            raise Failure("--force and --grace-period greater than 0 cannot be specified together")
        args.screen.err(f"Warning: {_IMMEDIATE}\n")
    deletion = Deletion(
        ctx,
        args,
        policy=policy,
        grace=grace,
        dry_run=dry_run,
        ignores_missing=ignores_missing,
        warns_cluster_scope=warns_cluster_scope,
        prints_names=output == "name",
    )
    if args.is_set("interactive") and not deletion.is_confirmed(selection):
        return args.screen.done()
    deletion.run(selection, waits=args.is_set("wait"), timeout_ms=args.number("timeout"))
    return args.screen.done()


def effective_grace(grace: int, *, is_forced: bool) -> int:
    """Return the grace period that is sent; negative for none."""
    if grace == 0 and not is_forced:
        return 1
    return 0 if is_forced and grace < 0 else grace


class Deletion:
    """Deletes what a selection means, prints each, and waits."""

    def __init__(
        self,
        ctx: Context,
        args: Args,
        *,
        policy: str,
        grace: int,
        dry_run: str,
        ignores_missing: bool,
        warns_cluster_scope: bool = False,
        prints_names: bool = False,
    ) -> None:
        self._ctx = ctx
        self._args = args
        self._options = Options(
            propagation_policy=policy,
            grace_period_seconds=grace if grace >= 0 else None,
            dry_run=dry_run == "server",
        )
        self._grace = grace
        self._dry_run = dry_run
        self._ignores_missing = ignores_missing
        self._warns_cluster_scope = warns_cluster_scope
        self._prints_names = prints_names

    def run(self, selection: Selection, *, waits: bool, timeout_ms: int) -> None:
        """Delete everything, going on after errors; then wait, if asked for.

        Raises:
            StatusError: the only refusal.
            Failures: several of them.
            Failure: when an object does not go in time.
        """
        infos, errors = self._infos(selection)
        deleted: list[tuple[Info, str]] = []
        failures: list[Exception] = []
        for info in infos:
            try:
                uid = self._delete(info)
            except Failure as failure:
                failures.append(failure)
                continue
            except StatusError as error:
                if not (self._ignores_missing and error.code == 404):
                    failures.append(error)
                continue
            deleted.append((info, uid))
        raise_all([*failures, *errors])
        if not infos:
            self._args.screen.out("No resources found\n")
        elif waits and not self._dry_run:
            self._wait(deleted, timeout_ms)

    def _infos(self, selection: Selection) -> tuple[list[Info], list[Exception]]:
        infos = list(selection.infos)
        errors: list[Exception] = []
        for listing in selection.listings:
            try:
                infos.extend(info_of(self._ctx, obj, listing.kind) for obj in listing.fetch(self._ctx))
            except StatusError as error:
                if not (self._ignores_missing and error.code == 404):
                    errors.append(error)
        return infos, [*errors, *selection.errors]

    def is_confirmed(self, selection: Selection) -> bool:
        """Ask whether to delete; standard input answers."""
        infos, errors = self._infos(selection)
        raise_all(errors)
        out = self._args.screen.out
        if not infos:
            out("No resources found\n")
            return False
        out(f"You are about to delete the following {len(infos)} resource(s):\n")
        for info in infos:
            out(f"{info.label}\n")
        out("Do you want to continue? (y/N): ")
        words = self._ctx.stdin.split("\n", 1)[0].split()
        if words[:1] and words[0].lower() == "y":
            return True
        out("deletion is cancelled\n")
        return False

    def _delete(self, info: Info) -> str:
        """Delete one object and return its uid, "" when that is not known."""
        if self._warns_cluster_scope and not info.kind.is_namespaced:
            self._args.screen.err(
                "Warning: deleting cluster-scoped resources, not scoped to the provided namespace\n"
            )
            self._warns_cluster_scope = False
        if self._dry_run == "client":
            self._print(info)
            return ""
        try:
            info.check_name()
            answer = self._ctx.api.delete(info.kind.resource, info.namespace, info.name, self._options)
        except (StatusError, Failure) as error:
            raise with_source("deleting", info.source, error) from None
        self._print(info)
        if answer.get("kind") == "Status":
            return str((answer.get("details") or {}).get("uid", ""))
        return str((answer.get("metadata") or {}).get("uid", ""))

    def _print(self, info: Info) -> None:
        if self._prints_names:
            self._args.screen.out(f"{info.label}\n")
            return
        operation = "force deleted" if self._grace == 0 else "deleted"
        where = f" from {info.namespace} namespace" if info.kind.is_namespaced else ""
        note = _NOTES.get(self._dry_run, "")
        self._args.screen.out(f'{kind_label(info.kind)} "{info.name}" {operation}{where}{note}\n')

    def _wait(self, deleted: Sequence[tuple[Info, str]], timeout_ms: int) -> None:
        ctx = self._ctx
        deadline_ms = ctx.clock.now_ms + (timeout_ms or BOUND_MS)
        failures: list[Exception] = []
        for info, uid in deleted:

            def is_gone(info: Info = info, uid: str = uid) -> bool:
                found = ctx.api.find(info.kind.resource, info.namespace, info.name)
                return found is None or bool(uid and found["metadata"].get("uid") != uid)

            try:
                left_ms = deadline_ms - ctx.clock.now_ms
                if is_gone() or (left_ms > 0 and ctx.clock.advance_until(is_gone, left_ms)):
                    continue
            except StatusError as error:
                # Who may delete but not look does not wait.
                if error.code in (403, 405):
                    return
                raise
            failures.append(Failure(f"timed out waiting for the condition on {info.slash}"))
        raise_all(failures)


VERB = Verb(
    name="delete",
    usage="delete ([-f FILENAME] | [-k DIRECTORY] | TYPE [(NAME | -l label | --all)])",
    summary="Deletes objects by file, name or selector.",
    flags=(
        *FILE_FLAGS,
        *DELETE_FLAGS,
        ALL_NAMESPACES,
        DRY_RUN,
        FIELD_SELECTOR,
        SELECTOR,
        Flag("all", bool, words="Delete all objects of the types in the namespace."),
        Flag("ignore-not-found", bool, words="Do not fail when an object does not exist."),
        Flag("interactive", bool, shorthand="i", words="Ask first."),
        Flag("now", bool, words="The same as --grace-period=1."),
        Flag("output", str, shorthand="o", words="name, for TYPE/NAME only."),
        Flag("raw", str, words="Path to delete on the server."),
        Flag("wait", bool, default=True, words="Wait until the objects are gone."),
    ),
    run=_run,
    source="k8s.io/kubectl pkg/cmd/delete",
)
