"""Loops over what a pipe brings: kubectl leaves it alone unless it is told to read."""

from env_core.episode import Episode


def _output(line):
    episode, _ = Episode.reset(task="easy", seed=3)
    return episode.step(line).observation["output"]


def test_kubectl_in_a_loop_leaves_the_other_names_to_the_loop():
    names = _output("kubectl get namespaces -o name")
    assert len(names.splitlines()) > 2
    loop = "while read name; do kubectl get $name -o name; done"
    assert _output(f"kubectl get namespaces -o name | {loop}") == names


def test_exec_takes_what_is_left_only_when_it_is_interactive():
    loop = "while read name; do kubectl -n tron exec {} deploy/redis -- cat; echo $name; done"
    names = "kubectl version --client > /dev/null; printf 'a\\nb\\n'"
    assert _output(f"{names} | {loop.format('-i')}") == "b\na\n"
    assert _output(f"{names} | {loop.format('')}") == "a\nb\n"


def test_manifests_are_read_from_a_pipe():
    manifest = "kubectl create configmap x --from-literal=a=b --dry-run=client -o yaml"
    for words in ("-f -", "-f-", "--filename=-", "--filename -"):
        assert _output(f"{manifest} | kubectl apply {words} --dry-run=client -o name") == "configmap/x\n"
