"""The public reward terms as an OpenEnv rubric tree, for whoever inspects an environment in process."""

from __future__ import annotations

from openenv.core.rubrics.base import Rubric

from kubedrill.models import KubeAction, KubeObservation


class TermRubric(Rubric):
    """One named term of the last step's reward; 0 where the step has none of it."""

    def __init__(self, name: str) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.name = name

    def forward(self, action: KubeAction, observation: KubeObservation) -> float:
        """Return the term's value."""
        return float(observation.metadata.get("reward_terms", {}).get(self.name, 0.0))


class RewardRubric(Rubric):
    """The reward of a step, with one child for every term that the suite has named so far.

    The value is computed by the suite, inside the environment; the rubric shows it and never changes it.
    """

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]

    def forward(self, action: KubeAction, observation: KubeObservation) -> float:
        """Return the reward, and let every child note its term."""
        for name in observation.metadata.get("reward_terms", {}):
            if name not in self._rubric_children:
                setattr(self, name, TermRubric(name))
        for child in self._rubric_children.values():
            child(action, observation)
        return float(observation.reward or 0.0)

    def reset(self) -> None:
        """Forget the scores of the episode before."""
        self.last_score = None
        for child in self._rubric_children.values():
            child.last_score = None
