"""kubedrill: the root package that `openenv push` asks for; nothing imports it."""
