"""The jq language: reader, parser, evaluator."""
