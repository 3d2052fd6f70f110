"""kubedrill/admission-webhook: an admission webhook whose rules are its arguments, an image of the simulator's own.

    --tls-cert-file, --tls-private-key-file   (default /etc/webhook/certs/tls.crt and tls.key)
    --port            where it listens (8443)
    --deny            CEL over the AdmissionRequest (`request`, `object`, `oldObject`): true refuses
    --message, --code what it says then, and the HTTP code (403)
    --patch           a JSON patch that it answers with under /mutate
    --patch-if        CEL: only if true
    --warn            a warning for the client
    --conversion-error  what it says under /convert, where it otherwise gives objects the version that is asked for
    --delay-ms        how long an answer takes

Each may be given as an environment variable instead: WEBHOOK_DENY, WEBHOOK_PATCH_IF, … Without any, all is allowed.
"""

from __future__ import annotations

import base64
from typing import Final

import orjson

from env_core.cel import DYN, CelError, CompileProblem, Environment, compile_expression
from env_core.objects.x509 import CertificateProblem, certificates
from env_core.programs._commands import final_argv, launch
from env_core.programs._http import slash_date
from env_core.programs._images import image_or_first
from env_core.programs._model import (
    RESET,
    Container,
    Exit,
    Image,
    Launch,
    Line,
    Listener,
    Program,
    Reply,
    Request,
    Served,
    Upstream,
)
from env_core.programs._web import go_reply, option
from env_core.world import Object

IMAGES: Final = (
    Image(
        repository="kubedrill/admission-webhook", tags=("latest", "1.0"), size_bytes=8_120_331,
        entrypoint=("/admission-webhook",), binaries=("admission-webhook",), base="distroless",
        files={"/admission-webhook": ""},
    ),
)  # fmt: skip
_ENVIRONMENT: Final = Environment({"request": DYN, "object": DYN, "oldObject": DYN})
_START_MS: Final = 40


def _setting(container: Container, name: str, default: str = "") -> str:
    variable = f"WEBHOOK_{name.upper().replace('-', '_')}"
    return option(final_argv(container), name, container.env.get(variable, default))


def _number(container: Container, name: str, default: int) -> int:
    text = _setting(container, name)
    return int(text) if text.isdigit() else default


def _config_problem(container: Container) -> str:
    """Return why the server does not start, "" if it does."""
    for name, default in (("tls-cert-file", "tls.crt"), ("tls-private-key-file", "tls.key")):
        path = _setting(container, name, f"/etc/webhook/certs/{default}")
        text = container.files.get(path)
        if text is None:
            return f"open {path}: no such file or directory"
        what = "certificate" if default == "tls.crt" else "key"
        if "-----BEGIN " not in text:
            return f"tls: failed to find any PEM data in {what} input"
    try:
        certificates(_certificate(container))
    except CertificateProblem as problem:
        return str(problem)
    for name in ("deny", "patch-if"):
        text = _setting(container, name)
        try:
            if text:
                compile_expression(text, _ENVIRONMENT)
        except CompileProblem as problem:
            return f"--{name}: {problem}"
    return ""


def _certificate(container: Container) -> str:
    return container.files.get(_setting(container, "tls-cert-file", "/etc/webhook/certs/tls.crt"), "")


def _server(container: Container, argv: tuple[str, ...]) -> Launch | None:
    if argv[0].rpartition("/")[2] != "admission-webhook":
        return None
    stamp = slash_date(container.started_ms + _START_MS)
    problem = _config_problem(container)
    if problem:
        line = Line(_START_MS, f"{stamp} {problem}", "stderr")
        return Launch(log=(line,), exit=Exit(after_ms=_START_MS + 5, code=1))
    port = _number(container, "port", 8443)
    line = Line(_START_MS, f"{stamp} serving admission reviews on :{port}", "stderr")
    listener = Listener(port=port, protocol="https", after_ms=_START_MS, certificate=_certificate(container))
    return Launch(listeners=(listener,), log=(line,), memory_bytes=9 << 20, stop_ms=30, stop_code=2)


def _launch(container: Container) -> Launch:
    return launch(container, image_or_first(IMAGES, container.image), _server)


def _holds(expression: str, request: Object) -> bool | CelError:
    bindings = {"request": request, "object": request.get("object"), "oldObject": request.get("oldObject")}
    value = compile_expression(expression, _ENVIRONMENT).evaluate(bindings)
    return value if isinstance(value, CelError) else value is True


def _response(container: Container, path: str, request: Object) -> Object:
    response: Object = {"uid": request.get("uid", ""), "allowed": True}
    warning = _setting(container, "warn")
    if warning:
        response["warnings"] = [warning]
    deny = _setting(container, "deny")
    if deny:
        refused = _holds(deny, request)
        if isinstance(refused, CelError):
            return {**response, "allowed": False, "status": {"code": 500, "message": refused.message}}
        if refused:
            message = _setting(container, "message", f"refused: {deny}")
            status = {"code": _number(container, "code", 403), "message": message}
            return {**response, "allowed": False, "status": status}
    patch = _setting(container, "patch") if path.startswith("/mutate") else ""
    if patch and request.get("operation") != "DELETE":
        condition = _setting(container, "patch-if")
        if not condition or _holds(condition, request) is True:
            encoded = base64.b64encode(patch.encode()).decode()
            response |= {"patchType": "JSONPatch", "patch": encoded}
    return response


def _convert(container: Container, review: Object, asked: Object, upstream: Upstream) -> Served:
    version, objects = asked.get("desiredAPIVersion", ""), asked.get("objects") or []
    problem = _setting(container, "conversion-error")
    response: Object = {"uid": asked.get("uid", ""), "result": {"status": "Success"}}
    if problem:
        response["result"] = {"status": "Failed", "message": problem}
    else:
        response["convertedObjects"] = [{**each, "apiVersion": version} for each in objects]
    answer = {"kind": "ConversionReview", "apiVersion": review.get("apiVersion", ""), "response": response}
    text = f"{slash_date(upstream.now_ms)} /convert {len(objects)} objects to {version}: {problem or 'done'}"
    reply = go_reply(upstream, orjson.dumps(answer).decode(), 200, "application/json")
    return Served(reply=reply, log=(Line(upstream.now_ms, text, "stderr"),), cpu_ms=1)


def _serve(container: Container, request: Request, upstream: Upstream) -> Served:
    if request.protocol == "tls":  # clients inside the cluster that do not do TLS
        return Served(reply=Reply(failure=RESET, latency_ms=1))
    if request.protocol != "https":
        return Served(reply=go_reply(upstream, "Client sent an HTTP request to an HTTPS server.\n", 400))
    path = request.path.partition("?")[0]
    if path in ("/healthz", "/readyz"):
        return Served(reply=go_reply(upstream, "ok"))
    try:
        review = orjson.loads(request.body)
        asked: Object = review["request"]
    except (orjson.JSONDecodeError, KeyError, TypeError):
        return Served(reply=go_reply(upstream, "no admission review\n", 400))
    if review.get("kind") == "ConversionReview":
        return _convert(container, review, asked, upstream)
    response = _response(container, path, asked)
    answer = {"kind": "AdmissionReview", "apiVersion": review.get("apiVersion", ""), "response": response}
    reply = go_reply(upstream, orjson.dumps(answer).decode(), 200, "application/json")
    reply = Reply(
        status=reply.status,
        headers=reply.headers,
        body=reply.body,
        latency_ms=reply.latency_ms + _number(container, "delay-ms", 0),
    )
    what = f"{asked.get('operation')} {(asked.get('resource') or {}).get('resource')} {asked.get('namespace', '')}/{asked.get('name', '')}"
    verdict = "allowed" if response["allowed"] else "denied"
    line = Line(upstream.now_ms, f"{slash_date(upstream.now_ms)} {path} {what}: {verdict}", "stderr")
    return Served(reply=reply, log=(line,), cpu_ms=1)


PROGRAM = Program(
    name="admission-webhook",
    images=IMAGES,
    runs=lambda _container: True,
    launch=_launch,
    serve=_serve,
    source="k8s.io/api admission/v1 AdmissionReview; the image is the simulator's own",
)
