"""`get --raw`: a path of the server, and what it answers."""

from __future__ import annotations

import re
from urllib.parse import parse_qsl

from env_core.apiserver.about import SERVER_VERSION
from env_core.apiserver.errors import StatusError, resource_unknown, status
from env_core.apiserver.request import Options
from env_core.apiserver.typed import in_type_order, list_in_type_order
from env_core.kubectl.context import Context
from env_core.kubectl.output.printing import compact_ordered_json, to_ordered_json
from env_core.kubectl.screen import Failure
from env_core.kubectl.verb import Args
from env_core.objects.problems import quoted
from env_core.world import Output

_RESOURCE = re.compile(
    r"/(?:api/(?P<core>v1)|apis/(?P<group>[^/]+)/(?P<version>[^/]+))"
    r"(?:/namespaces/(?P<namespace>[^/]+)(?=/))?/(?P<plural>[^/]+)(?:/(?P<name>[^/]+)(?:/(?P<subresource>[^/]+))?)?/?"
)
_OK = ("/healthz", "/livez", "/readyz")


def run(ctx: Context, args: Args) -> Output:
    """Print the answer of a GET of the path.

    Raises:
        Failure: for what is no path, or comes with other arguments.
        StatusError: when the server refuses.
    """
    path = args.text("raw")
    if args.positional:
        raise Failure("arguments may not be passed when --raw is specified")
    if not path.startswith("/"):
        raise Failure(f"--raw must be a valid URL path: parse {quoted(path)}: invalid URI for request")
    plain, _, query = path.partition("?")
    args.screen.out(_answer(ctx, plain, dict(parse_qsl(query))))
    return args.screen.done()


def _answer(ctx: Context, path: str, query: dict[str, str]) -> str:
    found = _RESOURCE.fullmatch(path)
    if found is None:
        _check_path(ctx, path)
        if path.rstrip("/") in _OK:
            return "ok"
        if path.rstrip("/") == "/version":
            return to_ordered_json(SERVER_VERSION, indent=2).removesuffix("\n")
        raise resource_unknown()
    group = found["group"] or ""
    resource = f"{found['plural']}.{group}" if group else found["plural"]
    if found["plural"] == "namespaces" and found["namespace"]:
        raise resource_unknown()
    options = Options(
        label_selector=query.get("labelSelector", ""),
        field_selector=query.get("fieldSelector", ""),
        limit=int(query["limit"]) if query.get("limit", "").isdigit() else 0,
        continue_token=query.get("continue", ""),
    )
    name = found["name"] or ""
    answer = ctx.api.call(
        "get" if name else "list",
        resource,
        found["namespace"] or "",
        name,
        subresource=found["subresource"] or "",
        options=options,
    )
    is_list = isinstance(answer.get("items"), list)
    return compact_ordered_json(list_in_type_order(answer) if is_list else in_type_order(answer)) + "\n"


def _check_path(ctx: Context, path: str) -> None:
    review = {
        "apiVersion": "authorization.k8s.io/v1",
        "kind": "SelfSubjectAccessReview",
        "metadata": {},
        "spec": {"nonResourceAttributes": {"verb": "get", "path": path}},
    }
    try:
        answer = ctx.api.create("selfsubjectaccessreviews.authorization.k8s.io", "", review)
    except StatusError:
        return
    if not (answer.get("status") or {}).get("allowed"):
        why = f"forbidden: User {quoted(ctx.api.identity.name)} cannot get path {quoted(path)}"
        raise StatusError(status(403, "Forbidden", why))
