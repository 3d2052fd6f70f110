"""One public module per resource kind, each with a `KIND`: its identity, defaults, validation, columns and describe."""
