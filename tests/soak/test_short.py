"""The soak, short: much breaks, and nothing is lost or said twice; it ends within minutes, and says why if not."""

from datetime import timedelta
from pathlib import Path

import pytest

from tests.soak.soak import Plan, soak
from tests.soak.table import table

pytestmark = [pytest.mark.system, pytest.mark.timeout(290)]

SEED = "short"
"""The same words and troubles each time; who wins which race differs all the same."""


@pytest.mark.requirement("DUR-1", "LANE-2", "LANE-4", "LANE-6", "LANE-7", "WIRE-5", "OUT-1", "ING-7", "LOOP-2", "CTX-7")
async def test_a_short_storm_of_all_troubles_leaves_no_violation(tmp_path: Path) -> None:
    plan = Plan(
        SEED,
        deliveries=30,
        most=timedelta(seconds=15),
        patience=timedelta(seconds=150),
        pace=0.1,
        wrong_s=(0.15, 0.5),
        work=(2, 10),
        asked=20,
    )
    report = await soak(plan, tmp_path, print)
    assert report.violations == 0, table(report)
    assert len(report.facts.rows.deliveries) >= plan.deliveries
