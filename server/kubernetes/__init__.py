"""The Kubernetes API of each episode over the network: HTTP, watches, logs, exec and port-forward; no rules of Kubernetes here."""
