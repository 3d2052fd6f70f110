"""Which commands no suite with a terminal carries out, and in which words.

Source: SEEDS TR-12 to TR-15. A refused line costs its price, counts as a step and changes nothing.
"""

from __future__ import annotations

from env_core.suites._pricing import EDIT, REFUSED, verb_of

EXIT_CODE = 2
_INTERACTIVE = {
    "attach": "use logs",
    "port-forward": "use curl, or kubectl exec … -- curl",
    "proxy": "use kubectl get --raw",
}
"""Verbs that wait for a person, and what does their work."""
_IDENTITY_FLAGS = (
    "--kubeconfig",
    "--server",
    "--token",
    "--as",
    "--as-group",
    "--as-uid",
    "--user",
    "--context",
    "--cluster",
    "-s",
)
_BINDINGS = ("rolebinding", "clusterrolebinding")
"""What `kubectl create` gives subjects: its flag --user names one of them."""
_CURL_FILES = (
    "-o",
    "-O",
    "-T",
    "--output",
    "--upload-file",
    "--remote-name",
    "-K",
    "--config",
    "--output-dir",
    "--create-dirs",
)


class Refusal(Exception):
    """Raised when a line is refused; carries its price."""

    def __init__(self, message: str, cost: float = REFUSED) -> None:
        super().__init__(message)
        self.cost = cost


def check_command(argv: list[str]) -> None:
    """Refuse one simple command that is out of bounds.

    Raises:
        Refusal: with the text that the agent reads.
    """
    if not argv:
        return
    if argv[0] == "kubectl":
        _check_kubectl(argv)
    elif argv[0] == "curl":
        _check_curl(argv)


def _check_kubectl(argv: list[str]) -> None:
    verb, _sub = verb_of(argv)
    own = argv[: argv.index("--")] if "--" in argv else argv
    for word in own[1:]:
        flag = word.split("=", 1)[0]
        if flag == "--user" and verb == "create" and any(each in own for each in _BINDINGS):
            continue
        if flag in _IDENTITY_FLAGS:
            raise Refusal(f"kubectl {flag} refused: the identity and the cluster are fixed")
    if verb == "edit":
        raise Refusal("kubectl edit refused: there is no editor; use patch, set or apply", EDIT)
    if verb in _INTERACTIVE:
        raise Refusal(f"kubectl {verb} refused: it is interactive; {_INTERACTIVE[verb]}")
    if verb in ("exec", "debug", "run") and _wants_terminal(own):
        text = "it is interactive; leave -t out and give the command after --"
        raise Refusal(f"kubectl {verb} with a terminal (-t, --tty) refused: {text}")


def _wants_terminal(words: list[str]) -> bool:
    for word in words[1:]:
        if word in ("--tty", "--tty=true"):
            return True
        if word.startswith("-") and not word.startswith("--") and word[1:] in ("t", "it", "ti"):
            return True
    return False


def _check_curl(argv: list[str]) -> None:
    for index, word in enumerate(argv[1:], start=1):
        flag = word.split("=", 1)[0]
        value = argv[index + 1] if index + 1 < len(argv) else ""
        if flag in _CURL_FILES and not (flag in ("-o", "--output") and value == "/dev/null"):
            raise Refusal(f"curl {flag} refused: no files")
        if flag in ("-d", "--data", "--data-binary", "--data-raw", "-F", "--form") and (
            value.startswith("@") or "=@" in value
        ):
            raise Refusal(f"curl {flag} @file refused: no files")
        if word.lower().startswith(("file:", "ftp:", "scp:", "gopher:", "dict:")):
            raise Refusal(f"curl {word.split(':', 1)[0]}: refused: only http and https")
