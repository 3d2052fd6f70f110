"""The seam for clusters that really run: the same `World` calls over a kubeconfig or a control plane of child processes.

Nothing here is deterministic, and nothing of it is built yet; `KUBEDRILL_BACKEND` other than `sim` is refused by the server.
"""
