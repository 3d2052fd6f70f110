# One image: the server, the simulator, the client and the baseline. Runs as any user on a read-only root with one
# writable temporary directory; needs no network. Pin BASE by digest for a release.
ARG BASE=docker.io/library/python:3.11-slim-bookworm

FROM ${BASE} AS build
WORKDIR /build
COPY requirements.txt .
# The environment gets no pip of its own: nothing is installed into the image later.
RUN python -m venv --without-pip /venv \
 && python -m pip --python /venv/bin/python install --no-cache-dir --disable-pip-version-check --no-deps --require-hashes -r requirements.txt
WORKDIR /app
COPY README.md LICENSE openenv.yaml inference.py pyproject.toml ./
COPY client/kubedrill client/kubedrill
COPY live live
COPY server server
COPY env_core env_core
RUN python -m compileall -q . && chmod -R a+rX .

FROM ${BASE}
LABEL org.opencontainers.image.title="kubedrill" \
      org.opencontainers.image.description="A gym of seeded Kubernetes incidents, served as an OpenEnv environment." \
      org.opencontainers.image.licenses="Apache-2.0"
# The stock web interface stays off: the page at / is ours, and the lock leaves out what it would need.
ENV ENABLE_WEB_INTERFACE=false \
    HOME=/tmp \
    PATH=/venv/bin:/usr/local/bin:/usr/bin:/bin \
    PYTHONDONTWRITEBYTECODE=1 \
    PYTHONPATH=/app:/app/client \
    PYTHONUNBUFFERED=1
COPY --from=build /venv /venv
COPY --from=build /app /app
WORKDIR /app
USER 65532:65532
EXPOSE 8000 7860
HEALTHCHECK --interval=15s --timeout=3s --start-period=10s \
  CMD ["python", "-c", "import os, urllib.request as u; u.urlopen(f\"http://127.0.0.1:{os.environ.get('PORT') or 8000}/health\", timeout=2)"]
# Without PORT it listens on 8000 (OpenEnv's providers) and 7860 (Spaces); PORT narrows it to one.
CMD ["python", "-m", "server.app", "--host", "0.0.0.0"]
