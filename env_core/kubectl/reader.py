"""Read access for `describe`, made of API requests of the user."""

from __future__ import annotations

from env_core.apiserver.errors import StatusError
from env_core.kubectl.context import Context
from env_core.world import Object


class ClientReader:
    """Answers a describer's questions through the user's client; what may not be read is absent."""

    __slots__ = ("_ctx",)

    def __init__(self, ctx: Context) -> None:
        self._ctx = ctx

    @property
    def now_ms(self) -> int:
        """The client's clock, milliseconds since the Unix epoch."""
        return self._ctx.clock.now_ms

    def get(self, resource: str, namespace: str, name: str) -> Object | None:
        """Return the object, or None when it is absent or may not be read."""
        try:
            return self._ctx.api.get(resource, namespace, name)
        except StatusError:
            return None

    def events(self, obj: Object) -> list[Object]:
        """Return the events about `obj`, in the server's order."""
        metadata = obj["metadata"]
        namespace = metadata.get("namespace", "")
        terms = [f"involvedObject.name={metadata.get('name', '')}", f"involvedObject.namespace={namespace}"]
        if metadata.get("uid"):
            terms.append(f"involvedObject.uid={metadata['uid']}")
        return self.list("events", namespace, field_selector=",".join(terms))

    def list(
        self, resource: str, namespace: str, label_selector: str = "", field_selector: str = ""
    ) -> list[Object]:
        """Return the matching objects sorted by namespace and name; empty when they may not be read."""
        try:
            return self._ctx.api.list(
                resource, namespace, label_selector=label_selector, field_selector=field_selector
            )
        except StatusError:
            return []
