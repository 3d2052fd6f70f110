"""Same task, seed and commands: the same bytes, in any process, on any fork."""

import subprocess
import sys

import orjson
import pytest

from env_core.apiserver.store import Store, dump
from env_core.episode import Episode

SCRIPT = (
    "kubectl -n tron get pods -o wide",
    "kubectl -n tron describe deploy nginx",
    "kubectl -n tron rollout restart deploy/nginx",
    "kubectl -n tron get events",
    "kubectl -n tron delete pod -l app=redis",
    "kubectl -n tron get svc,ep -o yaml",
)

PROGRAM = """
import sys
from env_core.episode import Episode
episode, result = Episode.reset(task=sys.argv[1], seed=int(sys.argv[2]))
for line in sys.stdin.read().splitlines():
    result = episode.step(line)
print(episode.digest())
"""


def digest_in_a_process(task: str, seed: int, hash_seed: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, task, str(seed)],
        input="\n".join(SCRIPT),
        env={"PYTHONHASHSEED": hash_seed, "PATH": ""},
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.strip()


@pytest.mark.parametrize(("task", "seed"), [("easy", 3), ("hard", 17), ("repair-2", 1_003)])
def test_two_hash_seeds_give_the_same_digest(task, seed):
    assert digest_in_a_process(task, seed, "0") == digest_in_a_process(task, seed, "4711")


def test_an_episode_does_not_depend_on_what_was_played_before_it():
    fresh = digest_in_a_process("medium", 5, "1")
    Episode.reset(task="easy", seed=5)[0].step("kubectl -n tron delete deploy nginx")
    episode, _ = Episode.reset(task="medium", seed=5)
    for line in SCRIPT:
        episode.step(line)
    assert episode.digest() == fresh


def test_a_fork_continues_exactly_as_its_origin_would():
    episode, _ = Episode.reset(task="hard", seed=2)
    for line in SCRIPT[:3]:
        episode.step(line)
    fork = episode.fork()
    mine = [episode.step(line).observation for line in SCRIPT[3:]]
    theirs = [fork.step(line).observation for line in SCRIPT[3:]]
    assert mine == theirs
    assert episode.digest() == fork.digest()


def test_a_fork_does_not_disturb_its_origin():
    episode, _ = Episode.reset(task="hard", seed=2)
    before = dump(episode._incident.cluster.store)
    fork = episode.fork()
    for line in SCRIPT:
        fork.step(line)
    assert dump(episode._incident.cluster.store) == before


def test_different_seeds_give_different_worlds():
    digests = {Episode.reset(task="easy", seed=seed)[0].digest() for seed in range(12)}
    assert len(digests) == 12


def test_no_stored_object_is_ever_mutated(monkeypatch):
    stored: list[tuple[dict, bytes]] = []
    put = Store.put

    def guarded(self, resource, obj, written=None):
        kept = put(self, resource, obj, written)
        stored.append((kept, orjson.dumps(kept, option=orjson.OPT_SORT_KEYS)))
        return kept

    monkeypatch.setattr(Store, "put", guarded)
    episode, _ = Episode.reset(task="hard", seed=987)
    for line in SCRIPT:
        episode.step(line)
    episode.score()
    assert len(stored) > 100
    changed = [
        obj["metadata"]["name"]
        for obj, text in stored
        if orjson.dumps(obj, option=orjson.OPT_SORT_KEYS) != text
    ]
    assert changed == []
