"""Targets: black boxes that decide the cells of a space, whatever they are inside.

`hornlens target list` shows which kinds have a spec.

>>> from hornlens.targets import open_target
>>> open_target("rows/examples/animals.csv").space.width
5
"""

from hornlens.namespaces import lazy_names

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hornlens.targets.classifiers.target import ClassifierTarget as ClassifierTarget
    from hornlens.targets.differences import DifferencesTarget as DifferencesTarget
    from hornlens.targets.flipping import FlippingTarget as FlippingTarget
    from hornlens.targets.formulas import FormulaTarget as FormulaTarget
    from hornlens.targets.formulas import TableTarget as TableTarget
    from hornlens.targets.functions import FunctionTarget as FunctionTarget
    from hornlens.targets.functions import RepeatedTarget as RepeatedTarget
    from hornlens.targets.prompted import PromptedModel as PromptedModel
    from hornlens.targets.protocol import Interruptible as Interruptible
    from hornlens.targets.protocol import LooksInside as LooksInside
    from hornlens.targets.protocol import PromptTarget as PromptTarget
    from hornlens.targets.protocol import Target as Target
    from hornlens.targets.registry import TargetKind as TargetKind
    from hornlens.targets.registry import open_target as open_target
    from hornlens.targets.worlds import Worlds as Worlds
else:
    _HOMES = {
        "targets.classifiers.target": "ClassifierTarget",
        "targets.differences": "DifferencesTarget",
        "targets.flipping": "FlippingTarget",
        "targets.formulas": "FormulaTarget TableTarget",
        "targets.functions": "FunctionTarget RepeatedTarget",
        "targets.prompted": "PromptedModel",
        "targets.protocol": "Interruptible LooksInside PromptTarget Target",
        "targets.registry": "TargetKind open_target",
        "targets.worlds": "Worlds",
    }
    __all__, __getattr__, __dir__ = lazy_names(__name__, _HOMES)
