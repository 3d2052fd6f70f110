"""pause: holds a pod's namespaces and does nothing."""

from __future__ import annotations

from typing import Final

from env_core.programs._commands import launch
from env_core.programs._images import image_or_first
from env_core.programs._model import Container, Image, Launch, Program

IMAGES: Final = tuple(
    Image(
        repository=repository, tags=("3.10.1", "3.10", "3.9", "3.8", "3.7", "3.6", "3.5", "3.2", "3.1", "latest"), size_bytes=320_448,
        entrypoint=("/pause",), binaries=("pause",), base="distroless", files={"/pause": ""}, user=65535,
    )
    for repository in ("registry.k8s.io/pause", "k8s.gcr.io/pause")
)  # fmt: skip


def _server(_container: Container, argv: tuple[str, ...]) -> Launch | None:
    if argv[0].rpartition("/")[2] != "pause":
        return None
    return Launch(memory_bytes=300 << 10, cpu_millis=0, stop_ms=10, stop_code=0)


def _launch(container: Container) -> Launch:
    return launch(container, image_or_first(IMAGES, container.image), _server)


PROGRAM = Program(
    name="pause",
    images=IMAGES,
    runs=lambda _container: True,
    launch=_launch,
    source="https://github.com/kubernetes/kubernetes/tree/master/build/pause",
)
