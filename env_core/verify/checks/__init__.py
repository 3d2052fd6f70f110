"""The vocabulary of checks: functions that build named predicates over a view."""

from env_core.verify.checks._model import Check

__all__ = ["Check"]
