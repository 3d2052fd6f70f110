"""Time zones: which names there are, and their clocks in winter, in summer and long ago."""

import pytest

from env_core.objects.time_zones import is_time_zone, utc_offset_s

WINTER_S, SUMMER_S = 1_767_603_600, 1_783_155_600  # 2026-01-05 and 2026-07-04


@pytest.mark.parametrize(
    ("zone", "winter", "summer"),
    [
        ("", 0, 0),
        ("UTC", 0, 0),
        ("Europe/Berlin", 3_600, 7_200),
        ("America/New_York", -18_000, -14_400),
        ("Asia/Kolkata", 19_800, 19_800),
        ("Australia/Lord_Howe", 39_600, 37_800),
    ],
)
def test_clocks_are_ahead_of_utc_by_what_the_zone_says(zone, winter, summer):
    assert (utc_offset_s(zone, WINTER_S), utc_offset_s(zone, SUMMER_S)) == (winter, summer)


@pytest.mark.parametrize(
    ("name", "is_known"),
    [
        ("Europe/Berlin", True),
        ("Etc/UTC", True),
        ("europe/berlin", False),
        ("Mars/Olympus", False),
        ("../zones", False),
        ("", False),
        ("Local", False),
    ],
)
def test_zones_have_exact_names(name, is_known):
    assert is_time_zone(name) == is_known
