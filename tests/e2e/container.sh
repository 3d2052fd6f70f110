#!/usr/bin/env bash
# Build the image and try it as the validator would run it: another user, read-only root, no capabilities.
#
#   container.sh build    build the image (tags: kubedrill, openenv-kubedrill, kubedrill-env:latest, tron-env)
#   container.sh smoke    build, run, health, reset, step, state, a whole episode by the baseline, stop
#
# Uses docker if its engine answers, else podman (with the runtime and isolation that work without privileges).
set -euo pipefail
cd "$(dirname "$0")/../.."
IMAGE=kubedrill
PORT=${SMOKE_PORT:-18000}

if docker info >/dev/null 2>&1; then
  build() { docker build -t "$IMAGE" .; }
  start() { docker run -d --rm -p "$PORT:$PORT" "$@"; }
  engine=docker
elif command -v podman >/dev/null 2>&1; then
  build() { podman build --format docker --isolation chroot --network=host -t "$IMAGE" .; }
  runtime=(); command -v runc >/dev/null 2>&1 && runtime=(--runtime runc)
  start() { podman "${runtime[@]}" run -d --rm --ulimit nofile=4096:4096 --ulimit nproc=4096:4096 --network=host "$@"; }
  engine=podman
else
  echo "container.sh: neither docker nor podman answers" >&2
  exit 3
fi

build
for tag in openenv-kubedrill kubedrill-env:latest tron-env; do "$engine" tag "$IMAGE" "$tag"; done
echo "built $IMAGE with $engine: $("$engine" image inspect "$IMAGE" --format '{{.Size}}') bytes"
[ "${1:-}" = smoke ] || exit 0

name="kubedrill-smoke-$$"
for user in 65532:65532 1000:1000; do
  start --name "$name" --user "$user" --read-only --cap-drop ALL --security-opt no-new-privileges --pids-limit 256 \
    --memory 1g --tmpfs /tmp -e "PORT=$PORT" "$IMAGE" >/dev/null
  trap '"$engine" stop -t 5 "$name" >/dev/null 2>&1 || true' EXIT
  python3 tests/e2e/space_smoke.py "http://127.0.0.1:$PORT"
  if [ "$user" = 65532:65532 ]; then
    "$engine" exec "$name" python inference.py --task hard --env-base-url "http://127.0.0.1:$PORT" | tail -n 1 | tee /dev/stderr | grep -q '^\[END\] success=true'
  fi
  "$engine" stop -t 5 "$name" >/dev/null
  echo "smoke passed as user $user"
done
