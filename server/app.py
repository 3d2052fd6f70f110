"""The application: OpenEnv's own, with our control routes, our WebSocket and our edge; and `python -m server.app`."""

from __future__ import annotations

import argparse
import asyncio
import gc
import logging
import socket
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import replace

import uvicorn
from fastapi import FastAPI
from openenv.core.env_server.http_server import create_fastapi_app
from openenv.core.env_server.types import ConcurrencyConfig
from starlette.routing import WebSocketRoute as Route

from env_core.episode import warm
from kubedrill.models import KubeAction, KubeObservation, KubeState
from server import http, ui
from server.auth import Edge
from server.environment import NAME, VERSION, KubeEnvironment
from server.journal import Journal, UnreadableError
from server.kubernetes import routes as kubernetes
from server.kubernetes.pace import Pacer
from server.play import Play
from server.settings import Settings
from server.sockets import HttpProtocol, SocketProtocol
from server.ws import WebSocketRoute

_OURS = frozenset({"/reset", "/step", "/state", "/ws"})
_SWEEP_S_MAX = 30.0


def create_app(settings: Settings | None = None) -> FastAPI:
    """Return the application. Each has its own table of episodes."""
    chosen = settings if settings is not None else Settings.from_environment()
    app = create_fastapi_app(
        KubeEnvironment,
        KubeAction,
        KubeObservation,
        env_name=NAME,
        state_cls=KubeState,
        mode=chosen.mode,
        # Bounds what POST /mcp openenv/session/create can hold; our own sessions are in our own table.
        concurrency_config=ConcurrencyConfig(
            max_concurrent_envs=chosen.episodes_max, session_timeout=max(chosen.idle_s_max, 1.0)
        ),
    )
    app.title = NAME
    app.version = VERSION
    play = Play(chosen)
    app.state.play = play
    pacer = Pacer(play)
    _replace_routes(app, play, pacer, is_simulation=chosen.mode == "simulation")
    _prepend_lifespan(app, play, pacer)
    app.add_middleware(Edge, settings=chosen)
    return app


def _replace_routes(app: FastAPI, play: Play, pacer: Pacer, *, is_simulation: bool) -> None:
    stock = [route for route in app.router.routes if getattr(route, "path", "") not in _OURS]
    app.router.routes[:] = []
    episodes = http.EpisodeRoutes(play)
    if is_simulation:
        http.register(app, episodes)
    ui.register(app, ui.InfoRoutes(play, episodes))
    app.router.routes.append(Route("/ws", WebSocketRoute(play)))
    kubernetes.register(app, play, pacer)
    app.router.routes.extend(stock)


def _prepend_lifespan(app: FastAPI, play: Play, pacer: Pacer) -> None:
    stock = app.router.lifespan_context

    @asynccontextmanager
    async def lifespan(running: FastAPI) -> AsyncIterator[None]:
        async with stock(running):
            # Before the first client comes, so that none waits for a base world to be built.
            warm()
            play.start()
            sweeper = asyncio.create_task(_sweep(play))
            # What is loaded now stays: the collector need not walk it again and again.
            gc.collect()
            gc.freeze()
            # Episodes are trees of plain values that reference counts free; cycles are few, so look for them rarely.
            gc.set_threshold(50_000, 20, 100)
            try:
                yield
            finally:
                sweeper.cancel()
                with suppress(asyncio.CancelledError):
                    await sweeper
                pacer.stop()
                play.stop()

    app.router.lifespan_context = lifespan


async def _sweep(play: Play) -> None:
    pause_s = max(0.05, min(play.settings.idle_s_max / 4, _SWEEP_S_MAX))
    while True:
        await asyncio.sleep(pause_s)
        play.table.sweep()


def listening_sockets(settings: Settings) -> list[socket.socket]:
    """Return one listening socket for each port.

    Raises:
        OSError: if a port is taken.
    """
    sockets: list[socket.socket] = []
    for port in settings.ports:
        family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
        listener = socket.socket(family, socket.SOCK_STREAM)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((settings.host, port))
        listener.listen(2_048)
        sockets.append(listener)
    return sockets


def serve(settings: Settings, served: FastAPI) -> None:
    """Serve until a signal ends it."""
    config = uvicorn.Config(
        served,
        host=settings.host,
        port=settings.ports[0],
        log_level="warning",
        access_log=False,
        ws=SocketProtocol,
        http=HttpProtocol,
        ws_max_size=settings.body_bytes_max,
        # Observations are small and often; compressing each costs more than it saves.
        ws_per_message_deflate=False,
        timeout_graceful_shutdown=5,
    )
    uvicorn.Server(config).run(sockets=listening_sockets(settings))


def main(arguments: Sequence[str] | None = None) -> None:
    """Serve at the host and port of the arguments, else of the environment, else at http://127.0.0.1:8000."""
    settings = Settings.from_environment()
    parser = argparse.ArgumentParser(prog="server", description="Serve kubedrill over HTTP and WebSocket.")
    parser.add_argument(
        "--host", default=settings.host, help="address to listen on (default: HOST, else 127.0.0.1)"
    )
    parser.add_argument(
        "--port",
        type=int,
        default=settings.port,
        help="port to listen on (default: PORT, else 8000; beyond loopback also 7860)",
    )
    given = parser.parse_args(arguments)
    settings = replace(settings, host=given.host, port=given.port)
    if settings.journal:
        try:
            journal = Journal(settings.journal)
            journal.recipes()
            journal.close()
        except UnreadableError as error:
            parser.exit(1, f"{error}\n")
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    logging.getLogger("kubedrill.server").info(
        "kubedrill %s listens on %s, ports %s", VERSION, settings.host, ", ".join(map(str, settings.ports))
    )
    serve(settings, app)


app = create_app()

if __name__ == "__main__":
    main()
