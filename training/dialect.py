"""How an episode is written for a model with a chat template: the page, the calls, the results, as token ids.

What a turn adds is tokenised on its own and joined, as the chat template would write it; the model's own turns are never
tokenised again.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from functools import lru_cache
from typing import Any

from kubedrill.models import RUN_COMMAND, KubeObservation
from training.rollouts import Action, EpisodeRequest

TOOLS: list[dict[str, Any]] = [
    {
        "type": "function",
        "function": {
            "name": RUN_COMMAND,
            "description": "Run one line in the on-call shell: kubectl, curl and text filters.",
            "parameters": {
                "type": "object",
                "properties": {"command": {"type": "string", "description": "The line to run."}},
                "required": ["command"],
            },
        },
    }
]
"""What the model may call. Its name must stand in the text that the model receives."""

SYSTEM = (
    "You are on call for a Kubernetes cluster. Investigate with narrow reads before you change anything, repair the cause so that "
    "it stays repaired, and touch nothing else. One call at a time."
)

_CALL = re.compile(r"<tool_call>\s*(.*?)\s*</tool_call>", re.DOTALL)
_URL = re.compile(r"https?://[^\s;,]*[^\s;,.]")
_NAMESPACE = re.compile(r"namespace ([a-z0-9-]+)|rollout in ([a-z0-9-]+)|: ([a-z0-9-]+) has pods")

Messages = list[dict[str, Any]]
Page = Callable[[KubeObservation], Messages]


def full_page(observation: KubeObservation) -> Messages:
    """Return what a capable model reads first: the rules, the page, the hint and the budget."""
    text = f"{observation.incident_brief}\n{observation.recent_change_hint}\nYou have {observation.steps_max} steps."
    return [{"role": "system", "content": SYSTEM}, {"role": "user", "content": text}]


def narrow_page(observation: KubeObservation) -> Messages:
    """Return the page in a few words, for a small model: the address that it names, else the namespace."""
    brief = observation.incident_brief
    if found := _URL.search(brief):
        return [{"role": "user", "content": f"page: {found[0]}"}]
    space = _NAMESPACE.search(brief)
    return [{"role": "user", "content": f"page: {next(filter(None, space.groups()))}" if space else "page"}]


PAGES: dict[str, Page] = {"full": full_page, "narrow": narrow_page}


def call_of(command: str) -> dict[str, Any]:
    """Return the assistant's message that runs a command."""
    call = {"type": "function", "function": {"name": RUN_COMMAND, "arguments": {"command": command}}}
    return {"role": "assistant", "content": "", "tool_calls": [call]}


def result_of(output: str) -> dict[str, Any]:
    """Return the message that carries what a command printed."""
    return {"role": "tool", "name": RUN_COMMAND, "content": output.strip()}


def plain_call(text: str) -> Action | None:
    """Read a turn of the small model: a command line between the marks."""
    found = _CALL.findall(text)
    return Action(found[0]) if len(found) == 1 and found[0] else None


def json_call(text: str) -> Action | None:
    """Read a turn in the style of Qwen3 (Hermes): one JSON object between the marks."""
    found = _CALL.findall(text)
    if len(found) != 1:
        return None
    try:
        call = json.loads(found[0])
        command = call["arguments"]["command"] if call["name"] == RUN_COMMAND else None
    except (ValueError, KeyError, TypeError):
        return None
    return Action(command) if isinstance(command, str) and command.strip() else None


CALLS: dict[str, Callable[[str], Action | None]] = {"plain": plain_call, "json": json_call}


class ChatDialect:
    """An episode as a conversation, written by the tokenizer's own chat template."""

    def __init__(
        self, tokenizer: Any, *, page: str, call: str, template_kwargs: dict[str, Any] | None = None
    ) -> None:
        self.eos: int = tokenizer.eos_token_id
        self._tokenizer = tokenizer
        self._page = PAGES[page]
        self._call = CALLS[call]
        self._kwargs = template_kwargs or {}
        self._reply = lru_cache(maxsize=4_096)(self._replied)

    def messages(self, observation: KubeObservation) -> Messages:
        """Return the conversation before the first turn."""
        return self._page(observation)

    def prompt_ids(self, request: EpisodeRequest, observation: KubeObservation) -> list[int]:
        """Return the tools, the page and the start of the first turn."""
        return self._ids(self.messages(observation), add_generation_prompt=True)

    def parse(self, token_ids: list[int]) -> Action | None:
        """Return the one call of a turn; None for plain text, several calls, or a call that cannot be read."""
        if not token_ids or token_ids[-1] != self.eos:
            return None
        return self._call(self._tokenizer.decode(token_ids[:-1], skip_special_tokens=False))

    def reply_ids(self, observation: KubeObservation) -> list[int]:
        """Return the result and the start of the next turn."""
        return list(self._reply(observation.output.strip()))

    def _replied(self, output: str) -> tuple[int, ...]:
        # What the template writes after a turn is what a conversation gains by the result.
        before = [{"role": "user", "content": "-"}, call_of("-")]
        shorter = self._ids(before)
        cut = len(shorter) - shorter[::-1].index(self.eos)
        longer = self._ids([*before, result_of(output)], add_generation_prompt=True)
        if longer[:cut] != shorter[:cut]:
            raise ValueError("the chat template rewrites earlier turns; take one that keeps prefixes")
        return tuple(longer[cut:])

    def _ids(self, messages: Messages, *, add_generation_prompt: bool = False) -> list[int]:
        ids: list[int] = self._tokenizer.apply_chat_template(
            messages,
            tools=TOOLS,
            add_generation_prompt=add_generation_prompt,
            tokenize=True,
            return_dict=False,
            **self._kwargs,
        )
        return ids
