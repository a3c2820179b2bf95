r"""Learning from queries: learners, oracles that answer them, and the driver between the two.

Learners are sans-I/O generators: they yield questions and are sent answers.

>>> from hornlens.learning import LearnSettings, learn
>>> from hornlens.formats import parse_dimacs
>>> learn(parse_dimacs("p cnf 2 1\n-1 2 0\n"), LearnSettings()).run.queries.equivalence
3
"""

from hornlens.namespaces import lazy_names

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hornlens.extraction.extract import Asking as Asking
    from hornlens.extraction.formulas import LearnOutcome as LearnOutcome
    from hornlens.extraction.formulas import LearnSettings as LearnSettings
    from hornlens.extraction.formulas import learn as learn
    from hornlens.learning.characteristic import CharacteristicLearner as CharacteristicLearner
    from hornlens.learning.driver import Bounds as Bounds
    from hornlens.learning.driver import Run as Run
    from hornlens.learning.driver import events_of as events_of
    from hornlens.learning.driver import run as run
    from hornlens.learning.envelope import EnvelopeLearner as EnvelopeLearner
    from hornlens.learning.events import Asked as Asked
    from hornlens.learning.events import Conjectured as Conjectured
    from hornlens.learning.events import CounterexampleTaken as CounterexampleTaken
    from hornlens.learning.events import Ended as Ended
    from hornlens.learning.events import Event as Event
    from hornlens.learning.events import NegativeSet as NegativeSet
    from hornlens.learning.events import Progress as Progress
    from hornlens.learning.events import Queries as Queries
    from hornlens.learning.events import RuleAdded as RuleAdded
    from hornlens.learning.events import RuleChanged as RuleChanged
    from hornlens.learning.events import RuleRetired as RuleRetired
    from hornlens.learning.exploration import Explorer as Explorer
    from hornlens.learning.horn import HornLearner as HornLearner
    from hornlens.learning.horn import horn1_learner as horn1_learner
    from hornlens.learning.protocol import Accepted as Accepted
    from hornlens.learning.protocol import Ask as Ask
    from hornlens.learning.protocol import Conjecture as Conjecture
    from hornlens.learning.protocol import Counterexample as Counterexample
    from hornlens.learning.protocol import EntailmentOracle as EntailmentOracle
    from hornlens.learning.protocol import Entails as Entails
    from hornlens.learning.protocol import EquivalenceOracle as EquivalenceOracle
    from hornlens.learning.protocol import Holds as Holds
    from hornlens.learning.protocol import Hypothesis as Hypothesis
    from hornlens.learning.protocol import Learned as Learned
    from hornlens.learning.protocol import Learner as Learner
    from hornlens.learning.protocol import MembershipOracle as MembershipOracle
    from hornlens.learning.protocol import NotHorn as NotHorn
    from hornlens.learning.protocol import Unknown as Unknown
    from hornlens.oracles.entailment import FormulaEntailment as FormulaEntailment
    from hornlens.oracles.entailment import RowsEntailment as RowsEntailment
    from hornlens.oracles.equivalence import BudgetedEquivalence as BudgetedEquivalence
    from hornlens.oracles.equivalence import ExhaustiveEquivalence as ExhaustiveEquivalence
    from hornlens.oracles.equivalence import SampledEquivalence as SampledEquivalence
    from hornlens.oracles.formula import FormulaEquivalence as FormulaEquivalence
    from hornlens.oracles.known import KnownAnswers as KnownAnswers
    from hornlens.oracles.membership import CachingMembership as CachingMembership
    from hornlens.oracles.membership import CountingMembership as CountingMembership
    from hornlens.oracles.membership import FormulaMembership as FormulaMembership
    from hornlens.oracles.membership import FunctionMembership as FunctionMembership
else:
    _HOMES = {
        "extraction.extract": "Asking",
        "extraction.formulas": "LearnOutcome LearnSettings learn",
        "learning.characteristic": "CharacteristicLearner",
        "learning.driver": "Bounds Run events_of run",
        "learning.envelope": "EnvelopeLearner",
        "learning.events": (
            "Asked Conjectured CounterexampleTaken Ended Event NegativeSet Progress Queries "
            "RuleAdded RuleChanged RuleRetired"
        ),
        "learning.exploration": "Explorer",
        "learning.horn": "HornLearner horn1_learner",
        "learning.protocol": (
            "Accepted Ask Conjecture Counterexample EntailmentOracle Entails EquivalenceOracle "
            "Holds Hypothesis Learned Learner MembershipOracle NotHorn Unknown"
        ),
        "oracles.entailment": "FormulaEntailment RowsEntailment",
        "oracles.equivalence": "BudgetedEquivalence ExhaustiveEquivalence SampledEquivalence",
        "oracles.formula": "FormulaEquivalence",
        "oracles.known": "KnownAnswers",
        "oracles.membership": (
            "CachingMembership CountingMembership FormulaMembership FunctionMembership"
        ),
    }
    __all__, __getattr__, __dir__ = lazy_names(__name__, _HOMES)
