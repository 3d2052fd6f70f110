"""Network clients: curl, wget, name lookups, nc, ping, redis-cli."""
