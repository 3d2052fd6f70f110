"""The thin distribution: the client and nothing else, importable without the simulator."""

import shutil
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_it_declares_the_client_and_its_few_dependencies():
    project = tomllib.loads((ROOT / "client" / "pyproject.toml").read_text())
    assert project["project"]["name"] == "kubedrill"
    assert [line.split(">")[0].split("=")[0] for line in project["project"]["dependencies"]] == [
        "openenv",
        "pydantic",
        "httpx",
    ]
    assert project["tool"]["hatch"]["build"]["targets"]["wheel"]["packages"] == ["kubedrill"]
    assert not (ROOT / "client" / "__init__.py").exists()


def test_it_has_the_version_of_the_server():
    versions = [
        tomllib.loads((ROOT / folder / "pyproject.toml").read_text())["project"]["version"]
        for folder in ("client", ".")
    ]
    assert versions[0] == versions[1]


def test_it_imports_without_the_simulator_and_the_server():
    program = (
        "import sys, kubedrill.client, kubedrill.http, kubedrill.cli, kubedrill.policies.heuristic, kubedrill.policies.llm, kubedrill.policies.scripted\n"
        "assert not {'env_core', 'server', 'training', 'live'} & set(sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=ROOT / "client",
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr


def test_its_wheel_holds_the_client_only(tmp_path):
    source = tmp_path / "client"
    shutil.copytree(ROOT / "client", source, ignore=shutil.ignore_patterns("__pycache__"))
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path / "out")]
    done = subprocess.run(command, cwd=source, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    (wheel,) = (tmp_path / "out").glob("*.whl")
    names = zipfile.ZipFile(wheel).namelist()
    assert {name.split("/")[0].split("-")[0] for name in names} == {"kubedrill"}
    assert {
        "kubedrill/client.py",
        "kubedrill/models.py",
        "kubedrill/py.typed",
        "kubedrill/policies/heuristic.py",
    } <= set(names)
