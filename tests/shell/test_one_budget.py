"""One line draws all its work from one budget, whatever it sets in motion; what is too much is stopped, and scored."""

from __future__ import annotations

import pytest

from env_core.episode import Episode
from env_core.objects.regex import RegexProblem, compile_expression
from env_core.sim.work import LINE_MAX, SETTLING_MAX
from env_core.suites import _terminal
from tests.shell.shellkit import run

STOPPED = 125
CRON_JOBS = r"""seq 200 | awk '{print "apiVersion: batch/v1\nkind: CronJob\nmetadata: {name: c" $1 "}\nspec:\n  schedule: \"* * * * *\"\n  jobTemplate: {spec: {template: {spec: {restartPolicy: Never, containers: [{name: a, image: \"busybox:1.36\", command: [\"true\"]}]}}}}\n---"}' > c; kubectl apply -f c"""
MANY_MAPS = r"""seq 20000 | awk '{print "{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{\"name\":\"m" $1 "\"}}"}' > m; kubectl create -f m"""


def _played(*lines: str) -> tuple[Episode, list[dict[str, object]], list[int]]:
    """Play lines from the start of an episode; return it, what was seen, and the work of each line."""
    episode, _ = Episode.reset(task="easy", seed=3)
    meter = episode._incident.cluster.work
    seen, done = [], []
    for line in lines:
        before = meter.done
        seen.append(episode.step(f"kubectl version --client > x; {line}").observation)
        done.append(meter.done - before)
    return episode, seen, done


@pytest.mark.parametrize(
    "line",
    [
        "for i in $(seq 900); do awk 'BEGIN{for(i=0;i<200000;i++)x+=i}'; done",
        "for i in $(seq 900); do jq -n '[range(50000)]|length'; done",
        "seq 20000 > f; for i in $(seq 900); do sed -n 's/1/2/gp' f > g; done",
        "seq 90000 > f; for i in $(seq 900); do grep 12345 f; done > g",
        "for i in $(seq 900); do kubectl get pods -A -o yaml; done > g",
        "seq 99999 | xargs -n 20 kubectl get pods > g",
        r"for i in $(seq 900); do head -c 4000 /dev/urandom > g; printf '%03500d\n' 1 | grep -c '0.*0.*1x'; done",
        "for i in $(seq 900); do kubectl -n tron exec deploy/redis -- sh -c 'seq 50000 | sort | wc'; done",
        MANY_MAPS,
        'awk \'BEGIN{s="x"; for(i=0;i<19;i++)s=s s; for(i=0;i<2000;i++)gsub(/x/,"x",s)}\'; awk 1 < x',
        "awk 'BEGIN{s=\"x\"; for(i=0;i<19;i++)s=s s; print s}' > l; sed \"$(yes 's/x/x/g' | head -n 900)\" l > m; awk 1 < x",
    ],
)
def test_a_line_that_does_too_much_is_stopped_and_the_episode_goes_on(line):
    episode, seen, done = _played(line, "true")
    assert seen[0]["exit_code"] == STOPPED
    assert str(seen[0]["output"]).endswith("stopped: too much work\n")
    assert done[0] < 2 * LINE_MAX + SETTLING_MAX
    assert seen[1]["exit_code"] == 0
    assert 0 <= episode.score() <= 1


def test_time_stands_still_in_a_cluster_that_does_too_much():
    episode, seen, done = _played(CRON_JOBS, "sleep 590", "sleep 590")
    assert [each["exit_code"] for each in seen] == [0, STOPPED, STOPPED]
    assert max(done) < 2 * LINE_MAX + SETTLING_MAX
    assert 0 <= episode.score() <= 1


def test_where_a_line_is_stopped_is_the_same_every_time():
    digests = {_played(CRON_JOBS, MANY_MAPS)[0].digest() for _ in range(2)}
    assert len(digests) == 1


def test_an_overloaded_cluster_is_no_repair():
    episode, _, _ = _played(CRON_JOBS)
    crowd = "seq 20 | xargs -I@ kubectl create deploy d@ --image=nginx:1.27 --replicas=40 > x"
    for _ in range(3):
        episode.step(f"kubectl version --client > x; {crowd}")
    assert episode.score() < 1


@pytest.mark.parametrize(
    ("pattern", "text", "is_refused"),
    [
        ("a.*a.*a.*x", "a" * 2_000, True),
        ("a*x", "a" * 200_000, True),
        ("(a|b)*x", "a" * 100_000, True),
        (
            "error.*timeout.*redis",
            "error connecting to the cache tier: timeout talking to redis " * 60,
            False,
        ),
        ("[0-9]+ms", "took 12ms " * 50_000, False),
        ('"name":"[^"]*"', '{"name":"abc","value":1},' * 20_000, False),
        (
            r"^([^ ]+) [^ ]+ [^ ]+ \[([^]]*)\] \"([A-Z]+) ([^ ]*) [^\"]*\" ([0-9]+) .*$",
            "1 - - [x] " * 40,
            False,
        ),
        (".*foo.*", "x" * 100_000, False),
    ],
)
def test_what_a_search_may_cost_is_told_from_the_text(pattern, text, is_refused):
    expression = compile_expression(pattern)
    if is_refused:
        with pytest.raises(RegexProblem, match="too complex for a line"):
            expression.search(text)
    else:
        expression.search(text)


@pytest.mark.parametrize(
    ("line", "text"),
    [
        (
            "kubectl get pods -A -o go-template='{{range 999}}{{range 999}}{{range 999}}{{end}}{{end}}{{end}}'",
            "template is too complex",
        ),
        (
            "seq 4000 | awk '{print $1%7}' > a; seq 4000 | awk '{print $1%11}' > b; diff a b",
            "diff: files with too many equal lines are not compared",
        ),
    ],
)
def test_one_command_takes_no_more_than_a_line_may(line, text):
    _, seen, done = _played(line)
    assert text in str(seen[0]["output"])
    assert done[0] < 2 * LINE_MAX + SETTLING_MAX


def test_jq_reads_many_values_in_a_row():
    output = run("seq 60000 | jq . | tail -n 1")
    assert (output.stdout, output.exit_code) == ("60000\n", 0)


def test_time_that_passes_by_itself_is_bounded_too(monkeypatch):
    monkeypatch.setattr(_terminal, "SETTLING_MAX", 50_000)
    episode, _, _ = _played(CRON_JOBS)
    before_ms = episode.now_ms
    episode.elapse(3_600_000)
    assert before_ms <= episode.now_ms < before_ms + 3_600_000
