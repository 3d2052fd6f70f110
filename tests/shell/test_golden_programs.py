import pytest

from tests.shell import shellkit

FLOORS = {"dash": 150, "ash": 144, "mawk": 9, "bbawk": 9, "jq": 35}


def family(record):
    last = record["id"].rsplit(".", 1)[-1]
    return "jq" if last.startswith("jq_") else last


@pytest.mark.parametrize("kind", sorted(FLOORS))
def test_recordings_of_real_programs_are_matched(kind):
    matched, differences = 0, []
    for record in shellkit.records("shell"):
        if family(record) != kind:
            continue
        output = shellkit.replayed(record, "busybox" if kind in ("ash", "bbawk") else "gnu")
        wanted = (record["stdout"], record["stderr"], record["exit"])
        if output is not None and (output.stdout, output.stderr, output.exit_code) == wanted:
            matched += 1
        else:
            differences.append((record["id"], wanted, output))
    assert matched >= FLOORS[kind], differences[:3]
