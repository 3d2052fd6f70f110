"""An episode on record, played again: the same reset, the same entries, the same answers or it is our bug."""

from __future__ import annotations

from typing import Any

from server.environment import Frame, KubeEnvironment, KubeResetRequest
from server.journal import COMMAND, Recipe, seal
from server.kubernetes import entries


class ReplayDiverged(RuntimeError):
    """Raised when an episode on record does not play again as it was: our bug."""


def replayed(environment: KubeEnvironment, recipe: Recipe) -> Frame:
    """Play an episode of the journal again and return its last frame.

    Raises:
        ReplayDiverged: if an answer is not the one that was given.
    """
    request = KubeResetRequest(
        suite=recipe.suite,
        task=recipe.task,
        seed=recipe.seed,
        episode_id=recipe.episode_id,
        options=recipe.options,
    )
    frame = environment.begin(request)
    for action in recipe.actions:
        led_to, sealed = _again(environment, action.entry)
        frame = led_to or frame
        if sealed != action.seal:
            raise ReplayDiverged(
                f"step {environment.public_state()['step_count']} does not repeat what was answered"
            )
    return frame


def _again(environment: KubeEnvironment, entry: dict[str, Any]) -> tuple[Frame | None, str]:
    """Do again what an entry of the journal says, and return the frame of the step that it made and the seal."""
    if COMMAND in entry:
        frame = environment.act(entry[COMMAND])
        return frame, seal(frame)
    if entries.ELAPSE in entry:
        return environment.elapse(entry[entries.ELAPSE]), ""
    if entries.CALL in entry:
        content = entry[entries.CALL]
        called, led_to = environment.call(entries.request_in(content), is_paced=content["is_paced"])
        return led_to, entries.seal_of(called.answer)
    if entries.FORWARD in entry:
        content = entry[entries.FORWARD]
        exchanged, called, led_to = environment.forward(
            entries.request_in(content),
            content["port"],
            entries.data_in(content),
            is_paced=content["is_paced"],
        )
        return led_to, entries.seal_of(called.answer, exchanged)
    content = entry[entries.RUN]
    output, called, led_to = environment.run(
        entries.request_in(content), entries.stdin_in(content), is_paced=content["is_paced"]
    )
    return led_to, entries.seal_of(called.answer, output)
