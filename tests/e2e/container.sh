#!/usr/bin/env bash
# Build the image and try it as the validator would run it: another user, read-only root, no capabilities, no network.
#
#   container.sh build    build the image (tags: kubedrill, openenv-kubedrill, kubedrill-env:latest, tron-env)
#   container.sh smoke    build, then try:
#                           as two users with PORT: health, reset, step, state, an episode by the baseline, stop
#                           without PORT and without a network: both ports, one process, the same episode, stop
#   container.sh try      try the image as it was built last
#
# Uses docker if its engine answers, else podman (with the runtime and isolation that work without privileges).
# SMOKE_PORT (default: a free one) is the port of this machine that the server listens on.
set -euo pipefail
cd "$(dirname "$0")/../.."
IMAGE=kubedrill
PORT=${SMOKE_PORT:-$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')}
LOCKED=(--read-only --cap-drop ALL --security-opt no-new-privileges --pids-limit 256 --memory 1g --tmpfs /tmp)

if docker info >/dev/null 2>&1; then
  engine=docker
  build_image() { docker build -t "$IMAGE" .; }
  start() { docker run -d --name "$name" "${LOCKED[@]}" "$@" "$IMAGE" >/dev/null; }
  published=(-p "127.0.0.1:$PORT:$PORT")
elif command -v podman >/dev/null 2>&1; then
  engine=podman
  runtime=()
  if command -v runc >/dev/null 2>&1; then runtime=(--runtime runc); fi
  build_image() { podman build --format docker --isolation chroot --network=host -t "$IMAGE" .; }
  # Podman runs health checks from systemd's timers and complains without them; `healthy` runs the check itself.
  start() {
    podman "${runtime[@]}" run -d --no-healthcheck --ulimit nofile=4096:4096 --ulimit nproc=4096:4096 \
      --name "$name" "${LOCKED[@]}" "$@" "$IMAGE" >/dev/null
  }
  published=(--network=host)
else
  echo "container.sh: neither docker nor podman answers" >&2
  exit 3
fi

name="kubedrill-smoke-$$"
inside() { "$engine" exec "$@"; }

build() {
  build_image
  for tag in openenv-kubedrill kubedrill-env:latest tron-env; do "$engine" tag "$IMAGE" "$tag"; done
  echo "built $IMAGE with $engine: $("$engine" image inspect "$IMAGE" --format '{{.Size}}') bytes," \
    "of which the base image $("$engine" image inspect docker.io/library/python:3.11-slim-bookworm --format '{{.Size}}' 2>/dev/null || echo unknown)"
}

# Wait until every given port answers; print how long after the server's start that was, and what the server holds at rest.
figures() {
  inside -i "$name" python - "$@" <<'PROGRAM'
import os, sys, time, urllib.request

ends_s = time.monotonic() + 30
for port in sys.argv[1:]:
    while True:
        try:
            said = urllib.request.urlopen(f"http://127.0.0.1:{port}/health", timeout=5).read().decode()
            break
        except OSError:
            if time.monotonic() > ends_s:
                raise
            time.sleep(0.01)
    print(f"port {port}: {said}")
begun_s = int(open("/proc/1/stat").read().rpartition(")")[2].split()[19]) / os.sysconf("SC_CLK_TCK")
now_s = float(open("/proc/uptime").read().split()[0])
resident = next(line.split()[1] for line in open("/proc/1/status") if line.startswith("VmRSS"))
others = [name for name in os.listdir("/proc") if name.isdigit() and int(name) not in (1, os.getpid())]
print(f"healthy {now_s - begun_s:.2f} s after its start; {int(resident) / 1024:.0f} MiB resident; {1 + len(others)} process(es)")
PROGRAM
}

# Run the image's own health check once; it must agree.
healthy() {
  local check
  readarray -t check < <("$engine" image inspect "$IMAGE" --format '{{range .Config.Healthcheck.Test}}{{println .}}{{end}}')
  [ "${check[0]}" = CMD ] || { echo "container.sh: unexpected health check: ${check[*]}" >&2; return 1; }
  check=("${check[@]:1}")
  while [ -z "${check[-1]}" ]; do unset 'check[-1]'; done
  inside "$name" "${check[@]}"
}

# Let the baseline, which is in the image, play the hard incident against the server at the given port.
episode() {
  local end
  end=$(inside "$name" python inference.py --task hard --env-base-url "http://127.0.0.1:$1" | tail -n 1)
  echo "$end"
  [[ $end == "[END] success=true "* ]]
}

# Stop the server as an orchestrator does; it must end by itself, by the signal or after it, and not be killed.
stop() {
  "$engine" stop -t 10 "$name" >/dev/null
  local code
  code=$("$engine" inspect "$name" --format '{{.State.ExitCode}}')
  "$engine" rm "$name" >/dev/null
  [ "$code" = 0 ] || [ "$code" = 143 ] || { echo "container.sh: the server ended with exit code $code" >&2; return 1; }
}

cleaned() {
  local code=$?
  [ "$code" = 0 ] || "$engine" logs --tail 40 "$name" >&2 || true
  "$engine" rm -f "$name" >/dev/null 2>&1 || true
  exit "$code"
}

try() {
  trap cleaned EXIT
  for user in 65532:65532 1000:1000; do
    echo "== as user $user, port $PORT"
    start --user "$user" "${published[@]}" -e "PORT=$PORT"
    figures "$PORT"
    healthy
    python3 tests/e2e/space_smoke.py "http://127.0.0.1:$PORT"
    episode "$PORT"
    stop
  done
  echo "== without PORT and without a network"
  start --network none
  figures 8000 7860
  healthy
  episode 7860
  stop
  echo "[docker-smoke] passed"
}

case "${1:-}" in
  build) build ;;
  smoke) build; try ;;
  try) try ;;
  *) sed -n '2,12p' "$0"; exit 2 ;;
esac
