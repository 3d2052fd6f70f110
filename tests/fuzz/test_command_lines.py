"""A sample of the random command lines; `python -m tests.fuzz.command_lines` runs as many as one likes."""

import itertools

import pytest

from env_core.episode import Episode
from tests.fuzz.command_lines import lines, troubles


@pytest.mark.parametrize("seed", range(2))
def test_no_line_breaks_the_simulator(seed):
    found, exits, _ = troubles(600, seed)
    assert found == []
    assert exits[0] > 30, "some lines must be right, or the sample tries nothing"


def test_the_same_seed_draws_the_same_lines():
    assert list(itertools.islice(lines(3), 50)) == list(itertools.islice(lines(3), 50))


@pytest.mark.parametrize(
    ("line", "words"),
    [
        (
            "kubectl get -f - <<'EOF'\napiVersion: v1\nkind: Pod\nmetadata: {generateName: q-}\nEOF",
            "NAME   AGE\n       <unknown>\n",
        ),
        (
            "kubectl set image a=b --local -f - <<'EOF'\napiVersion: v1\nkind: List\nitems: [{kind: Pod}]\nEOF",
            "Object 'apiVersion' is missing in '{\"kind\":\"Pod\"}'\n",
        ),
        (
            "kubectl set image a=b --local -f - <<'EOF'\napiVersion: example.com/v1\nkind: Foo\nEOF",
            'error: unable to decode "STDIN": no kind "Foo" is registered for version "example.com/v1" in scheme',
        ),
        ("kubectl cluster-info dump --output-directory /dev/null", "error: mkdir /dev/null: not a directory"),
        ("kubectl exec -f /dev/null -- ls", "error: cannot exec into multiple objects at a time"),
        ("kubectl --kubeconfig /tmp/none -s '[' get pods", "kubectl"),
        ("kubectl create deployment x --image $'a\\nb'", "deployment.apps/x created"),
        (
            "kubectl describe -l =b -f - <<'EOF'\nkind: ConfigMap\nEOF",
            "error: found '=', expected: !, identifier, or 'end of string'",
        ),
        (
            "kubectl label pods --all a=b --overwrite -l 'x y'",
            "error:",
        ),
    ],
)
def test_what_once_broke_it_is_answered(line, words):
    episode, _ = Episode.reset(suite="tron", task="easy", seed=1)
    assert words in episode.step(line).observation["output"]
