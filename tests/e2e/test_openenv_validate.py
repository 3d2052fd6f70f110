"""OpenEnv's own validators: the static check, the contract graders against a live process, the URL checks, the old check, the push check."""

import json
import shutil
from pathlib import Path

import pytest
from openenv.cli._cli_utils import validate_env_structure
from openenv.cli._validation import validate_multi_mode_deployment, validate_running_environment
from openenv.validation.runner import run_validation
from openenv.validation.types import CheckStatus, Level, ProviderCapability

from tests.server.children import start

ROOT = Path(__file__).parents[2]
SHIPPED = (
    "openenv.yaml", "pyproject.toml", "Dockerfile", "README.md", "__init__.py", "client.py", "inference.py", "server", "client", "env_core", "live",
)  # fmt: skip


@pytest.fixture(scope="module")
def package(tmp_path_factory):
    """Return a copy of what is shipped, so that nothing changes under the validator."""
    root = tmp_path_factory.mktemp("package") / "kubedrill"
    root.mkdir()
    for name in SHIPPED:
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(source, root / name, ignore=shutil.ignore_patterns("__pycache__"))
        elif source.exists():
            shutil.copy(source, root / name)
    return root


class Running:
    """A server in a process of its own, in place of a container."""

    def __init__(self):
        self._process, self.base_url = start("server.app")

    def inspect(self):
        return {}

    def logs(self, max_bytes=65_536):
        return ""

    def stop(self):
        self._process.terminate()
        self._process.wait(timeout=20)


class ProcessProvider:
    name = "process-local"
    capabilities = frozenset({ProviderCapability.IMAGE_BUILD, ProviderCapability.EXEC})
    supported_network_modes = frozenset({"public", "no-network"})

    def build(self, root, execution):
        return "sha256:" + "1" * 64

    def start(self, spec):
        return Running()


def test_the_static_level_passes(package):
    report = run_validation(package, max_level=Level.STATIC)
    assert [(check.check_id, check.status) for check in report.results] == [
        ("static.manifest", CheckStatus.PASS)
    ]


@pytest.mark.filterwarnings(r"ignore:connect\(\) must be used:DeprecationWarning")
def test_the_contract_graders_pass_against_a_live_process(package):
    report = run_validation(package, max_level=Level.SEMANTIC, provider=ProcessProvider())
    outcomes = {check.check_id: check for check in report.results}
    for name in (
        "runtime.startup",
        "runtime.reward_well_formed",
        "runtime.observation_schema",
        "runtime.state_contract",
    ):
        assert outcomes[name].status is CheckStatus.PASS, outcomes[name]
    assert not [
        name for name, check in outcomes.items() if check.status in (CheckStatus.FAIL, CheckStatus.ERROR)
    ]


@pytest.mark.parametrize("mode", ["simulation", "production"])
def test_all_six_url_checks_pass(mode):
    process, url = start("server.app", OPENENV_MODE=mode)
    try:
        report = validate_running_environment(url)
        assert (report["passed"], report["mode"]) == (True, mode)
        criteria = report["criteria"]
        assert len(criteria) == 6
        assert all(criterion["passed"] for criterion in criteria), criteria
    finally:
        process.terminate()
        process.wait(timeout=20)


def test_the_older_validator_is_ready_once_the_lock_is_generated(package):
    (package / "uv.lock").write_text("version = 1\n")
    try:
        is_valid, issues = validate_multi_mode_deployment(package)
        assert is_valid, issues
    finally:
        (package / "uv.lock").unlink()


def test_the_push_check_finds_what_it_needs(package):
    assert not [warning for warning in validate_env_structure(package) if "outputs" not in warning]


def test_the_probe_plays_declared_names_only():
    plan = json.loads((ROOT / "server" / "probe.json").read_text())
    assert plan["plan_schema_version"] == "1"
    assert {"suite", "task"} <= set(plan["reset"]["options"])
    assert all(set(action) == {"command"} for action in plan["actions"])
