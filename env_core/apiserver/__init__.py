"""Kubernetes request semantics, knowing no particular kind.

What is simulated: groups and versions of 1.37 as the kinds declare them; get, list, create, update, patch (JSON,
merge, strategic, server-side apply), managedFields, delete with finalizers, owners and grace; the subresources status,
scale, log, exec, eviction, binding, ephemeralcontainers; optimistic concurrency, dry run, strict decoding, RBAC,
admission, policies and webhooks in CEL and over the simulated network, conversion webhooks, proxied requests, audit, label
and field selectors, a bounded watch log.
To extend it, add a kind (`env_core/kinds`), an admission plugin (`admission/`) or a computed resource (`virtual`).
"""
