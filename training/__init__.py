"""Policies that learn from episodes; scripts, not a framework. See README.md in this directory."""
