"""Tables derived from the recorded facts, and the scripts that derive them."""
