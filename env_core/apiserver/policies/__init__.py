"""What admission policies and webhooks have in common: what they match, their CEL expressions, how these come out."""
