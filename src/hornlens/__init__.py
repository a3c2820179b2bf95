"""Hornlens asks a black-box model questions and gives back the Horn rules it obeys."""

__version__ = "0.2.0"

__all__ = [
    "Attribute",
    "Bounded",
    "Budget",
    "Certificate",
    "CheckOutcome",
    "Checked",
    "ClassifierTarget",
    "Comparison",
    "Decision",
    "DifferencesTarget",
    "Envelope",
    "Exact",
    "Explanation",
    "Explored",
    "FlippingTarget",
    "FormulaTarget",
    "FunctionTarget",
    "HornlensError",
    "InputError",
    "Interrupted",
    "Limits",
    "NamedRule",
    "Nominal",
    "Ordered",
    "Pac",
    "Plausible",
    "Policy",
    "Probe",
    "PromptedModel",
    "Proof",
    "Rates",
    "Recourse",
    "RepeatedTarget",
    "Repeats",
    "Result",
    "Rules",
    "Settings",
    "Space",
    "TableTarget",
    "Target",
    "Taxonomy",
    "Verification",
    "Warrant",
    "WhereItMatters",
    "Worlds",
    "changes",
    "compare",
    "differences",
    "ended_by_ctrl_c",
    "envelope",
    "explain",
    "explore",
    "extract",
    "flips",
    "load",
    "load_probe",
    "prove",
    "recourse",
    "recourses",
    "seal",
    "verify",
]

# Not from `typing`: the command has to be quick to come where Ctrl-C is its own to answer.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from hornlens.api import compare, envelope, extract, load
    from hornlens.classifiers.changes import Recourse
    from hornlens.classifiers.explain import explain
    from hornlens.classifiers.flipping import flips
    from hornlens.classifiers.mattering import WhereItMatters
    from hornlens.classifiers.proofs import Proof
    from hornlens.classifiers.proving import prove
    from hornlens.classifiers.recourse import recourse, recourses
    from hornlens.classifiers.result import Explanation
    from hornlens.differing import changes, differences
    from hornlens.errors import HornlensError, InputError
    from hornlens.exploring.explore import explore
    from hornlens.limits import Limits, ended_by_ctrl_c
    from hornlens.logic.attributes import Attribute, Nominal
    from hornlens.logic.certificates import Certificate
    from hornlens.logic.decisions import Decision, Policy
    from hornlens.logic.envelope import Envelope
    from hornlens.logic.former import Bounded, Budget, Exact, Explored, Interrupted, Pac
    from hornlens.logic.named import NamedRule
    from hornlens.logic.ordered import Ordered
    from hornlens.logic.repeats import Repeats
    from hornlens.logic.space import Space
    from hornlens.logic.taxonomy import Taxonomy
    from hornlens.logic.warrants import Warrant
    from hornlens.probes.loading import load_probe
    from hornlens.probes.probe import Probe
    from hornlens.result import Result
    from hornlens.results.analysis.comparison import Comparison
    from hornlens.results.analysis.rates import Rates
    from hornlens.results.documents.checks import Checked, CheckOutcome
    from hornlens.results.documents.rules import Rules
    from hornlens.results.documents.settings import Settings
    from hornlens.targets.classifiers.plausible import Plausible
    from hornlens.targets.classifiers.target import ClassifierTarget
    from hornlens.targets.differences import DifferencesTarget
    from hornlens.targets.flipping import FlippingTarget
    from hornlens.targets.formulas import FormulaTarget, TableTarget
    from hornlens.targets.functions import FunctionTarget, RepeatedTarget
    from hornlens.targets.prompted import PromptedModel
    from hornlens.targets.protocol import Target
    from hornlens.targets.worlds import Worlds
    from hornlens.verification import seal, verify
    from hornlens.verifying.outcomes import Verification
else:
    # What type checkers see above is imported only when a name is asked for: `import hornlens`
    # stays quick. A test holds the two lists together.
    _HOMES = {
        "api": "compare envelope extract load",
        "classifiers.explain": "explain",
        "classifiers.flipping": "flips",
        "classifiers.mattering": "WhereItMatters",
        "classifiers.proofs": "Proof",
        "classifiers.proving": "prove",
        "classifiers.changes": "Recourse",
        "classifiers.recourse": "recourse recourses",
        "classifiers.result": "Explanation",
        "targets.classifiers.plausible": "Plausible",
        "targets.classifiers.target": "ClassifierTarget",
        "differing": "changes differences",
        "errors": "HornlensError InputError",
        "exploring.explore": "explore",
        "limits": "Limits ended_by_ctrl_c",
        "logic.attributes": "Attribute Nominal",
        "logic.certificates": "Certificate",
        "logic.decisions": "Decision Policy",
        "logic.envelope": "Envelope",
        "logic.former": "Bounded Budget Exact Explored Interrupted Pac",
        "logic.named": "NamedRule",
        "logic.ordered": "Ordered",
        "logic.repeats": "Repeats",
        "logic.space": "Space",
        "logic.taxonomy": "Taxonomy",
        "logic.warrants": "Warrant",
        "probes.loading": "load_probe",
        "probes.probe": "Probe",
        "result": "Result",
        "results.documents.checks": "CheckOutcome Checked",
        "results.analysis.comparison": "Comparison",
        "results.analysis.rates": "Rates",
        "results.documents.rules": "Rules",
        "results.documents.settings": "Settings",
        "targets.differences": "DifferencesTarget",
        "targets.flipping": "FlippingTarget",
        "targets.formulas": "FormulaTarget TableTarget",
        "targets.functions": "FunctionTarget RepeatedTarget",
        "targets.prompted": "PromptedModel",
        "targets.protocol": "Target",
        "targets.worlds": "Worlds",
        "verification": "seal verify",
        "verifying.outcomes": "Verification",
    }

    def __getattr__(name):
        """Import a public name when it is asked for."""
        for module, names in _HOMES.items():
            if name in names.split():
                import importlib

                value = getattr(importlib.import_module(f"hornlens.{module}"), name)
                globals()[name] = value
                return value
        raise AttributeError(f"module 'hornlens' has no attribute {name!r}")


def __dir__() -> list[str]:
    """List the public names, whether they are imported yet or not."""
    return sorted({*globals(), *__all__})
