"""Numbers in, numbers out: the statistics of every gate.

Each file holds one idea with its source; what is public is listed here and imported from here.
"""

from __future__ import annotations

from .active import (
    active_pass_hat_k,
    active_pass_hat_k_difference,
    active_pass_hat_k_interval,
    active_tasks,
    require_valid_trials,
)
from .betting import (
    Bets,
    betting_e_process,
)
from .deciding import (
    deciding_multiplier,
    deciding_pairs,
    deciding_units,
    unit_verdict_rates,
)
from .divergence import (
    DivergenceFloor,
    divergence_floor,
    jensen_shannon,
    jensen_shannon_bias,
    split_half_floor,
)
from .drift import (
    MIN_DRIFT_SESSIONS,
    Heterogeneity,
    assessed_drift,
    cochran_q,
    noise_floor,
    noise_floor_units,
    session_drift,
)
from .effect_sizes import (
    ROMANO_THRESHOLDS,
    cliffs_delta,
    fisher_interval,
    intraclass_correlation,
    pearson,
    romano_word,
    spearman,
)
from .exact_power import (
    VerdictRates,
    exact_test_power,
    verdict_rates,
)
from .few_pairs import (
    GUARDED_PAIRS,
    critical_values,
)
from .harm import (
    MIN_UNITS,
    HarmEstimate,
    binary_harm,
    continuous_harm,
)
from .interval import (
    Interval,
    Intervals,
)
from .monitors import (
    MIN_BASELINE_INJECTIONS,
    MIN_BASELINE_RUNS,
    CollisionState,
    CusumBaseline,
    CusumPath,
    collision_state,
    cusum,
    cusum_baseline,
    cusum_run_length,
    injection_alarm,
    injection_baseline,
    injection_quantile,
)
from .multiplicity import (
    benjamini_hochberg,
    bonferroni,
    family_alpha,
    holm,
)
from .paired_intervals import (
    bonett_price_interval,
    conditional_wilson_interval,
    newcombe_interval,
)
from .paired_tests import (
    exact_sign_test,
    mcnemar,
    midp_mcnemar,
)
from .pass_hat_k import (
    MIN_ACTIVE_TASKS,
    pass_hat_k,
    pass_hat_k_difference,
    pass_hat_k_interval,
)
from .planning import (
    detectable_effect_pairs,
    pairs_to_decide,
    required_pairs,
)
from .proportions import (
    clopper_pearson_interval,
    wilson_interval,
)
from .published_sizes import (
    SizeRow,
    two_proportion_size,
    two_sided_table,
)
from .ratio import ratio_interval
from .reestimation import (
    first_stage_pairs,
    reestimated_pairs,
    sd_upper_bound,
)
from .resampling import (
    MIN_BOOTSTRAP_UNITS,
    BootstrapCoverageWarning,
    bootstrap_coverage,
    pair_bootstrap_interval,
    sign_flip_test,
)
from .sequential import (
    Look,
    LookPlan,
    SequentialRates,
    plan_looks,
    sequential_rates,
    take_look,
)
from .spending import (
    crossing_probabilities,
    sequential_inflation,
    spending_bounds,
    spent_alpha,
)
from .swap_measures import (
    SwapMeasures,
    swap_measures,
)
from .tango import (
    tango_interval,
    tango_statistic,
)
from .unit_planning import (
    detectable_effect_units,
    required_units,
    unit_multiplier,
    unit_power,
)
from .units import (
    TwoWay,
    log_cost_ratio,
    t_interval,
    two_way_mean,
)
from .verdict import (
    Verdict,
    decide,
)

__all__ = [
    "GUARDED_PAIRS",
    "MIN_ACTIVE_TASKS",
    "MIN_BASELINE_INJECTIONS",
    "MIN_BASELINE_RUNS",
    "MIN_BOOTSTRAP_UNITS",
    "MIN_DRIFT_SESSIONS",
    "MIN_UNITS",
    "ROMANO_THRESHOLDS",
    "Bets",
    "BootstrapCoverageWarning",
    "CollisionState",
    "CusumBaseline",
    "CusumPath",
    "DivergenceFloor",
    "HarmEstimate",
    "Heterogeneity",
    "Interval",
    "Intervals",
    "Look",
    "LookPlan",
    "SequentialRates",
    "SizeRow",
    "SwapMeasures",
    "TwoWay",
    "Verdict",
    "VerdictRates",
    "active_pass_hat_k",
    "active_pass_hat_k_difference",
    "active_pass_hat_k_interval",
    "active_tasks",
    "assessed_drift",
    "benjamini_hochberg",
    "betting_e_process",
    "binary_harm",
    "bonett_price_interval",
    "bonferroni",
    "bootstrap_coverage",
    "cliffs_delta",
    "clopper_pearson_interval",
    "cochran_q",
    "collision_state",
    "conditional_wilson_interval",
    "continuous_harm",
    "critical_values",
    "crossing_probabilities",
    "cusum",
    "cusum_baseline",
    "cusum_run_length",
    "decide",
    "deciding_multiplier",
    "deciding_pairs",
    "deciding_units",
    "detectable_effect_pairs",
    "detectable_effect_units",
    "divergence_floor",
    "exact_sign_test",
    "exact_test_power",
    "family_alpha",
    "first_stage_pairs",
    "fisher_interval",
    "holm",
    "injection_alarm",
    "injection_baseline",
    "injection_quantile",
    "intraclass_correlation",
    "jensen_shannon",
    "jensen_shannon_bias",
    "log_cost_ratio",
    "mcnemar",
    "midp_mcnemar",
    "newcombe_interval",
    "noise_floor",
    "noise_floor_units",
    "pair_bootstrap_interval",
    "pairs_to_decide",
    "pass_hat_k",
    "pass_hat_k_difference",
    "pass_hat_k_interval",
    "pearson",
    "plan_looks",
    "ratio_interval",
    "reestimated_pairs",
    "require_valid_trials",
    "required_pairs",
    "required_units",
    "romano_word",
    "sd_upper_bound",
    "sequential_inflation",
    "sequential_rates",
    "session_drift",
    "sign_flip_test",
    "spearman",
    "spending_bounds",
    "spent_alpha",
    "split_half_floor",
    "swap_measures",
    "t_interval",
    "take_look",
    "tango_interval",
    "tango_statistic",
    "two_proportion_size",
    "two_sided_table",
    "two_way_mean",
    "unit_multiplier",
    "unit_power",
    "unit_verdict_rates",
    "verdict_rates",
    "wilson_interval",
]
