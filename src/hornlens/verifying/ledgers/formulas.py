"""The ledgers of formulas and tables: of rules that were worked out or learned from a file."""

from __future__ import annotations

from hornlens.verifying.ledger import RECOMPUTED, REWRITTEN, Ledger, harmless, intact
from hornlens.verifying.ledgers.common import HEAD

_WORK = intact("how much work it was: queries of the learner or the engine, and its settings")
_ABSENT = harmless("a section that is not there claims nothing; what it holds is checked")
_BACKGROUND = intact("the background, unless --background FILE compares it")
FORMULA = Ledger(
    {
        **HEAD,
        "variables[]": RECOMPUTED,
        "background": _BACKGROUND,
        "background[].**": _BACKGROUND,
        "rules": RECOMPUTED,
        "rules[].**": RECOMPUTED,
        "readable": RECOMPUTED,
        "readable[].**": RECOMPUTED,
        "open": RECOMPUTED,
        "open[].**": RECOMPUTED,
        "hypothesis.**": intact("what the learner held before it ended"),
        "non_horn.at_least": intact("how many non-Horn negatives were seen, if not all"),
        "non_horn.**": RECOMPUTED,
        "certificate.**": RECOMPUTED,
        "claim": REWRITTEN,
        "statistics.model_calls": RECOMPUTED,
        "statistics.distinct_prompts": RECOMPUTED,
        "statistics.rejected_by_longer_rules": RECOMPUTED,
        "statistics.bounds": _WORK,
        "statistics.bounds.**": _WORK,
        "statistics.**": _WORK,
        "settings.**": _WORK,
        "trace": _WORK,
        "trace[]": _WORK,
        "cnf": RECOMPUTED,
        "cnf[].**": RECOMPUTED,
        "almost_claim.sentence": REWRITTEN,
        "almost_claim.**": RECOMPUTED,
        "almost": _ABSENT,
        "almost_claim": _ABSENT,
        "levels": _ABSENT,
        "almost[].**": RECOMPUTED,
        "levels.steps[].at_most": intact("that each level has the best rules for it"),
        "levels.candidates": intact("that each level has the best rules for it"),
        "levels.optimal": intact("that each level has the best rules for it"),
        "levels.chosen": intact("which level was wanted"),
        "levels.exception_cost": intact("which level was wanted"),
        "levels.min_confidence": intact("which level was wanted"),
        "levels.max_conditions": intact("which level was wanted"),
        "levels.guarantee": REWRITTEN,
        "levels.**": RECOMPUTED,
        "space": RECOMPUTED,
        "space.attributes[].cuts[]": intact("where columns of numbers were cut, and their names"),
        "space.attributes[].at[]": intact("where columns of numbers were cut, and their names"),
        "space.**": RECOMPUTED,
        "model": _ABSENT,
        "model.name": intact("what the file was called"),
        "model.identity": RECOMPUTED,
        "table": _ABSENT,
        "table.**": RECOMPUTED,
        "chance": _ABSENT,
        "basis": _ABSENT,
        "chance.**": REWRITTEN,
        "basis.**": RECOMPUTED,
    }
)
LEARNED = Ledger(
    {
        **FORMULA.fates,
        "certificate.rules": harmless("it counts the rules of an encoding, which are not here"),
        "certificate.**": intact("what is claimed of a formula that was learned via an encoding"),
        "claim": intact("what is claimed of a formula that was learned via an encoding"),
    }
)
