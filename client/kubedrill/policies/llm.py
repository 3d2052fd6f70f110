"""Asks a chat-completions model for the next command, by a tool call where the model can, from its text where it cannot."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable
from typing import Any, Final

from openai import APIConnectionError, APIError, APIStatusError, APITimeoutError, OpenAI, OpenAIError

from kubedrill.models import RUN_COMMAND, KubeObservation
from kubedrill.policies import PolicyError

ATTEMPTS_MAX: Final = 5
REQUEST_S_MAX: Final = 90.0
PAUSE_S_FIRST: Final = 1.0
PAUSE_S_MAX: Final = 20.0
OUTPUT_CHARS_MAX: Final = 6_000
TOKENS_MAX: Final = 1_024

SYSTEM_PROMPT: Final = """\
You are the engineer on call for a Kubernetes cluster. Something is broken; you have a terminal and a limited number of commands.
Call run_command with one command line that begins with kubectl or curl. Pipes into grep, head, awk, jq and the like work; nothing interactive does.
Find the root cause before you change anything: compare selectors with labels, endpoints, environment variables and config with what exists, policies with what must be reachable, limits with needs; there may be more than one cause.
Make the smallest repair that lasts: fix what is wrong where it is declared, so that it survives restarts; pods read a changed ConfigMap only after a rollout restart.
Do not delete or recreate the application, do not work around the fault, do not touch what is not broken. Changing commands cost reward, reading is free.
The episode ends by itself when the repair is complete."""

_TOOL: Final[dict[str, Any]] = {
    "type": "function",
    "function": {
        "name": RUN_COMMAND,
        "description": "Run one command line in the terminal and see its output.",
        "parameters": {
            "type": "object",
            "properties": {
                "command": {
                    "type": "string",
                    "description": "A command line that begins with kubectl or curl.",
                }
            },
            "required": ["command"],
            "additionalProperties": False,
        },
    },
}
_FENCE = re.compile(r"```[a-zA-Z]*\n(.*?)```", re.DOTALL)
_COMMAND = re.compile(r"^[\s$>`*-]*((?:kubectl|curl)\s.+?)`*\s*$", re.MULTILINE)
_NUDGE: Final = "Answer with a call of run_command, whose argument command begins with kubectl or curl."


class _Unusable(Exception):
    """Raised for an answer that holds no command."""

    def __init__(self, why: str, message: dict[str, Any] | None = None) -> None:
        super().__init__(why)
        self.message = message


class LlmPolicy:
    """One conversation with a model. The model is asked again after throttling, server errors, time-outs and unusable answers."""

    def __init__(
        self,
        client: OpenAI,
        model: str,
        *,
        ends_at_s: float = float("inf"),
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
        note: Callable[[str], None] = lambda _: None,
    ) -> None:
        # Retries are ours: the SDK's own neither know the budget nor see an empty or malformed answer.
        self._client = client.with_options(max_retries=0)
        self._ends_at_s = ends_at_s
        self._clock = clock
        self._sleep = sleep
        self._note = note
        self._messages: list[dict[str, Any]] = [{"role": "system", "content": SYSTEM_PROMPT}]
        self._call_id: str | None = None
        self.name = model

    def act(self, observation: KubeObservation) -> str | None:
        """Return the model's next command.

        Raises:
            PolicyError: if the model gives no usable answer in time.
        """
        self._messages.append(self._told(observation))
        why = "no attempt"
        for attempt in range(ATTEMPTS_MAX):
            try:
                return self._asked()
            except _Unusable as error:
                why = str(error)
                if error.message is not None:
                    self._messages += [error.message, {"role": "user", "content": _NUDGE}]
            except (APITimeoutError, APIConnectionError) as error:
                why = f"{type(error).__name__}: {error}"
                self._pause(attempt, None)
            except APIStatusError as error:
                why = f"HTTP {error.status_code}: {error.message}"
                if error.status_code not in (408, 409, 425, 429) and error.status_code < 500:
                    break
                self._pause(attempt, error.response.headers.get("retry-after"))
            except (APIError, json.JSONDecodeError, ValueError) as error:
                why = f"malformed answer: {error}"
                self._pause(attempt, None)
            except OpenAIError as error:
                raise PolicyError(str(error)) from error
            self._note(f"model: {why}")
        raise PolicyError(f"the model gave no command: {why}")

    def _asked(self) -> str:
        left_s = self._ends_at_s - self._clock()
        if left_s <= 1.0:
            raise PolicyError("the time for this run is used up")
        completion = self._client.chat.completions.create(
            model=self.name,
            # Plain JSON objects: the SDK types each role apart, servers of its protocol take any.
            messages=self._messages,  # type: ignore[arg-type]
            tools=[_TOOL],  # type: ignore[list-item]
            temperature=0.0,
            max_tokens=TOKENS_MAX,
            timeout=min(REQUEST_S_MAX, left_s),
        )
        choices = getattr(completion, "choices", None)
        if not choices or getattr(choices[0], "message", None) is None:
            raise _Unusable("the answer has no choices")
        return self._command_of(choices[0].message)

    def _command_of(self, message: Any) -> str:
        text = message.content or ""
        for call in getattr(message, "tool_calls", None) or ():
            command = _argument(getattr(call, "function", None))
            if command:
                function = {"name": RUN_COMMAND, "arguments": json.dumps({"command": command})}
                self._call_id = call.id or "call"
                entry = {"id": self._call_id, "type": "function", "function": function}
                self._messages.append({"role": "assistant", "content": text, "tool_calls": [entry]})
                return command
        command = command_in(text)
        if command:
            self._call_id = None
            self._messages.append({"role": "assistant", "content": text})
            return command
        raise _Unusable("the answer holds no command", {"role": "assistant", "content": text or "(nothing)"})

    def _told(self, observation: KubeObservation) -> dict[str, Any]:
        content = described(observation)
        if self._call_id is not None:
            return {"role": "tool", "tool_call_id": self._call_id, "content": content}
        return {"role": "user", "content": content}

    def _pause(self, attempt: int, retry_after: str | None) -> None:
        pause_s = min(PAUSE_S_MAX, PAUSE_S_FIRST * 2**attempt)
        if retry_after is not None and retry_after.strip().isdecimal():
            pause_s = min(PAUSE_S_MAX, max(pause_s, float(retry_after)))
        self._sleep(max(0.0, min(pause_s, self._ends_at_s - self._clock())))


def _argument(function: Any) -> str:
    if function is None:
        return ""
    try:
        arguments = json.loads(function.arguments or "{}")
    except (TypeError, ValueError):
        return command_in(str(function.arguments))
    command = arguments.get("command") if isinstance(arguments, dict) else arguments
    return command.strip() if isinstance(command, str) else ""


def command_in(text: str) -> str:
    """Return the first command line in a model's text: from a fenced block if there is one; empty if there is none."""
    for block in (*_FENCE.findall(text), text):
        found = _COMMAND.search(block)
        if found:
            return found.group(1).strip()
    return ""


def described(observation: KubeObservation) -> str:
    """Return an observation as the text that a model reads."""
    parts: list[str] = []
    if observation.step_count == 0:
        parts += [f"Page: {observation.incident_brief}", f"Hint: {observation.recent_change_hint}"]
    else:
        parts += [
            f"$ {observation.last_action}",
            cut(observation.output) or "(no output)",
            f"exit code {observation.exit_code}",
        ]
    if observation.service_probe is not None:
        probe = observation.service_probe
        failure = f", {probe.error}" if probe.error else ""
        parts.append(
            f"Service: health {probe.health_status}, data {probe.data_status}, score {probe.score:g}{failure}"
        )
    if observation.cluster_summary is not None:
        parts += [f"{name}: {line}" for name, line in observation.cluster_summary.model_dump().items()]
    parts.append(
        f"Step {observation.step_count} of {observation.steps_max}. Last reward {observation.last_reward:g}."
    )
    return "\n".join(parts)


def cut(text: str) -> str:
    """Return the text, shortened in the middle as a terminal tool would."""
    text = text.rstrip()
    if len(text) <= OUTPUT_CHARS_MAX:
        return text
    head = OUTPUT_CHARS_MAX * 3 // 4
    tail = OUTPUT_CHARS_MAX - head
    return f"{text[:head]}\n[… {len(text) - head - tail} characters left out …]\n{text[-tail:]}"
