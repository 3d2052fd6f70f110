"""The OpenEnv server: protocol, sessions, journal, figures. No rule of Kubernetes is in it."""
