"""Pure functions on JSON-shaped objects: reading, matching, patching, printing."""
