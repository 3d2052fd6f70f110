"""kubelet/kubectl: what kubectl printed of the recorded pods at some moments of their time lines."""

from __future__ import annotations

import re
import shlex

from tests.golden.comparison import Comparison, Topic
from tests.golden.normalise import random_suffix
from tests.golden.recordings import Folder, Record
from tests.golden.times import near
from tests.golden.topics.timelines import cases_of
from tests.node.lab import Lab
from tests.node.laboratory import NodePlay
from tests.node.playing import Play

MOMENTS_MS = (0, 50, -100, 150, -300, 300, 500, -500, 800, -800, 1_200, -1_200, 1_600, -1_600)
"""README: "treat offsets as ±~0.3 s", "the late recordings … up to ~1.5 s": which moments are tried, by nearness."""
SLACK_S = 2
"""The same, and times are shown in whole seconds; a restart comes at a tick of a second, whose phase is not recorded."""
SEEDS = (7, 8, 9)
"""Chance decides which of two comes first, and where within its second a kubelet looks."""
NODE_SLACK_S = 10
"""Kubelets look at their node every ten seconds, controllers every five; the phases are not recorded."""
_SCRIPT = re.compile(r"^Annotations: +oracle/script:(?: .*|\n +\{.*)\n", re.MULTILINE)
_MORE_SCRIPT = re.compile(r"^(Annotations:)?( +)oracle/script:(?: \{.*|\n +\{.*)\n", re.MULTILINE)
_ADDRESS = re.compile(r"\b10\.2\d\d\.\d+\.\d+ *")
_HOST = re.compile(r"\b10\.0\.0\.\d+")
_UID = re.compile(r"(?<![0-9a-f])[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}(?![0-9a-f])")
_NODE = re.compile(r"involvedObject\.name=(node-\d)")
_VERSION = re.compile(r'resourceVersion: "\d+"')
_ID = re.compile(r"\b[0-9a-f]{64}\b")
_PULLED = re.compile(r"in [\d.]+m?s \([\d.]+m?s including waiting\)")
_PORT = re.compile(r"(read tcp )\S+->")
_ATTEMPT = re.compile(r"attempt at \d+ ms")
_EVENTS = re.compile(r"^Events:\n.*\n.*\n((?:  .*\n)+)", re.MULTILINE)


def run(world: Lab, line: str) -> tuple[int, str, str]:
    """Run a kubectl command and return exit code, output and errors."""
    output = world.kubectl(line)
    return output.exit_code, output.stdout, output.stderr


def printed(text: str) -> str:
    """Fix what is drawn or measured in a printed text, and leave out the script's annotation.

    kubelet: "every replacement keeps its length, so that columns stay aligned: pod IPs 10.24x.…, host IP 10.0.0.11, ids
    are zero-padded numbers"; "`describe` shows the annotation `oracle/script`; ignore that line"; "`$SUF` random
    suffix"; pulls take the time that the recorder's machine took ("offsets as ±~0.3 s").
    """
    text = _SCRIPT.sub("Annotations:      <none>\n", text)
    text = _MORE_SCRIPT.sub(lambda found: found[1] + found[2] + "\n" if found[1] else "", text)
    text = _ID.sub(
        "<id>",
        _UID.sub("<uid>", random_suffix(text.replace("-sufix ", "-00000 ").replace("-sufix:", "-00000:"))),
    )
    text = _HOST.sub(
        "<host>",
        _PORT.sub(r"\1<source>->", _PULLED.sub("in <time>", _ATTEMPT.sub("attempt at <n> ms", text))),
    )
    return _rows(_VERSION.sub('resourceVersion: "<n>"', text))


def _rows(text: str) -> str:
    """Mask pod addresses, whose lengths may differ."""
    return re.sub(r" IP +NODE ", " IP NODE ", _ADDRESS.sub("<ip> ", text))


def _sorted_events(text: str) -> str:
    """Put the rows of described events in an order that times do not change.

    kubelet: "treat offsets as ±~0.3 s": events of nearly the same second change places.
    """
    found = _EVENTS.search(text)
    if found is None:
        return text
    rows = sorted(found[1].splitlines(keepends=True), key=lambda row: re.sub(r" +", " ", _AGES.sub("", row)))
    return text[: found.start(1)] + "".join(rows) + text[found.end(1) :]


_AGES = re.compile(r"(?:\d+[dhms])+(?: \(x\d+ over (?:\d+[dhms])+\))?")


def agree(wanted: str, got: str, slack_s: int = SLACK_S) -> bool:
    """Whether two printed texts say the same, with times that are near."""
    theirs, ours = _sorted_events(printed(wanted)).split("\n"), _sorted_events(printed(got)).split("\n")
    return len(theirs) == len(ours) and all(
        near(one, other, slack_s) for one, other in zip(theirs, ours, strict=True)
    )


def _shows_others(argv: list[str], case: str) -> bool:
    """kubelet: "`describe node`, `get pods`, `get events` and the drain outputs also show pods of other cases"."""
    return case not in argv


def _rows_sorted(text: str, node: Record | None) -> str:
    """A list of events in the order of what they say: they are listed by when they were, to the nanosecond."""
    if node is None:
        return text
    head, *rows = text.splitlines(keepends=True) or [""]
    return head + "".join(sorted(rows, key=lambda row: row.partition(" ")[2].lstrip()))


def _node_of(record: Record, case: Record, folder: Folder) -> Record | None:
    """The recorded node that a command is about, None for the others."""
    found = _NODE.search(record["argv"])
    if found is None:
        return None
    rows = folder.companion("kubelet/nodes.jsonl")
    return next(
        (each for each in rows if each["node"] == found[1] and each["recording"] == case["recording"]), None
    )


def _results(play: Play, line: str, at_ms: int) -> list[tuple[int, str, str]]:
    """What a command prints at the moments at which it may have run, the likeliest first."""
    moments = [at_ms + offset for offset in MOMENTS_MS]
    if play.late_ms:
        moments += [at_ms - play.late_ms + offset for offset in MOMENTS_MS]
    found = {}
    for moment in sorted(set(moments)):
        play.run_to(max(moment, 0))
        found[moment] = run(play.world, line)
    return [found[moment] for moment in moments]


def judge(record: Record, folder: Folder) -> Comparison:
    """Run the command at the moments at which it may have run, and take the one that fits."""
    cases = cases_of(folder)
    case = cases[record["case"]]
    argv = shlex.split(record["argv"])[1:]
    wanted = {key: record[key] for key in ("rc", "stdout", "stderr")}
    apart = "" if case["standalone"] else "dependent"
    if _shows_others(argv, record["case"]):
        apart = "other cases' pods"
    first: tuple[int, str, str] | None = None
    node = _node_of(record, case, folder)
    for seed in SEEDS:
        try:
            if node is not None:
                of_node = NodePlay(node, cases, seed, origin_ms=case["posted_ms"])
                results = _results(of_node, record["argv"], case["posted_ms"] + record["at_ms"])
            else:
                results = _results(Play(case, cases, seed), record["argv"], record["at_ms"])
        except Exception as error:  # a crash is a difference like others
            return Comparison(wanted, f"raised {type(error).__name__}: {error}", apart=apart)
        for got in results:
            first = first or got
            slack_s = SLACK_S if node is None else NODE_SLACK_S
            if (
                got[0] == record["rc"]
                and agree(_rows_sorted(record["stdout"], node), _rows_sorted(got[1], node), slack_s)
                and agree(record["stderr"], got[2])
            ):
                return Comparison(wanted, wanted, apart=apart)
    assert first is not None
    shown = {"rc": first[0], "stdout": _sorted_events(printed(first[1])), "stderr": printed(first[2])}
    masked = {
        "rc": record["rc"],
        "stdout": _sorted_events(printed(record["stdout"])),
        "stderr": printed(record["stderr"]),
    }
    return Comparison(masked, shown, apart=apart)


TOPIC = Topic(
    name="kubelet/kubectl", files=("kubectl.jsonl",), answers=("stdout", "stderr", "rc"), judge=judge
)
