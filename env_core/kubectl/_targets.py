"""Objects and lists that a command line means, and fetching them.

Source: k8s.io/cli-runtime pkg/resource visitor.go, selector.go, helper.go.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from env_core.apiserver.errors import StatusError
from env_core.apiserver.kind import Kind
from env_core.apiserver.request import NO_OPTIONS, Options
from env_core.kubectl.context import Context
from env_core.kubectl.screen import Failure
from env_core.objects.problems import quoted
from env_core.world import Object


@dataclass(frozen=True, slots=True)
class Info:
    """One object that a command line means. `obj` is what a file or the server said, None before that."""

    kind: Kind
    namespace: str
    name: str
    obj: Object | None = None
    source: str = ""
    """The file the object was read from; "" for arguments."""
    list: str = ""
    """The list, in a file, that the object was read from; "" for none."""

    @property
    def label(self) -> str:
        """Return "deployment.apps/web", as messages and -o name put it."""
        return f"{kind_label(self.kind)}/{self.name}"

    @property
    def slash(self) -> str:
        """Return "deployments/web"."""
        return f"{self.kind.plural}/{self.name}"

    def found(self) -> Object:
        """Return the object of an info that has been fetched or read."""
        assert self.obj is not None
        return self.obj

    def check_name(self) -> None:
        """Refuse an object without a name, for which there is no address.

        Raises:
            Failure: in the words of the client library.
        """
        if not self.name:
            raise Failure("resource name may not be empty")

    def fetch(self, ctx: Context, subresource: str = "") -> Info:
        """Return the info with the object from the server; a missing namespace is reported in its stead.

        An object of a file that has no name stays as the file has it.

        Raises:
            Failure: for an empty name without a file.
            StatusError: when the server refuses.
        """
        if not self.name and self.obj is not None:
            return self
        self.check_name()
        try:
            obj = ctx.api.get(self.kind.resource, self.namespace, self.name, subresource)
        except StatusError as error:
            if error.code == 404 and self.namespace not in ("", "default"):
                _probe_namespace(ctx, self.namespace)
            raise
        return replace(self, obj=obj)


def _probe_namespace(ctx: Context, namespace: str) -> None:
    try:
        ctx.api.get("namespaces", "", namespace)
    except StatusError as error:
        if error.code == 404:
            raise


def kind_label(kind: Kind) -> str:
    """Return "deployment.apps": the lower-case kind with its group."""
    name = kind.kind.lower()
    return f"{name}.{kind.group}" if kind.group else name


def info_of(ctx: Context, obj: Object, kind: Kind | None = None) -> Info:
    """Return the info of an object that came from the server or a manifest of a known kind."""
    found = kind or ctx.discovery.by_gvk(obj.get("apiVersion", ""), obj.get("kind", ""))
    assert found is not None
    metadata = obj.get("metadata") or {}
    return Info(found, metadata.get("namespace", ""), metadata.get("name", ""), obj)


@dataclass(frozen=True, slots=True)
class Listing:
    """One list request that a command line means."""

    kind: Kind
    namespace: str
    label_selector: str = ""
    field_selector: str = ""

    def fetch(self, ctx: Context, *, limit: int = 0) -> list[Object]:
        """Return the objects, following continue tokens.

        Raises:
            StatusError: when the server refuses; BadRequest and NotFound tell what was looked for.
        """
        options = NO_OPTIONS
        if self.label_selector or self.field_selector or limit:
            options = Options(
                label_selector=self.label_selector, field_selector=self.field_selector, limit=limit
            )
        items: list[Object] = []
        while True:
            try:
                page = ctx.api.call("list", self.kind.resource, self.namespace, options=options)
            except StatusError as error:
                raise self._explained(error) from None
            items.extend(page.get("items") or ())
            token = (page.get("metadata") or {}).get("continue")
            if not token:
                return items
            options = replace(options, continue_token=token)

    def _explained(self, error: StatusError) -> StatusError:
        if error.reason not in ("BadRequest", "NotFound") or error.message.startswith("Unable to "):
            return error
        where = quoted(f"{self.kind.group}/{self.kind.version}, Resource={self.kind.plural}")
        if self.label_selector or self.field_selector:
            text = (
                f"Unable to find {where} that match label selector {quoted(self.label_selector)}, "
                f"field selector {quoted(self.field_selector)}: {error.message}"
            )
        else:
            text = f"Unable to list {where}: {error.message}"
        return StatusError({**error.status, "message": text})


@dataclass(frozen=True, slots=True)
class Selection:
    """What a command line means, before anything is asked of the server.

    `infos` are named objects (or objects of files), `listings` are list requests. `is_single` tells that
    exactly one object is implied, so that it is not wrapped in a list. `error` is the first problem met while
    reading files; the objects before it are in `infos`.
    """

    infos: tuple[Info, ...] = ()
    listings: tuple[Listing, ...] = ()
    is_single: bool = False
    is_from_files: bool = False
    errors: tuple[Exception, ...] = ()

    def load(self, ctx: Context, *, ignore_not_found: bool = False) -> tuple[list[Info], list[Exception]]:
        """Fetch everything, going on after errors; return the objects and the errors, both in order."""
        found: list[Info] = []
        errors: list[Exception] = []
        for info in self.infos:
            try:
                found.append(info.fetch(ctx))
            except StatusError as error:
                if not (ignore_not_found and error.code == 404):
                    errors.append(error)
        for listing in self.listings:
            try:
                items = listing.fetch(ctx)
            except StatusError as error:
                if not (ignore_not_found and error.code == 404):
                    errors.append(error)
                continue
            found.extend(_listed(listing, item) for item in items)
        errors.extend(self.errors)
        return found, errors

    def load_strict(self, ctx: Context) -> list[Info]:
        """Fetch everything.

        Raises:
            StatusError: the first refusal.
            Failure: the first problem of a file.
        """
        if self.errors:
            raise self.errors[0]
        found = [info.fetch(ctx) for info in self.infos]
        for listing in self.listings:
            found.extend(_listed(listing, item) for item in listing.fetch(ctx))
        return found

    def read(self, ctx: Context) -> tuple[list[Info], list[Exception]]:
        """Like `load`, but objects of files stay as the files have them."""
        if self.is_from_files:
            return list(self.infos), list(self.errors)
        return self.load(ctx)


def _listed(listing: Listing, item: Object) -> Info:
    metadata = item["metadata"]
    return Info(listing.kind, metadata.get("namespace", ""), metadata["name"], item)
