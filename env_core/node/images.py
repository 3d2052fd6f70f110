"""Images: references, which program an image holds, what a registry answers, how long a pull takes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from hashlib import sha256
from typing import NamedTuple

import env_core.programs as programs_package
from env_core.discovery import discover
from env_core.kinds._image_reference import image_tag
from env_core.programs import Container, Image, Program
from env_core.sim.rng import Stream

PULL_OVERHEAD_MS = 350
PULL_BYTES_PER_MS = (22_000, 48_000)
"""Download and unpacking, drawn for each pull."""
FAILED_PULL_MS = 400
"""How long a registry takes to refuse, as in tests/golden/kubelet (image-notfound)."""


class Reference(NamedTuple):
    """An image reference in its canonical form."""

    repository: str
    """With the registry: "docker.io/library/nginx"."""
    tag: str
    digest: str

    @property
    def name(self) -> str:
        """The whole reference: "docker.io/library/nginx:1.27"."""
        return f"{self.repository}@{self.digest}" if self.digest else f"{self.repository}:{self.tag}"

    @property
    def short(self) -> str:
        """The repository without the default registry: "nginx", "bitnami/redis"."""
        return self.repository.removeprefix("docker.io/library/").removeprefix("docker.io/")


class PullError(NamedTuple):
    """Why a pull fails: gRPC code and the runtime's text."""

    code: str
    text: str

    @property
    def shown(self) -> str:
        """The text as the kubelet reports it: its CRI client strips the prefix of code Unknown only."""
        return self.text if self.code == "Unknown" else f"rpc error: code = {self.code} desc = {self.text}"


class Present(NamedTuple):
    """An image as a node has it."""

    name: str
    image_id: str
    size_bytes: int
    user: int | str


@dataclass(frozen=True, slots=True)
class Catalogue:
    """Every declared image with the programs that run in it, in module order."""

    images: Mapping[str, tuple[tuple[Image, Program], ...]]
    programs: Mapping[str, Program]


@lru_cache(maxsize=2048)
def parse_reference(text: str) -> Reference | None:
    """Return the canonical reference, or None when `text` is no image reference."""
    tag = image_tag(text)
    if tag is None:
        return None
    rest, _, digest = text.partition("@")
    colon = rest.rfind(":")
    name = rest[:colon] if colon > rest.rfind("/") else rest
    first, slash, _ = name.partition("/")
    if not slash:
        name = f"docker.io/library/{name}"
    elif "." not in first and ":" not in first and first != "localhost" and first == first.lower():
        name = f"docker.io/{name}"
    elif name.startswith("index.docker.io/"):
        name = "docker.io/" + name.removeprefix("index.docker.io/")
    if name.startswith("docker.io/") and name.count("/") == 1:
        name = "docker.io/library/" + name.removeprefix("docker.io/")
    return Reference(name, tag, digest)


@lru_cache(maxsize=512)
def reference_problem(text: str) -> str:
    """Return why `text` is no reference, in the words of github.com/distribution/reference."""
    problem = "invalid reference format"
    rest = text.partition("@")[0]
    colon = rest.rfind(":")
    name = rest[:colon] if colon > rest.rfind("/") else rest
    first, slash, path = name.partition("/")
    is_domain = slash and ("." in first or ":" in first or first == "localhost" or first != first.lower())
    remote = path if is_domain else name
    if remote != remote.lower():
        problem += f": repository name ({remote}) must be lowercase"
    return problem


@lru_cache(maxsize=1)
def declared() -> Catalogue:
    """Return the catalogue of the programs in this package's sibling `programs`."""
    images: dict[str, list[tuple[Image, Program]]] = {}
    programs = discover(programs_package, "PROGRAM", Program)
    for program in programs.values():
        for image in program.images:
            images.setdefault(image.repository, []).append((image, program))
    return Catalogue(
        {repository: tuple(rows) for repository, rows in images.items()},
        {program.name: program for program in programs.values()},
    )


@lru_cache(maxsize=4096)
def digest_of(name: str) -> str:
    """Return the digest under which a registry holds `name`; the same name always has the same one."""
    return "sha256:" + sha256(name.encode()).hexdigest()


class Images:
    """Registries and runtimes as far as images go; what a test world replaces."""

    __slots__ = ("_catalogue",)

    def __init__(self, catalogue: Catalogue | None = None) -> None:
        self._catalogue = catalogue

    @property
    def catalogue(self) -> Catalogue:
        """The declared images."""
        return self._catalogue if self._catalogue is not None else declared()

    def find(self, reference: Reference) -> Image | None:
        """Return the image that a registry holds under a reference, or None."""
        for image, _program in self.catalogue.images.get(reference.short, ()):
            if reference.digest:
                if any(digest_of(f"{reference.repository}:{tag}") == reference.digest for tag in image.tags):
                    return image
            elif reference.tag in image.tags:
                return image
        return None

    def program_for(self, reference: Reference, container: Container) -> Program | None:
        """Return the first program that knows the image and runs what the container's argv says."""
        for _image, program in self.catalogue.images.get(reference.short, ()):
            if program.runs(container):
                return program
        return None

    def program_called(self, name: str) -> Program | None:
        """Return the program of a name, or None."""
        return self.catalogue.programs.get(name)

    def pull(self, reference: Reference) -> PullError | None:
        """Return why the registry refuses, or None when it serves the image.

        Source: containerd 2.x texts in tests/golden/kubelet (image-notfound, image-denied).
        """
        if self.find(reference) is not None:
            return None
        name = reference.name
        before = f'failed to pull and unpack image "{name}": failed to resolve reference "{name}": '
        if reference.repository.startswith("docker.io/") and not self.catalogue.images.get(reference.short):
            return PullError(
                "Unknown",
                before + "pull access denied, repository does not exist or may require authorization: "
                "server message: insufficient_scope: authorization failed",
            )
        return PullError("NotFound", f"{before}{name}: not found")

    def create_error(self, _container: Container) -> str:
        """Return why the runtime cannot create a container, "" when it can."""
        return ""

    def sandbox_error(self, _namespace: str, _pod: str, _sandbox_id: str) -> str:
        """Return why the runtime cannot make a pod's sandbox, "" when it can."""
        return ""

    def stop_error(self, _container: Container, _container_id: str) -> str:
        """Return why the runtime cannot stop a container, "" when it can."""
        return ""

    def stop_sandbox_error(self, _namespace: str, _pod: str, _sandbox_id: str) -> str:
        """Return why the runtime cannot stop a pod's sandbox, "" when it can."""
        return ""

    def volume_error(self, _call: str, _driver: str, _handle: str) -> str:
        """Return what a CSI driver's node plugin answers to a call (NodeStageVolume …), "" when all is well."""
        return ""

    def inspect_error(self, _reference: Reference) -> PullError | None:
        """Return why the runtime cannot look an image up, or None."""
        return None

    def pull_ms(self, reference: Reference, stream: Stream, *, is_refused: bool) -> int:
        """Return how long the runtime pulls."""
        if is_refused:
            return FAILED_PULL_MS
        image = self.find(reference)
        assert image is not None, "refused pulls were handled"
        return PULL_OVERHEAD_MS + image.size_bytes // stream.between(*PULL_BYTES_PER_MS)

    def present(self, reference: Reference) -> Present | None:
        """Return an image that every node has from the start, or None."""
        del reference
        return None

    def pulled(self, reference: Reference) -> Present:
        """Return an image as a node has it after a pull."""
        image = self.find(reference)
        assert image is not None, "only images that a registry holds are pulled"
        digest = reference.digest or digest_of(reference.name)
        return Present(reference.name, f"{reference.repository}@{digest}", image.size_bytes, image.user)
