"""The agent's tools: what an episode lets its agent do, and under which names."""
