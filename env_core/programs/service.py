"""Our own web services: one program for all of them, each declared as data in the modules `_service_<application>`."""

from __future__ import annotations

from functools import lru_cache
from hashlib import sha256
from typing import Final

from env_core.programs import _service_pipeline, _service_queue, _service_shop, _service_tenants
from env_core.programs._commands import launch
from env_core.programs._images import canonical, image_or_first
from env_core.programs._model import (
    EMPTY,
    RESET,
    Container,
    Image,
    Launch,
    Program,
    Reply,
    Request,
    Served,
    Upstream,
)
from env_core.programs._service_model import GO, JAVA, NODE, PYTHON, Product, Release
from env_core.programs._service_serving import checks_stores, serve
from env_core.programs._service_starting import command
from env_core.programs._service_starting import launch as start

FAMILIES: Final = (
    _service_shop.FAMILY,
    _service_pipeline.FAMILY,
    _service_tenants.FAMILY,
    _service_queue.FAMILY,
)
_SIZES: Final = {GO: 14_210_776, PYTHON: 61_300_402, NODE: 58_771_120, JAVA: 112_450_339}
_BINARIES: Final = {
    GO: (), PYTHON: ("python", "python3", "pip", "uvicorn"), NODE: ("node", "npm", "npx"), JAVA: ("java", "jcmd", "jstack"),
}  # fmt: skip


def _image(prefix: str, product: Product) -> Image:
    argv = command(product)
    spread = sum(map(ord, product.name)) * 9_973
    return Image(
        repository=f"{prefix}/{product.name}",
        tags=tuple(release.tag for release in product.releases),
        size_bytes=_SIZES[product.language] + spread,
        entrypoint=argv,
        binaries=_BINARIES[product.language],
        base="distroless" if product.language == GO else "debian",
        files={argv[-1]: ""},
        user=65532,
    )


IMAGES: Final = tuple(
    _image(prefix, product)
    for family in FAMILIES
    for prefix in family.prefixes
    for product in family.products
)
_PRODUCTS: Final = {
    f"{prefix}/{product.name}": product
    for family in FAMILIES
    for prefix in family.prefixes
    for product in family.products
}


def product_of(image: str) -> Product:
    """Return the product whose repository an image reference names.

    Raises:
        KeyError: if it names none of ours.
    """
    return _PRODUCTS[canonical(image)[0]]


@lru_cache(maxsize=1024)
def release_of(image: str) -> tuple[Product, Release]:
    """Return the product and release of an image reference; the newest good release for a tag of nobody's."""
    product = product_of(image)
    repository, tag = canonical(image)
    digest = image.partition("@")[2]
    if digest:
        tag = next(
            (each.tag for each in product.releases if _digest(f"{repository}:{each.tag}") == digest), tag
        )
    found = next((release for release in product.releases if release.tag == tag), None)
    return product, found or product.releases[-1]


def _digest(name: str) -> str:
    """Return the digest under which a registry holds an image (as `node.images.digest_of` says)."""
    return "sha256:" + sha256(name.encode()).hexdigest()


def _launch(container: Container) -> Launch:
    product, release = release_of(container.image)
    return launch(
        container,
        image_or_first(IMAGES, container.image),
        lambda started, argv: start(product, release, started, argv),
    )


def _serve(container: Container, request: Request, upstream: Upstream) -> Served:
    if request.protocol != "http":
        return Served(reply=Reply(failure=RESET if request.protocol == "tls" else EMPTY, latency_ms=1))
    product, release = release_of(container.image)
    return serve(product, release, container, request, upstream)


def _is_steady(container: Container, request: Request) -> bool:
    product, _release = release_of(container.image)
    path = request.path.partition("?")[0]
    return path in ("/healthz", "/readyz") and not checks_stores(product, container, path)


PROGRAM = Program(
    name="service",
    images=IMAGES,
    runs=lambda _container: True,
    launch=_launch,
    serve=_serve,
    is_steady=_is_steady,
    rereads_files=True,
    source="the simulator's own images; texts in tests/golden/programs/app-*",
    unrecorded="the texts of lib/pq, pgjdbc and of AMQP clients whose server closes, access lines of Node and Java, what is said of a file that is not there",
)
