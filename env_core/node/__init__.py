"""The kubelets: they turn pods that are bound to their node into container runs and report what became of them."""
