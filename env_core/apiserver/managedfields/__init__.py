"""Who manages which fields: sets of field paths, how writes change them, and server-side apply.

Nothing here knows of requests or of the store. `history` is the seam: writes leave a node each, which is resolved into
`metadata.managedFields` only when somebody wants to see it.

Source: sigs.k8s.io/structured-merge-diff v6 and k8s.io/apimachinery pkg/util/managedfields; recorded behaviour in
tests/golden/l0/server_side_apply.jsonl.gz and in the managedFields of tests/golden/l2/flows.
"""
