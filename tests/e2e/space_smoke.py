"""Try a running server, local or a Space: health, reset, step, state. Usage: space_smoke.py URL

`TASK_ID`, `SEED` and `STEP_COMMAND` in the environment change what is tried. Needs nothing but Python.
"""

import json
import os
import sys
import time
import urllib.request


def call(url: str, body: dict | None = None) -> dict:
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(url, data=data, headers={"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=30) as response:
        return json.load(response)


def main(url: str) -> None:
    url = url.rstrip("/")
    for attempt in range(60):
        try:
            health = call(f"{url}/health")
            break
        except OSError:
            if attempt == 59:
                raise
            time.sleep(0.25)
    assert health["status"] in ("ok", "healthy"), health
    task, seed = os.environ.get("TASK_ID", "easy"), int(os.environ.get("SEED", "11"))
    reset = call(f"{url}/reset", {"task_id": task, "seed": seed})
    episode = reset["observation"]["episode_id"]
    assert reset["done"] is False
    assert reset["observation"]["incident_brief"]
    command = os.environ.get("STEP_COMMAND", "kubectl -n tron get pods")
    step = call(f"{url}/step", {"command": command, "episode_id": episode})
    assert step["observation"]["step_count"] == 1, step
    assert step["observation"]["output"].startswith("NAME"), step["observation"]["output"]
    assert isinstance(step["reward"], int | float)
    state = call(f"{url}/state?episode_id={episode}")
    assert state["step_count"] == 1, state
    print("[space-smoke] passed")


if __name__ == "__main__":
    main(sys.argv[1])
