"""Containers whose command is a client or a script of clients: what they print, when, and how they end."""

import pytest

from tests.catalogue.worlds import healthy, run, terminal

POD = """apiVersion: v1
kind: Pod
metadata: {{name: {name}, namespace: tron}}
spec:
  restartPolicy: {policy}
  containers:
  - name: main
    image: {image}
    command: {command}
"""


class World:
    """A healthy tron with a terminal."""

    def __init__(self, cluster=None):
        self.cluster = healthy() if cluster is None else cluster
        self.terminal = terminal(self.cluster)

    def start(self, name, script, image="busybox", policy="Never", shell="sh"):
        command = [shell, "-c", script] if isinstance(script, str) else script
        text = POD.format(name=name, policy=policy, image=image, command=command)
        output = run(self.terminal, f"kubectl apply -f - <<'EOF'\n{text}EOF")
        assert output.exit_code == 0, output.stderr

    def logs(self, name, options=""):
        return run(self.terminal, f"kubectl -n tron logs {name} {options}").stdout.splitlines()

    def state(self, name):
        pod = self.cluster.store.get("pods", "tron", name)
        return pod["status"]["containerStatuses"][0]["state"]


@pytest.fixture
def world():
    return World()


def test_a_single_request_is_logged_and_its_exit_code_is_the_containers(world):
    world.start("good", ["curl", "-s", "http://nginx/health"], image="curlimages/curl")
    world.start("bad", ["curl", "-sS", "http://nowhere/"], image="curlimages/curl")
    world.cluster.advance(15_000)
    assert world.logs("good") == ["ok"]
    assert world.state("good")["terminated"]["reason"] == "Completed"
    assert world.logs("bad") == ["curl: (6) Could not resolve host: nowhere"]
    ended = world.state("bad")["terminated"]
    assert (ended["exitCode"], ended["reason"]) == (6, "Error")


def test_a_loop_goes_on_with_its_variables_and_sees_what_changes(world):
    world.start(
        "loop",
        "i=0; while true; do i=$((i+1)); wget -qO- http://nginx/health || echo down; echo $i; sleep 5; done",
    )
    world.cluster.advance(17_000)
    before = world.logs("loop")
    assert before[:4] == ["ok", "1", "ok", "2"]
    run(world.terminal, "kubectl -n tron scale deployment nginx --replicas=0")
    world.cluster.advance(60_000)
    assert "down" in world.logs("loop", "--tail=4")


def test_a_script_that_waits_for_a_name_ends_when_the_name_is_there(world):
    world.start(
        "wait",
        "until nslookup later.tron.svc.cluster.local >/dev/null; do echo waiting; sleep 2; done; exit 5",
    )
    world.cluster.advance(20_000)
    assert set(world.logs("wait")) == {"waiting"}
    assert "running" in world.state("wait")
    run(world.terminal, "kubectl -n tron create service clusterip later --tcp=80:80")
    world.cluster.advance(5_000)
    assert world.state("wait")["terminated"]["exitCode"] == 5


def test_a_failing_script_is_restarted_and_begins_anew(world):
    world.start("again", "echo begin; wget -qO- http://nowhere/; exit 1", policy="Always")
    world.cluster.advance(60_000)
    pod = world.cluster.store.get("pods", "tron", "again")
    assert pod["status"]["containerStatuses"][0]["restartCount"] >= 2
    assert world.logs("again") == ["begin", "wget: bad address 'nowhere'"]


def test_redirected_loops_are_silent_and_bash_is_bash(world):
    world.start("quiet", "while true; do wget -qO- http://nginx/health; sleep 1; done > /dev/null 2>&1")
    world.start(
        "bash",
        "for i in {1..3}; do curl -s http://nginx/health; sleep 1; done; exit 7",
        image="nicolaka/netshoot",
        shell="bash",
    )
    world.cluster.advance(30_000)
    assert world.logs("quiet") == []
    assert "running" in world.state("quiet")
    assert world.logs("bash") == ["ok", "ok", "ok"]
    assert world.state("bash")["terminated"]["exitCode"] == 7


def test_a_copy_in_the_midst_of_a_script_goes_on_alike(world):
    world.start("loop", "while sleep 3; do wget -qO- http://nginx/health; done")
    world.cluster.advance(20_000)
    copy = World(world.cluster.fork())
    world.cluster.advance(20_000)
    copy.cluster.advance(20_000)
    assert world.logs("loop", "--timestamps") == copy.logs("loop", "--timestamps")
    assert len(world.logs("loop")) > 8
    assert world.cluster.digest() == copy.cluster.digest()
