"""One cluster's REST interface: from an HTTP request to an answer, or to what goes on after one.

    api = RestApi(cluster.server)
    answer = api.handle(HttpRequest(method="GET", target="/api/v1/namespaces/shop/pods?limit=5"), ON_CALL)

Every request to a resource goes through `ApiServer.handle`; nothing here reads or writes past it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from hashlib import sha256

from env_core.apiserver import errors, reading
from env_core.apiserver.authz import MASTERS
from env_core.apiserver.errors import StatusError
from env_core.apiserver.kind import Kind
from env_core.apiserver.podlogs import chosen_container
from env_core.apiserver.request import (
    APPLY_PATCH,
    JSON_PATCH,
    MERGE_PATCH,
    STRATEGIC_PATCH,
    ApiRequest,
    Identity,
)
from env_core.apiserver.server import ApiServer
from env_core.rest import bodies, conversion, proxying, refusals, roots
from env_core.rest.following import LogFollow
from env_core.rest.impersonation import acting
from env_core.rest.message import YAML, Headers, HttpRequest, HttpResponse, Upgrade
from env_core.rest.negotiation import PLAIN, Form, form_of
from env_core.rest.paths import VERBS, Target, target_of, verb_of
from env_core.rest.queries import (
    Query,
    exec_options,
    forwarded_ports,
    log_options,
    read_options,
    wanted_streams,
)
from env_core.rest.rendering import (
    NO_CACHE,
    response,
    shaped,
    status_response,
    warning_header,
)
from env_core.rest.tables import INCLUDES
from env_core.rest.watching import Watch

Answer = HttpResponse | Watch | LogFollow | Upgrade

UPGRADES = frozenset({"exec", "attach", "portforward"})
_PRETTY_AGENTS = ("curl/", "Wget/", "Mozilla/5.0")
_PATCHES = frozenset({JSON_PATCH, MERGE_PATCH, STRATEGIC_PATCH, APPLY_PATCH})


@dataclass(frozen=True, slots=True)
class _Call:
    """A request to a resource, taken apart."""

    http: HttpRequest
    target: Target
    kind: Kind
    verb: str
    query: Query
    identity: Identity
    form: Form


class RestApi:
    """Answers HTTP requests for one API server. It keeps nothing between requests."""

    __slots__ = ("_server",)

    def __init__(self, server: ApiServer) -> None:
        self._server = server

    def handle(self, request: HttpRequest, identity: Identity) -> Answer:
        """Answer one request of `identity`. Refusals are answers; an exception is a bug of ours."""
        path, _, query_text = request.target.partition("?")
        form = PLAIN
        try:
            query = Query(query_text)
            target = target_of(path)
            is_watch = query.flag("watch") or (target is not None and target.is_watch)
            verb = (
                verb_of(request.method, target, is_watch=is_watch)
                if target is not None
                else VERBS.get(request.method, request.method.lower())
            )
            identity = acting(request, identity, self._server.authorizer, target, verb)
            wanted = form_of(
                request.header("accept"),
                is_list=target is not None and not target.name,
                is_watch=is_watch and verb == "watch",
            )
            form = Form(wanted.media) if isinstance(wanted, Form) else _error_form(request)
            if target is None:
                answer: Answer = roots.answer(self._server, request, path, query, identity)
            else:
                answer = self._resource(request, path, target, verb, query, identity, wanted)
        except StatusError as error:
            answer = status_response(error.status, form)
        return self._finished(request, answer)

    # Resources

    def _resource(
        self,
        http: HttpRequest,
        path: str,
        target: Target,
        verb: str,
        query: Query,
        identity: Identity,
        wanted: Form | StatusError,
    ) -> Answer:
        kind = self._server.registry.at(target.group, target.version, target.plural)
        if kind is None:
            return self._unserved(http, target, verb, identity)
        if proxying.is_proxied(target):
            return self._proxied(http, path, target, verb, identity, kind)
        content_type = bodies.plain_type(http.header("content-type"))
        if not content_type and http.method == "PATCH":
            content_type = MERGE_PATCH
        form = wanted if isinstance(wanted, Form) else PLAIN
        call = _Call(http, target, kind, verb, query, identity, form)
        try:
            problem = (
                refusals.method_problem(http.method, kind, target.name, target.subresource)
                or refusals.body_type_problem(http.method, content_type)
                or (wanted if isinstance(wanted, StatusError) else None)
            )
            if problem is not None:
                raise problem
            request = self._translated(call, content_type)
        except StatusError:
            # Who may not do it is told that first.
            self._server.authorize(identity, verb, kind, self._bare(call))
            raise
        if verb == "watch":
            return self._watch(call, request)
        if target.subresource in UPGRADES:
            return self._upgrade(call, request)
        answer = self._server.handle(request)
        if answer.output is not None:
            return self._log(call, request, answer.code, answer.output.stdout)
        return self._rendered(call, answer.code, answer.object, tuple(map(warning_header, answer.warnings)))

    def _proxied(
        self, http: HttpRequest, path: str, target: Target, verb: str, identity: Identity, kind: Kind
    ) -> HttpResponse:
        request = ApiRequest(
            verb=verb,
            resource=kind.resource,
            namespace=target.namespace,
            name=target.name,
            subresource=target.subresource,
            identity=identity,
            user_agent=http.header("user-agent"),
        )
        server = self._server
        code = 403
        try:
            server.authorize(identity, verb, kind, request)
            code = 503
            answer = proxying.proxied(server, http, path, target)
            code = answer.code
        except StatusError as error:
            code = error.code
            raise
        finally:
            server.audit.add(server.loop.now_ms, request, code)
        return answer

    def _unserved(self, http: HttpRequest, target: Target, verb: str, identity: Identity) -> HttpResponse:
        authorizer = self._server.authorizer
        what = (verb, target.group, target.plural, target.subresource, target.namespace, target.name)
        if MASTERS not in identity.groups and not authorizer.allowed(identity, *what):
            raise authorizer.refusal(identity, *what)
        service = proxying.api_service(self._server, target.group, target.version)
        if service is not None:
            return proxying.aggregated(self._server, http, service)
        if any(kind.group == target.group for kind in self._server.registry.all()):
            raise errors.resource_unknown()
        return roots.not_found()

    @staticmethod
    def _bare(call: _Call) -> ApiRequest:
        target = call.target
        return ApiRequest(
            verb=call.verb,
            resource=call.kind.resource,
            namespace=target.namespace,
            name=target.name,
            subresource=target.subresource,
            identity=call.identity,
        )

    def _translated(self, call: _Call, content_type: str) -> ApiRequest:
        """Return the request as the API server takes it.

        Raises:
            StatusError: for options and bodies that make no sense.
        """
        http, target, verb, query = call.http, call.target, call.verb, call.query
        deletes = verb in ("delete", "deletecollection")
        given = bodies.delete_options(http.body, content_type) if deletes else None
        options, problem = read_options(verb, query, given, content_type)
        if problem is not None:
            raise problem
        body = None
        if verb == "patch":
            body = bodies.patch_body(http.body, content_type)
        elif verb in ("create", "update") and target.subresource not in UPGRADES:
            body = bodies.written_object(http.body, content_type, call.kind, target)
        return ApiRequest(
            # Opening a connection to a container is a create, whatever the method.
            verb="create" if target.subresource in UPGRADES else verb,
            resource=call.kind.resource,
            namespace=target.namespace,
            name=target.name,
            subresource=target.subresource,
            body=body,
            content_type=content_type if content_type in _PATCHES else "",
            identity=call.identity,
            options=options,
            log=log_options(query) if target.subresource == "log" else None,
            exec=exec_options(query) if target.subresource in UPGRADES else None,
            user_agent=http.header("user-agent"),
            sees_managed_fields=True,
        )

    def _rendered(self, call: _Call, code: int, answer: object, headers: Headers) -> HttpResponse:
        assert isinstance(answer, dict)
        include = call.query.text("includeObject")
        if call.form.kind == "Table" and include not in INCLUDES:
            raise errors.bad_request(f'unrecognized includeObject value: "{include}"')
        kind = call.kind
        if code >= 400:
            return status_response(answer, Form(call.form.media), headers)
        if call.target.subresource == "scale":
            kind = conversion.SCALE
        value = shaped(kind, answer, call.form, self._server.loop.now_ms, include=include)
        is_pretty = call.query.flag("pretty") or (
            "pretty" not in call.query.first and call.http.header("user-agent").startswith(_PRETTY_AGENTS)
        )
        return response(code, value, call.form, headers=headers, is_pretty=is_pretty)

    # What goes on

    def _watch(self, call: _Call, request: ApiRequest) -> Watch:
        self._server.authorize(call.identity, "watch", call.kind, request)
        self._server.audit.add(self._server.loop.now_ms, request, 200)
        if call.target.name:
            named = f"metadata.name={call.target.name}"
            fields = request.options.field_selector
            request = request._replace(
                options=replace(request.options, field_selector=f"{fields},{named}" if fields else named),
            )
        deprecation = (warning_header(call.kind.deprecation),) if call.kind.deprecation else ()
        return Watch(
            self._server,
            request,
            call.kind.served_by or call.kind,
            call.form,
            headers=(NO_CACHE, ("Content-Type", call.form.media), *deprecation),
            include=call.query.text("includeObject"),
            has_bookmarks=call.query.flag("allowWatchBookmarks"),
            sends_initial=call.query.given_flag("sendInitialEvents"),
            timeout_s=max(call.query.number("timeoutSeconds") or 0, 0),
        )

    def _log(self, call: _Call, request: ApiRequest, code: int, text: str) -> Answer:
        headers: Headers = (NO_CACHE, ("Content-Type", "text/plain"))
        if code == 204:
            return HttpResponse(code=204, headers=(NO_CACHE,))
        if call.query.flag("follow"):
            return LogFollow(self._server, request, text, headers)
        return HttpResponse(code=code, headers=headers, body=text.encode("utf-8", "surrogateescape"))

    def _upgrade(self, call: _Call, request: ApiRequest) -> Answer:
        self._server.authorize(call.identity, "create", call.kind, request)
        ports = forwarded_ports(call.query) if call.target.subresource == "portforward" else ()
        pod = reading.existing(self._server, request, call.kind)
        if call.target.subresource != "portforward":
            chosen_container(pod, request.exec.container if request.exec is not None else "")
        if not pod["spec"].get("nodeName"):
            raise errors.bad_request(f"pod {request.name} does not have a host assigned")
        if "upgrade" not in call.http.header("connection").lower():
            raise errors.bad_request("Upgrade request required")
        return Upgrade(
            kind=call.target.subresource,
            headers=(NO_CACHE,),
            request=request,
            streams=wanted_streams(call.query),
            ports=ports,
        )

    # Around every answer

    def _finished(self, request: HttpRequest, answer: Answer) -> Answer:
        if not isinstance(answer, HttpResponse):
            return answer
        audit_id = request.header("audit-id") or self._audit_id(request)
        body = b"" if request.method == "HEAD" else answer.body
        return HttpResponse(code=answer.code, headers=(("Audit-Id", audit_id), *answer.headers), body=body)

    def _audit_id(self, request: HttpRequest) -> str:
        server = self._server
        seed = f"{server.loop.now_ms} {server.store.revision} {request.method} {request.target}"
        digest = sha256(seed.encode("utf-8", "replace")).hexdigest()
        return f"{digest[:8]}-{digest[8:12]}-4{digest[13:16]}-8{digest[17:20]}-{digest[20:32]}"


def _error_form(request: HttpRequest) -> Form:
    """Return the form of a refusal to answer in any form: YAML for who asked for that, else JSON."""
    return Form(YAML) if request.header("accept").startswith(YAML) else PLAIN


def unauthorized() -> HttpResponse:
    """Return the answer to a request without a known identity."""
    return status_response(errors.status(401, "Unauthorized", "Unauthorized"))
