"""The awk language: lexer, parser and interpreter."""
