"""`KEY=VALUE` and `KEY-` arguments.

Source: k8s.io/kubectl pkg/cmd/util helpers.go (GetResourcesAndPairs, ParsePairs).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from env_core.kubectl.screen import Failure


def split_pairs(words: Sequence[str], what: str) -> tuple[list[str], list[str]]:
    """Return the resource arguments and the pairs behind them.

    Raises:
        Failure: when a resource comes after a pair.
    """
    resources: list[str] = []
    pairs: list[str] = []
    for word in words:
        if ("=" in word and word[0] != "=") or (word.endswith("-") and word != "-"):
            pairs.append(word)
        elif pairs:
            raise Failure(f"all resources must be specified before {what} changes: {word}")
        else:
            resources.append(word)
    return resources, pairs


def read_pairs(pairs: Iterable[str], what: str, *, allows_removal: bool) -> tuple[dict[str, str], list[str]]:
    """Return the new values and the keys to remove.

    Raises:
        Failure: for anything else.
    """
    values: dict[str, str] = {}
    removed: list[str] = []
    wrong: list[str] = []
    for pair in pairs:
        if "=" in pair and pair[0] != "=":
            key, _, value = pair.partition("=")
            values[key] = value
        elif allows_removal and pair.endswith("-") and pair != "-":
            removed.append(pair[:-1])
        else:
            wrong.append(pair)
    if wrong:
        raise Failure(f"invalid {what} format: {', '.join(wrong)}")
    return values, removed


def read_labels(text: str) -> dict[str, str]:
    """Return the labels of `--labels=a=b,c=d`.

    Raises:
        Failure: for a term without exactly one equals sign.
    """
    labels: dict[str, str] = {}
    for term in text.split(",") if text else ():
        parts = term.split("=")
        if len(parts) != 2:
            raise Failure(f"unexpected label spec: {term}")
        if not parts[0]:
            raise Failure("unexpected empty label key")
        labels[parts[0]] = parts[1]
    return labels
