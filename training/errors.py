"""What the user of a script can put right."""


class UsageError(ValueError):
    """Raised for a plan, an argument or a folder that cannot be used; the script says it in one line."""
