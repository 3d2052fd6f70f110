"""Helm's library in a process of its own: it reads the environment as the process began with it, and its home with it.

One JSON request a line, `{"config": {…}, "action": "install", "arguments": […], "options": {…}}`, and one JSON answer.
"""

from __future__ import annotations

import json
import sys


def answered(request):
    import helm_python

    try:
        with helm_python.Config(**request["config"]) as config:
            action = getattr(config, request["action"])
            return {"answer": action(*request["arguments"], **request["options"])}
    except helm_python.HelmError as error:
        return {"error": type(error).__name__, "message": str(error)}


if __name__ == "__main__":
    for line in sys.stdin:
        print(json.dumps(answered(json.loads(line))), flush=True)
