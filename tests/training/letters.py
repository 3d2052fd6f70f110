"""A dialect whose tokens are characters, and a policy that follows a plan: what rollouts need, without a model."""

from __future__ import annotations

import zlib

from training.rollouts import Action, EpisodeRequest, Turn

END = 0
NEXT = "\n> "


def ids_of(text):
    return [ord(letter) for letter in text]


def text_of(token_ids):
    return "".join(chr(token) if token else "<end>" for token in token_ids)


class Letters:
    """`run COMMAND<end>` is an action; any other turn is none."""

    eos = END

    def prompt_ids(self, request, observation):
        return ids_of(f"{request.task} {request.seed}\n{observation.incident_brief}{NEXT}")

    def parse(self, token_ids):
        said = text_of(token_ids)
        return Action(said[4 : -len("<end>")]) if said.startswith("run ") and said.endswith("<end>") else None

    def reply_ids(self, observation):
        return ids_of(f"\n{observation.output}{NEXT}")


class Planned:
    """Plays the plan of the (task, seed) that its context names; after its end it says so in words.

    `SEEN` in a command becomes a checksum of the context, so that a context that differs shows in the actions.
    """

    def __init__(self, plans, on_call=None):
        self.plans = plans
        self.calls = 0
        self.contexts = 0
        self.longest = 0
        self._on_call = on_call

    def generate(self, contexts, max_new_tokens):
        self.calls += 1
        self.contexts += len(contexts)
        if self._on_call is not None:
            self._on_call(self.calls)
        return [self._turn(context, max_new_tokens) for context in contexts]

    def _turn(self, context, max_new_tokens):
        self.longest = max(self.longest, len(context))
        task, seed = text_of(context).split("\n", 1)[0].split()
        plan = self.plans[task, int(seed)]
        number = context.count(END)
        seen = zlib.crc32(repr(context).encode())
        said = f"run {plan[number].replace('SEEN', str(seen))}" if number < len(plan) else "that is all"
        token_ids = [*ids_of(said), END]
        kept = token_ids[:max_new_tokens]
        # As from a sampler: a number that depends on what came before and on the token.
        logprobs = [-((seen + token) % 97 + 1) / 97 for token in kept]
        return Turn(kept, logprobs, is_cut=len(kept) < len(token_ids))


def requests_for(plans, times, options=None):
    """Return so many equal requests for each plan, next to each other, as a trainer's groups are."""
    return [
        EpisodeRequest("tron", task, seed, dict(options or {})) for task, seed in plans for _ in range(times)
    ]
