"""The judge: checks over a read-only view, and verdicts reached on a fork of the world."""
