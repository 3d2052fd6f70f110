"""Everything that declares itself: listed, shown, proved, and written into the generated pages of `docs`."""
