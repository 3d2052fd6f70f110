"""What kustomize says when a build fails."""

from __future__ import annotations


class KustomizeError(Exception):
    """A build that fails; `text` is kustomize's error, without "error: " in front."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.text = text

    def within(self, prefix: str) -> KustomizeError:
        """Return the same error behind what was being done (kyaml errors.WrapPrefixf)."""
        return KustomizeError(f"{prefix}: {self.text}")
