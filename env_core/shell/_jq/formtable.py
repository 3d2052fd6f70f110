"""The shape of a jq function whose arguments are filters."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from env_core.shell._jq.evaluate import Evaluator, Found, Path
from env_core.shell._jq.nodes import Node
from env_core.shell._jq.scope import Scope
from env_core.shell._jq.values import Json

Form = Callable[[Evaluator, tuple[Node, ...], Scope, Json, Path], Iterator[Found]]
"""The evaluator, the arguments as filters, the scope, the input and its path, to results."""
