"""Studies: plan, episodes, result. One file a study.

`formation` forms a cohort, `arms` plays it under conditions, `swap` forms the quantities of the swap test, `paired`
holds what two arms measured against each other, whatever they are.
"""

from __future__ import annotations

from pytest_swapgate.studies.arms import TeamArm, play_arms
from pytest_swapgate.studies.formation import Cohort, form_cohort
from pytest_swapgate.studies.paired import PairedResult, Unit
from pytest_swapgate.studies.swap import SwapStudy, run_swap_study

__all__ = [
    "Cohort",
    "PairedResult",
    "SwapStudy",
    "TeamArm",
    "Unit",
    "form_cohort",
    "play_arms",
    "run_swap_study",
]
