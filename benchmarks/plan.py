"""Which cases are run, and how long each may take."""

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Case:
    """A function of a benchmark module, its arguments, and its limit in seconds."""

    module: str
    name: str
    arguments: list[Any]
    limit: float = 120.0


FULL = [
    *(Case("cases", "envelope", [n, m, 0]) for n, m in ((10, 30), (15, 45), (20, 60), (25, 70))),
    *(Case("cases", "envelope", [30, 80, seed]) for seed in range(3)),
    Case("cases", "envelope", [35, 85, 0]),
    Case("cases", "envelope", [40, 90, 0]),
    *(Case("cases", "envelope_ratio", [n, m, 0]) for n, m in ((12, 30), (16, 40), (20, 50))),
    *(Case("cases", "implicates_ratio", [n, m, 0]) for n, m in ((30, 80), (35, 85), (40, 90))),
    Case("cases", "implicates_ratio", [40, 90, 1], 300.0),
    Case("cases", "implicates_ratio", [50, 100, 0], 3600.0),
    *(
        Case("cases", "bounded_ratio", [n, m, 2, 0])
        for n, m in ((15, 45), (20, 60), (25, 70), (30, 80), (40, 90))
    ),
    *(Case("cases", "bounded_feature_model", [n, 2, 0]) for n in (50, 100, 200)),
    *(Case("cases", "bounded_formula", [100, 250, k, 0]) for k in (1, 2, 3)),
    *(Case("cases", "bounded_formula", [n, 5 * n // 2, 2, 0]) for n in (50, 200, 300)),
    *(Case("cases", "bounded_labelled", [9, 300, k, 0]) for k in (1, 2, 3)),
    *(Case("cases", "bounded_labelled", [values, 300, 2, 0]) for values in (3, 5, 7)),
    *(Case("cases", "levels", [values, 100, 3, 0]) for values in (3, 5, 7, 9)),
    *(Case("cases", "levels", [9, 300, k, 0]) for k in (2, 3)),
    *(Case("cases", "bounded_table", [10_000, 200, k, 20]) for k in (1, 2, 3)),
    *(Case("tables", "table_growth", [50, n, 0.2], 600.0) for n in (10, 12, 14)),
    *(Case("tables", "table_growth", [n, 30, 0.2], 600.0) for n in (100, 1_000, 10_000)),
    *(Case("tables", "table_growth", [200, n, 0.2], 600.0) for n in (20, 40, 60)),
    *(Case("tables", "table_growth", [200, 30, d], 600.0) for d in (0.1, 0.3, 0.5)),
    Case("tables", "contexts", [300.0], 7200.0),
    *(Case("cases", "algorithm1", [n, r, 0]) for n, r in ((25, 50), (50, 100), (100, 100))),
    Case("cases", "algorithm1", [100, 200, 0]),
    *(Case("cases", "labelled", [values, 300, 0]) for values in (3, 5, 7, 9)),
    *(Case("cases", "labelled", [9, rules, 0]) for rules in (100, 900)),
    Case("startup", "startup", [7]),
    Case("startup", "tricks", [20], 300.0),
    Case("extraction", "exact_demo", []),
    Case("extraction", "study", [10, [50, 100, 200]]),
    *(Case("extraction", "fewer_questions", [target, 20]) for target in ("demo", "planted")),
    *(Case("extraction", "pac", [attributes, 10, 20, 0]) for attributes in (4, 5, 6, 7, 8)),
    *(Case("extraction", "pac", [8, 10, rules, 0]) for rules in (5, 10, 40, 80)),
    *(Case("extraction", "pac", [8, values, 20, 0]) for values in (3, 5, 20)),
    *(
        Case("schedules", "pac_schedule", [12, 8, rules, 0.01, 0.05, 10], 300.0)
        for rules in (30, 70, 120)
    ),
    *(Case("extraction", "tabulated", [5, values, 20, 0]) for values in (3, 5, 8, 12)),
    *(
        Case("sifting", "sifted", [n, d, k, 0.5, seeds, True], 1800.0)
        for n, d, k, seeds in ((12, 10, 2, 20), (20, 10, 2, 20), (12, 5, 3, 20), (12, 10, 3, 10))
    ),
    *(Case("sifting", "sifted", [12, 10, 2, base, 20, True], 1800.0) for base in (0.2, 0.1, 0.05)),
    *(Case("sifting", "sifted_rare", [12, 10, 2, base, 20], 1800.0) for base in (0.1, 0.05)),
    *(Case("sifting", "sifted_smooth", [12, 8, k, 10], 1800.0) for k in (1, 2)),
    Case("sifting", "sifted_list", [12, 8, 12, 2, 10], 1800.0),
    *(Case("sifting", "sifted_labels", [12, 8, labels, 2, 10], 1800.0) for labels in (3, 4)),
    Case("sifting", "sifted_intervals", [8, 8, 2, 10], 1800.0),
    Case("sifting", "sifted_partial", [12, 8, 2, 10], 1800.0),
    *(Case("sifting", "sifted_within", [12, 10, 2, most, 10], 600.0) for most in (300, 600, 1_200)),
    *(
        Case("recorded", "recorded", [kind, [50, 100, 200, 400, None], 10], 1800.0)
        for kind in ("demo", "smollm2")
    ),
    *(Case("sifting", "sifted_million", [13, 12, 3, most], 1800.0) for most in (None, 2_000)),
    Case("fleet", "fleet", [[1, 4, 16, 32, 64], 0.5, 12], 900.0),
    Case("fleet", "writing", ["", 100_000]),
    *(Case("stores", "writers", [count, 20_000 // count, 3], 300.0) for count in (1, 8)),
    Case("models", "causal", [12], 300.0),
    Case("models", "masked", ["bert-base", 22, 2], 300.0),
    Case("models", "masked", ["bert-large", 33, 2], 600.0),
    *(Case("chat", "throughput", [2_000, at_once, 0.05, 3], 300.0) for at_once in (8, 16, 32)),
    Case("chat", "throughput", [10_000, 16, 0.05, 1], 300.0),
    Case("chat", "memory", [10_000, 32], 300.0),
    Case("chat", "gguf", [33], 600.0),
    *(
        Case("classifiers", "million", [6, 10, kind, 3], 300.0)
        for kind in ("forest", "small forest", "boosting", "histograms", "mlp", "logistic")
    ),
    *(Case("classifiers", "white_box", [10, most], 300.0) for most in (1, 2, 3)),
    Case("classifiers", "peers", [1_000, 10, 3], 1800.0),
    Case("classifiers", "peers", [3_000, 100, 6], 5400.0),
    *(
        Case("proofs", "proofs", [kind, trees, data, 60], 1800.0)
        for kind, trees in (("boosting", 100), ("boosting", 500), ("forest", 100))
        for data in ("breast cancer", "incomes")
    ),
    *(
        Case("large", "cover", [kind, 100, data, 60.0], 300.0)
        for kind, data in (
            ("boosting", "census"),
            ("boosting", "incomes"),
            ("forest", "census"),
            ("forest", "breast cancer"),
        )
    ),
    Case("large", "cover", ["boosting", 100, "breast cancer", None], 600.0),
    *(Case("pages", "selfcheck", [answers], 300.0) for answers in (8_000, 100_000)),
    Case("black_boxes", "black_box", ["planted", 12, 8, 10], 600.0),
    *(Case("black_boxes", "black_box", [kind, 12, 8, 3], 600.0) for kind in ("mlp", "svm")),
]
QUICK = [
    Case("cases", "envelope", [20, 60, 0], 30.0),
    Case("cases", "envelope", [30, 80, 0], 30.0),
    Case("cases", "envelope_ratio", [12, 30, 0], 30.0),
    Case("cases", "implicates_ratio", [25, 70, 0], 30.0),
    Case("cases", "bounded_ratio", [20, 60, 2, 0], 30.0),
    Case("cases", "bounded_formula", [60, 150, 2, 0], 30.0),
    Case("cases", "bounded_labelled", [5, 100, 2, 0], 30.0),
    Case("cases", "levels", [3, 100, 3, 0], 30.0),
    Case("cases", "bounded_table", [1_000, 60, 2, 5], 30.0),
    Case("tables", "table_growth", [200, 25, 0.2], 60.0),
    Case("cases", "algorithm1", [50, 100, 0], 30.0),
    Case("cases", "labelled", [5, 100, 0], 30.0),
    Case("startup", "startup", [1], 30.0),
    Case("startup", "tricks", [1], 30.0),
    Case("extraction", "exact_demo", [], 30.0),
    Case("extraction", "study", [2, [50]], 30.0),
    Case("extraction", "fewer_questions", ["demo", 1], 30.0),
    Case("extraction", "pac", [8, 10, 5, 0], 30.0),
    Case("schedules", "pac_schedule", [8, 10, 20, 0.05, 0.05, 2], 30.0),
    Case("extraction", "tabulated", [5, 3, 20, 0], 30.0),
    Case("sifting", "sifted", [12, 10, 2, 0.5, 2, True], 60.0),
    Case("sifting", "sifted_list", [8, 6, 6, 2, 2], 60.0),
    Case("sifting", "sifted_intervals", [6, 5, 2, 2], 60.0),
    Case("sifting", "sifted_within", [12, 5, 3, 1_000, 1], 60.0),
    Case("fleet", "fleet", [[1, 4], 0.1, 4], 120.0),
    Case("fleet", "writing", ["", 10_000], 30.0),
    Case("stores", "writers", [2, 1_000, 1], 60.0),
    Case("models", "masked", ["bert-tiny", 66, 1], 60.0),
    Case("chat", "throughput", [200, 8, 0.05, 1], 60.0),
    Case("classifiers", "million", [5, 8, "forest", 1], 60.0),
    Case("proofs", "compared", ["forest", 20, "breast cancer", 10], 60.0),
    Case("large", "cover", ["forest", 20, "breast cancer", 10.0], 60.0),
    Case("black_boxes", "black_box", ["planted", 8, 6, 1], 60.0),
]
