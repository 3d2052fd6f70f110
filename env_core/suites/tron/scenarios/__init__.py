"""The scenario templates of the tron suite, one module each with one constant `SCENARIO`."""
