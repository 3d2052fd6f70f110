"""`kubectl autoscale`: a horizontal pod autoscaler for a workload."""

from __future__ import annotations

import re

from env_core.apiserver.errors import StatusError
from env_core.kubectl.context import Context
from env_core.kubectl.dry_run import dry_run_of
from env_core.kubectl.last_applied import saved
from env_core.kubectl.resolve import Info, select
from env_core.kubectl.screen import Failure, raise_all
from env_core.kubectl.verb import DRY_RUN, FILE_FLAGS, PRINT_FLAGS, Args, Flag, Int32, Verb, field_manager
from env_core.kubectl.writes import SAVE_CONFIG, as_typed, options_of, result_printer_of
from env_core.objects import quantity
from env_core.world import Object, Output

_NUMBER = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?\Z")
_UNITS = {"cpu": "m", "memory": "Mi"}
_PERCENT_ADVICE = "Use --cpu with percentage or resource quantity format (e.g., '70%' for utilization or '500m' for milliCPU)."


def _run(ctx: Context, args: Args) -> Output:
    dry_run = dry_run_of(ctx, args)
    printer = result_printer_of(ctx, args, dry_run, is_typed=True)
    metrics = _checked_metrics(args)
    infos, errors = select(ctx, args, args.positional, is_served=True).read(ctx)
    failures: list[Exception] = []
    for info in infos:
        try:
            obj = as_typed(_autoscaler(ctx, args, info, metrics))
            if dry_run == "client":
                printer("created").print(obj, args.screen)
                continue
            obj = saved(obj, is_wanted=args.is_set("save-config"), is_typed=True)
            obj = _create(ctx, args, obj, dry_run)
            printer("autoscaled").print(obj, args.screen)
        except (Failure, StatusError) as error:
            failures.append(error)
    raise_all([*failures, *errors])
    if not infos:
        raise Failure("no objects passed to autoscale")
    return args.screen.done()


def _create(ctx: Context, args: Args, obj: Object, dry_run: str) -> Object:
    """Create the autoscaler.

    Raises:
        Failure: instead of the server's reason, when version 1 of the API could not say the same.
    """
    try:
        return ctx.api.create(
            "horizontalpodautoscalers.autoscaling", ctx.namespace, obj, options=options_of(args, dry_run)
        )
    except StatusError:
        cpu = args.text("cpu").strip()
        head = (
            "failed to create autoscaling/v2 HPA and the configuration is incompatible with autoscaling/v1: "
        )
        if not cpu:
            raise Failure(f"{head}empty input") from None
        is_percentage_only = not args.text("memory") and cpu.endswith("%")
        if not is_percentage_only and (args.number("cpu-percent") < 0 or args.text("memory")):
            raise Failure(f"{head}%!w(<nil>)") from None
        raise


def _checked_metrics(args: Args) -> list[Object]:
    least, most, percent = args.number("min"), args.number("max"), args.number("cpu-percent")
    if most < 1:
        raise Failure(f"--max=MAXPODS is required and must be at least 1, max: {most}")
    if most < least:
        raise Failure(f"--max=MAXPODS must be larger or equal to --min=MINPODS, max: {most}, min: {least}")
    if percent > 0 and args.text("cpu"):
        raise Failure("--cpu-percent and --cpu are mutually exclusive")
    metrics: list[Object] = []
    if percent > 0:
        metrics.append(_metric("cpu", {"type": "Utilization", "averageUtilization": percent}))
    named = [name for name in ("cpu", "memory") if args.text(name)]
    return [*metrics, *(_metric(name, _target(name, args.text(name))) for name in named)]


def _metric(name: str, target: Object) -> Object:
    return {"type": "Resource", "resource": {"name": name, "target": target}}


def _target(name: str, text: str) -> Object:
    text = text.strip()
    if not text:
        raise Failure("empty input")
    if text.endswith("%"):
        digits = text[:-1]
        if not digits.isdigit():
            raise Failure(f"invalid percentage value: {text}")
        return {"type": "Utilization", "averageUtilization": int(digits)}
    if _NUMBER.match(text):
        number = float(text)
        text = f"{int(number) if number.is_integer() else number}{_UNITS[name]}"
    try:
        value = str(quantity.parse(text))
    except ValueError:
        raise Failure(f"invalid resource {name} value: {text}") from None
    return {"type": "AverageValue", "averageValue": value}


def _autoscaler(ctx: Context, args: Args, info: Info, metrics: list[Object]) -> Object:
    kind = info.kind
    if "scale" not in kind.subresources:
        place = f"{kind.group}/{kind.version}, Resource={kind.plural}"
        raise Failure(
            f"cannot autoscale a {kind.kind}: could not find scale subresource for {place} in discovery information"
        )
    metadata: Object = {"name": args.text("name") or info.name}
    if ctx.is_namespace_explicit:
        metadata["namespace"] = ctx.namespace
    spec: Object = {
        "scaleTargetRef": {"apiVersion": kind.api_version, "kind": kind.kind, "name": info.name},
        "maxReplicas": args.number("max"),
    }
    if args.number("min") > 0:
        spec["minReplicas"] = args.number("min")
    if metrics:
        spec["metrics"] = metrics
    return {
        "apiVersion": "autoscaling/v2",
        "kind": "HorizontalPodAutoscaler",
        "metadata": metadata,
        "spec": spec,
    }


VERB = Verb(
    name="autoscale",
    usage=(
        "autoscale (-f FILENAME | TYPE NAME | TYPE/NAME) [--min=MINPODS] --max=MAXPODS [--cpu=CPU] [--memory=MEMORY]"
    ),
    summary="Creates an autoscaler for a workload.",
    flags=(
        *PRINT_FLAGS,
        *FILE_FLAGS,
        DRY_RUN,
        SAVE_CONFIG,
        field_manager("kubectl-autoscale"),
        Flag("cpu", str, words="Target for cpu: a percentage or a quantity."),
        Flag("cpu-percent", Int32, default=-1, words="Target for cpu.", deprecated=_PERCENT_ADVICE),
        Flag("max", Int32, default=-1, is_required=True, words="Most replicas."),
        Flag("memory", str, words="Target for memory: a percentage or a quantity."),
        Flag("min", Int32, default=-1, words="Least replicas."),
        Flag("name", str, words="Name of the autoscaler."),
    ),
    run=_run,
    source="k8s.io/kubectl pkg/cmd/autoscale",
)
