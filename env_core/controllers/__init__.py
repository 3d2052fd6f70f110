"""Controllers, one per module, each with one constant `CONTROLLER`."""

from env_core.controllers._model import Controller, Key, Requeue, controller_key, own_key

__all__ = ["Controller", "Key", "Requeue", "controller_key", "own_key"]
