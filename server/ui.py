"""What a visitor and an operator can read: the page at `/`, `/info`, `/tasks`, the graders, readiness and figures."""

from __future__ import annotations

from pathlib import Path
from string import Template
from typing import Any

from fastapi import FastAPI, Request, Response

from env_core.episode import UnknownName, find_task
from env_core.episode import suites as all_of_them
from server import graders, tasks
from server.environment import DESCRIPTION, NAME, VERSION
from server.http import EpisodeRoutes, answer, json_body, with_refusals
from server.play import Play
from server.refusals import Refusal, from_simulator

_PAGE = Template((Path(__file__).parent / "page.html").read_text(encoding="utf-8"))


class InfoRoutes:
    """Routes that read, and change nothing."""

    def __init__(self, play: Play, episodes: EpisodeRoutes) -> None:
        self._play = play
        self._episodes = episodes

    async def root(self, request: Request) -> Response:
        """Return the page to a browser, and the JSON of `/info` to everything else."""
        if _prefers_html(request.headers.get("accept", "")):
            rows = "".join(
                f"<tr><td><code>{task['id']}</code></td><td>{task['max_agent_steps']}</td><td>{task['description']}</td></tr>"
                for task in tasks.catalogue()
            )
            return Response(
                _PAGE.substitute(version=VERSION, description=DESCRIPTION, rows=rows), media_type="text/html"
            )
        return answer(self._told())

    async def info(self, _: Request) -> Response:
        """Return name, version, suites, tasks and where to find what."""
        return answer(self._told())

    async def listed(self, request: Request) -> Response:
        """Return the tasks: the official ones, or with all=true everything that a reset accepts."""
        is_complete = request.query_params.get("all", "").lower() in ("1", "true", "yes")
        suite = request.query_params.get("suite", "")
        listed = tasks.catalogue(is_complete=is_complete)
        if suite:
            try:
                chosen, _ = find_task(suite)
            except UnknownName as error:
                raise self._play.counted(from_simulator(error)) from None
            listed = [entry for entry in listed if entry["suite"] == chosen.id]
        return answer({"tasks": listed, "count": len(listed)})

    async def grade(self, request: Request) -> Response:
        """Score the caller's own episode, on a fork; with no episode at all, what doing nothing is worth."""
        body = await json_body(request, default={})
        wanted = request.path_params.get("task_id") or body.get("task_id") or body.get("task") or ""
        if not isinstance(wanted, str):
            wanted = ""
        try:
            suite, task = find_task("", wanted)
        except UnknownName as error:
            raise self._play.counted(from_simulator(error)) from None
        try:
            session = self._episodes.session_of(request, body, needs_token=True)
        except Refusal as refusal:
            if refusal.code != "EPISODE_NOT_STARTED":
                raise
            score = graders.grade(task.id, suite=suite.id)
            return answer(
                {
                    "task_id": task.id,
                    "score": score,
                    "reward": score,
                    "episode_id": None,
                    "graded": "untouched",
                    "done": False,
                }
            )
        score = graders.clamped(self._play.score(session))
        shown = session.environment.described_task() or {}
        if wanted and shown.get("id") != wanted and request.path_params.get("task_id"):
            raise self._play.counted(
                Refusal(
                    409,
                    "TASK_DIFFERS",
                    f"the episode plays another task than {wanted!r}; send its episode_id or reset",
                )
            )
        content = {
            "task_id": shown.get("id"),
            "score": score,
            "reward": score,
            "episode_id": session.episode_id,
            "graded": "episode",
            "done": session.is_done,
        }
        return answer(content)

    async def ready(self, _: Request) -> Response:
        """Tell how many slots are free; 503 when none is."""
        used, bound = len(self._play.table), self._play.settings.episodes_max
        content = {
            "status": "ready" if used < bound else "full",
            "sessions": used,
            "sessions_max": bound,
            "episodes_live": self._play.table.episodes_live,
        }
        return answer(content, 200 if used < bound else 503)

    async def metrics(self, _: Request) -> Response:
        """Return the figures in Prometheus's text form."""
        return Response(self._play.metrics.text(), media_type="text/plain; version=0.0.4; charset=utf-8")

    def _told(self) -> dict[str, Any]:
        return {
            "name": NAME,
            "version": VERSION,
            "description": DESCRIPTION,
            "backend": self._play.settings.backend,
            "suites": [
                {"id": suite.id, "summary": suite.summary, "reward_range": list(suite.reward_range)}
                for suite in all_of_them()
            ],
            "tasks": tasks.catalogue(),
            "action": {"command": "kubectl get pods --all-namespaces"},
            "endpoints": {
                "websocket": "/ws",
                "reset": "POST /reset",
                "step": "POST /step",
                "state": "GET /state",
                "tasks": "GET /tasks",
                "grader": "POST /grader",
                "schema": "GET /schema",
                "health": "GET /health",
                "metrics": "GET /metrics",
                "documentation": "/docs",
            },
        }


def _prefers_html(accept: str) -> bool:
    kinds = [part.split(";", 1)[0].strip().lower() for part in accept.split(",")]
    if "text/html" not in kinds:
        return False
    return "application/json" not in kinds or kinds.index("text/html") < kinds.index("application/json")


def register(app: FastAPI, routes: InfoRoutes) -> None:
    """Add the reading routes."""
    for path, method, handler, tag in (
        ("/", "GET", routes.root, "Environment Info"),
        ("/info", "GET", routes.info, "Environment Info"),
        ("/tasks", "GET", routes.listed, "Tasks"),
        ("/grader", "POST", routes.grade, "Tasks"),
        ("/grade", "POST", routes.grade, "Tasks"),
        ("/grader/{task_id}", "POST", routes.grade, "Tasks"),
        ("/grade/{task_id}", "POST", routes.grade, "Tasks"),
        ("/ready", "GET", routes.ready, "Health"),
        ("/metrics", "GET", routes.metrics, "Health"),
    ):
        app.add_api_route(
            path,
            with_refusals(handler),
            methods=[method],
            tags=[tag],
            response_model=None,
            name=f"{handler.__name__}:{path}",
        )
