"""kubedrill's simulator: a pure, deterministic Kubernetes cluster with incidents in it. Enter through `env_core.episode`."""
