"""Results without labels, of every shape that their page has to cope with."""

from dataclasses import replace
from pathlib import Path
from random import Random

from hornlens.api import Result, extract
from hornlens.exact.envelopes import envelope_of_formula, envelope_of_table
from hornlens.extraction.formulas import LearnSettings, learn
from hornlens.limits import Limits
from hornlens.logic.attributes import Nominal
from hornlens.logic.basis import dg_basis
from hornlens.logic.certificates import EXACT, Certificate, explored
from hornlens.logic.cnf import Cnf, clause_of
from hornlens.logic.decisions import Policy
from hornlens.logic.envelope import Envelope
from hornlens.logic.ordered import Ordered
from hornlens.logic.rule import Rule
from hornlens.logic.space import Space
from hornlens.logic.table import Table
from hornlens.logic.taxonomy import Taxonomy
from hornlens.logic.theory import Theory
from hornlens.logic.vocabulary import Vocabulary
from hornlens.results.analysis.detail import with_detail_of_formula, with_detail_of_table
from hornlens.results.documents.envelope import envelope_as_json
from hornlens.results.documents.saving import worked_out
from hornlens.results.documents.settings import Settings
from hornlens.results.documents.tables import table_document
from hornlens.targets.functions import FunctionTarget
from tests import sifted_cases
from tests.report_cases import NASTY, PLACES

NOWHERE = Path("made.json")
VISIT = Space(
    (
        Nominal("sex", ("female", "male")),
        Ordered.cut("age", ("30", "60")),
        Taxonomy.of("place", PLACES),
    )
)
BIRDS = ("bird", "flies", "feathers", "swims", "eggs", "fur", "big", "old")
CLAUSES = ((-1, 3), (-3, 5), (-1, 2, 4), (-6, -3), (-2, -7), (-7, 8, 4), (-8, -2, -5))


class Audited(Certificate):
    """Half of the rules were looked at by somebody, who found nothing wrong."""

    @property
    def kind(self):
        return "audited_by_hand"

    @property
    def sentence(self):
        return "An auditor looked at half of the rules, and found none broken."


def comes(names):
    """Who comes: nobody under 30 from Europe, no woman from Asia; some do not say."""
    if "Germany" in names and "age ≥ 60" in names:
        return None
    return not ({"age < 30", "Europe"} <= {*names} or {"female", "Asia"} <= {*names})


def visits(**options):
    return extract(FunctionTarget(comes, VISIT, "visits"), **options)


def budget():
    return visits(settings=Settings("budget", max_equivalence_queries=4, seed=1))


def interrupted():
    return visits(limits=Limits(max_questions=80))


def silent():
    return extract(FunctionTarget(lambda names: None, VISIT, "silent"))


def silent_and_rejected():
    policy = Policy(abstain="reject")
    return extract(FunctionTarget(lambda names: None, VISIT, "silent"), policy=policy)


def refuses_all():
    return extract(FunctionTarget(lambda names: False, VISIT, "no"))


def not_horn():
    """One of two, never both and never none: what no Horn rule can say."""
    space = Space.of_variables(Vocabulary(("tea", "coffee", "milk")))
    return extract(FunctionTarget(lambda names: ("tea" in names) != ("coffee" in names), space))


def audited():
    result = visits()
    own = Audited("open", rules=len(result.rules), answered=result.certificate.answered)
    envelope = replace(result.envelope, certificate=own, own_warrants=None, levels=None)
    return replace(result, envelope=envelope)


def hostile():
    names = Vocabulary(NASTY)
    space = Space.of_variables(names)
    first, second = NASTY[:2]
    target = FunctionTarget(lambda said: not {first, second} <= {*said}, space, NASTY[0])
    return extract(target)


def without_asking(envelope, name=""):
    """The result of an envelope, as it is read from disk."""
    return Result.of(worked_out(envelope_as_json(envelope), NOWHERE, name=name))


def formula():
    return without_asking(envelope_of_formula(_birds()))


def _birds():
    return Cnf(Vocabulary(BIRDS), tuple(map(clause_of, CLAUSES)))


def summed_formula():
    wanted = Settings(min_confidence=0.8, max_conditions=2, detail="3")
    found = envelope_of_formula(_birds())
    return without_asking(with_detail_of_formula(found, _birds(), wanted))


def learned():
    settings = LearnSettings(equivalence="pac", epsilon=0.3, delta=0.3, seed=1)
    outcome = learn(_birds(), settings)
    return Result.of(worked_out(outcome.as_json(), NOWHERE))


def exploration():
    """Two rules by word of somebody, and one that nobody knew."""
    space = Space.of_variables(Vocabulary(("feathers", "flies", "swims", "eggs")))
    rules = Theory(4, (Rule(0b0110, -1), Rule(0b0001, 0b1001)))
    found = Envelope.of(
        space,
        dg_basis(rules, space.background),
        certificate=explored(7, open=1),
        open=(Rule(0b1000, 0b1001),),
    )
    return without_asking(found)


def no_rules():
    space = Space.of_variables(Vocabulary(("a", "b")))
    return without_asking(Envelope.of(space, Theory(2, ()), certificate=EXACT))


def rows(names, width, count, seed=7):
    rng = Random(seed)
    made = tuple(sum((rng.random() < 0.5) << i for i in range(width)) for _ in range(count))
    return Table(Vocabulary(names), made)


def table():
    made = rows(tuple(f"attribute <{i}> & more" for i in range(9)), 9, 12)
    found = envelope_of_table(made)
    document = table_document(made, ("colour: 2 values",))
    return replace(Result.of_envelope(found, "t.csv"), table=document)


def summed_table():
    made = rows(tuple("abcdefg"), 7, 60, seed=3)
    wanted = Settings(min_confidence=0.7, max_conditions=2, detail="4")
    found = with_detail_of_table(envelope_of_table(made), made, wanted)
    return replace(Result.of_envelope(found, "t.csv"), table=table_document(made))


def many(count=3_200):
    """More rules than a page lists, each with support of its own."""
    names = tuple(f"v{i}" for i in range(90))
    pairs = [(i, j) for i in range(90) for j in range(i)][:count]
    rules = tuple(Rule(1 << i | 1 << j, -1) for i, j in pairs)
    space = Space.of_variables(Vocabulary(names))
    theory = Theory(90, rules)
    support = [(7 * place) % 1_000 for place in range(len(rules))]
    found = Envelope(space, theory, theory, certificate=EXACT, support=support)
    return without_asking(found)


ASKED = (visits, budget, interrupted, silent, silent_and_rejected, refuses_all, not_horn, hostile)
WORKED_OUT = (formula, summed_formula, learned, exploration, no_rules, table, summed_table)
CASES = {case.__name__: case for case in (*ASKED, *WORKED_OUT)}
CASES |= {f"sifted_{name}": sifted_cases.MADE[name] for name in ("unlabelled", "unlabelled_ended")}
