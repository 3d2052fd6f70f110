"""An API server that answers when the recorded one did, and draws what that one drew."""

from env_core.apiserver.request import ApiRequest
from env_core.apiserver.server import ApiServer
from env_core.controllers import _daemonset_nodes

WRITES = {"create", "update", "patch", "delete"}


class NamingServer(ApiServer):
    """Gives objects with generated names those of the recording, in order of creation.

    Pods that are made for a node (those of DaemonSets) get the name of a pod that was on it.
    """

    __slots__ = ("answered", "forbidden", "moments", "names", "node_of", "renamed", "shift")

    def handle(self, request: ApiRequest):
        if request.verb in WRITES:
            request = request._replace(body=self.shift.with_recorded_stamp(request.body))
        response = self._named(request)
        if response.code == 403 and " cannot " in response.object.get("message", ""):
            self.forbidden.append(response.object["message"])
        return response

    def _named(self, request):
        if request.verb == "create" and not request.subresource and isinstance(request.body, dict):
            metadata = request.body.get("metadata") or {}
            prefix = metadata.get("generateName")
            queue = self.names.get((request.resource.split(".")[0], prefix)) if prefix else None
            if prefix is None and metadata.get("name"):
                request = self._with_alias(request)
            if queue and not metadata.get("name"):
                name = self._next_name(queue, request.body)
                body = {**request.body, "metadata": {**metadata, "name": name}}
                response = self._timed(request._replace(body=body))
                if response.is_ok:
                    queue.remove(name)
                return response
        return self._timed(request)

    def _timed(self, request):
        """Answer at the moment at which the recorded server did."""
        now_ms = self.loop.now_ms
        if request.resource == "endpointslices.discovery.k8s.io" and request.verb in ("create", "update"):
            request = self._in_order(request)
        moment_ms = self.moments.of(request, now_ms) if request.verb in WRITES else None
        if moment_ms is None:
            return super().handle(request)
        # The clock itself stays: what else is due meanwhile has its own moments.
        self.answered = (self.loop.handled, moment_ms)
        if moment_ms > self.loop.now_ms:
            self.loop.now_ms = moment_ms
            return super().handle(request)
        with self.loop.as_of(moment_ms):
            return super().handle(request)

    def told_ms(self):
        """Return when an event that follows on a write is told: not before that write's answer."""
        handled, moment_ms = self.answered
        return moment_ms if handled == self.loop.handled else self.loop.now_ms

    def _with_alias(self, request):
        """Give an object whose name a client drew the name that recordings write for those that nobody else knows."""
        name = request.body["metadata"]["name"]
        drawn = f"{name[:-5]}uxxxx"
        if drawn not in self.names.get((request.resource.split(".")[0], name[:-5]), ()):
            return request
        self.renamed[name] = drawn
        return request._replace(
            body={**request.body, "metadata": {**request.body["metadata"], "name": drawn}}
        )

    def _in_order(self, request):
        body = request.body
        name = body["metadata"].get("name", "") if isinstance(body, dict) else ""
        if not name or not body.get("endpoints"):
            return request
        rows = self.moments.endpoints_in_order(name, body["endpoints"], self.loop.now_ms)
        return request._replace(body={**body, "endpoints": rows})

    def _next_name(self, queue, body):
        target = _daemonset_nodes.target_node(body) if body.get("kind") == "Pod" else ""
        if not target:
            return queue[0]
        return next((name for name in queue if self.node_of(name, 1) == target), queue[0])
