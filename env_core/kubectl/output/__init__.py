"""How kubectl prints: tables, YAML and JSON, jsonpath, templates, custom columns."""
