"""Native kubectl: a command line in, what the real binary of 1.37 prints out."""
