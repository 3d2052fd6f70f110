"""What every test has: Hypothesis without clocks.

Its first draw reads the constants of every module, which takes a second here; on a busy machine that looks like a slow strategy.
"""

from hypothesis import HealthCheck, settings

settings.register_profile("kubedrill", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("kubedrill")
