"""`kubectl apply view-last-applied`: the configuration that apply keeps with an object."""

from __future__ import annotations

import json
from typing import Any

from env_core.kubectl.context import Context
from env_core.kubectl.last_applied import original_text
from env_core.kubectl.resolve import select
from env_core.kubectl.screen import Failure, raise_all, usage_failure
from env_core.kubectl.verb import ALL, FILE_FLAGS, SELECTOR, Args, Flag, Verb
from env_core.objects import gojson
from env_core.objects.yamlin import YamlProblem, read_yaml
from env_core.objects.yamlout import to_yaml
from env_core.world import Output


def _run(ctx: Context, args: Args) -> Output:
    infos, errors = select(
        ctx,
        args,
        args.positional,
        allows_no_selector=ctx.is_namespace_explicit,
        selects_all=args.is_set("all"),
    ).load(ctx)
    raise_all(errors[:1])
    chosen = args.text("output")
    for info in infos:
        text = original_text(info.found())
        if text is None:
            # The real command wraps an error that is nil: without a file in front of it, nothing is told.
            if info.source:
                raise Failure(
                    f"error when no last-applied-configuration annotation found on resource: {info.name}\n "
                    f'"{info.source}": <nil>'
                )
            continue
        if chosen == "json":
            problem = gojson.syntax_problem(text)
            if problem:
                raise Failure(problem)
            args.screen.out(json.dumps(gojson.loads(text), indent=2, ensure_ascii=False) + "\n")
        elif chosen == "yaml":
            args.screen.out(to_yaml(_read(text)))
        else:
            raise usage_failure(
                args.path, f"Unexpected -o output mode: {chosen}, the flag 'output' must be one of yaml|json"
            )
    return args.screen.done()


def _read(text: str) -> Any:
    """Return the annotation's value, which anybody may have written: the real command reads it as YAML."""
    try:
        return gojson.loads(text)
    except (ValueError, RecursionError):
        try:
            return read_yaml(text)
        except YamlProblem as problem:
            raise Failure(f"yaml: {problem}") from None


VERB = Verb(
    name="view-last-applied",
    usage="apply view-last-applied (TYPE [NAME | -l label] | TYPE/NAME | -f FILENAME)",
    summary="Shows what was last applied to an object.",
    flags=(
        *FILE_FLAGS,
        ALL,
        SELECTOR,
        Flag("output", str, shorthand="o", default="yaml", words="yaml or json."),
    ),
    run=_run,
    source="k8s.io/kubectl pkg/cmd/apply apply_view_last_applied.go",
)
