"""What an agent reads of an observation after a step. The page, which a prompt is made of, is the dialect's affair."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

from kubedrill.models import KubeObservation

# What a command prints may hold any text; it must not begin or end a turn.
_MARKS: Final = re.compile(r"(<)(\||/?tool_|/?think)")
_CUT: Final = "\n[cut]\n"


def output(observation: KubeObservation) -> str:
    """Return what the command printed."""
    return observation.output


def status(observation: KubeObservation) -> str:
    """Return what the command printed, its exit code if it failed, and how the service looks from outside."""
    lines = [observation.output.rstrip("\n")]
    if observation.exit_code:
        lines.append(f"exit code {observation.exit_code}")
    if observation.service_probe is not None:
        probe = observation.service_probe
        lines.append(f"service: health {probe.health_status}, data {probe.data_status}")
    if observation.service_levels is not None:
        failing = [
            f"{level.name} {level.status}" for level in observation.service_levels if not level.is_served
        ]
        lines.append(f"not served: {', '.join(failing) or 'none'}")
    lines.append(f"step {observation.step_count} of {observation.steps_max}")
    return "\n".join(line for line in lines if line)


VIEWS: Final[dict[str, Callable[[KubeObservation], str]]] = {"output": output, "status": status}


def said(observation: KubeObservation, view: str, chars_max: int) -> str:
    """Return what an agent reads of the observation, in at most so many characters and without the marks of chat templates."""
    return shortened(_MARKS.sub(r"\1 \2", VIEWS[view](observation)), chars_max)


def shortened(text: str, chars_max: int) -> str:
    """Return the text; its beginning and end, with a remark in between, if it has more characters than that."""
    if len(text) <= chars_max:
        return text
    kept = max(0, chars_max - len(_CUT))
    tail = kept // 3
    return text[: kept - tail] + _CUT + text[len(text) - tail :]
