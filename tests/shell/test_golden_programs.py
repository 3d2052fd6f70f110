"""The recorded clients, shells and tools print what the real ones printed, but for a few."""

import pytest

from tests.golden.recordings import GOLDEN, Folder
from tests.golden.replay import replay_records, topic_of

SHARES = {"shell": 0.98, "curl": 0.98, "wget": 0.98, "dns": 0.98, "nettools": 0.97, "busybox-upstream": 0.98}


@pytest.mark.parametrize("family", sorted(SHARES))
def test_recordings_of_real_programs_are_matched(family):
    path = GOLDEN / "programs" / f"{family}.jsonl.gz"
    topic = topic_of(path)
    assert topic is not None
    assert topic.judge is not None
    compared = [
        (name, comparison) for name, comparison in replay_records(topic, Folder(path)) if not comparison.apart
    ]
    different = [comparison.diff(name) for name, comparison in compared if not comparison.is_equal]
    assert 1 - len(different) / len(compared) >= SHARES[family], "\n".join(different[:3])
