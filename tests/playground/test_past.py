"""The made-up past of the playground and the lab."""

from datetime import UTC, datetime, timedelta

import pytest

from tests.lab.past import finished_jobs

START = datetime(2026, 12, 1, 12, tzinfo=UTC)


@pytest.mark.parametrize("hours", range(0, 24 * 7, 3))
def test_no_two_past_jobs_have_one_name_whenever_it_starts(hours: int) -> None:
    names = [job.spec.name for job in finished_jobs(START + timedelta(hours=hours))]
    assert len(names) > 100
    assert len(names) == len(set(names))
