"""Models: language models behind one protocol, one file per backend, and their registry.

Heavy dependencies are imported inside. `hornlens model list` shows which kinds there are.

>>> from hornlens.models import FunctionModel
>>> FunctionModel(lambda prompt, words: [0.9, 0.1], name="mine").name
'mine'
"""

from hornlens.namespaces import lazy_names

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hornlens.formats.sent import Sent as Sent
    from hornlens.formats.sent import SentCall as SentCall
    from hornlens.models.checks import check_prompts as check_prompts
    from hornlens.models.checks import check_words as check_words
    from hornlens.models.demo import DemoModel as DemoModel
    from hornlens.models.functions import FunctionModel as FunctionModel
    from hornlens.models.protocol import MASK as MASK
    from hornlens.models.protocol import Answer as Answer
    from hornlens.models.protocol import Elicitation as Elicitation
    from hornlens.models.protocol import Estimate as Estimate
    from hornlens.models.protocol import Model as Model
    from hornlens.models.protocol import ModelError as ModelError
    from hornlens.models.protocol import ModelOptions as ModelOptions
    from hornlens.models.protocol import Spending as Spending
    from hornlens.models.registry import ModelKind as ModelKind
    from hornlens.models.registry import open_model as open_model
else:
    _HOMES = {
        "formats.sent": "Sent SentCall",
        "models.checks": "check_prompts check_words",
        "models.demo": "DemoModel",
        "models.functions": "FunctionModel",
        "models.protocol": (
            "MASK Answer Elicitation Estimate Model ModelError ModelOptions Spending"
        ),
        "models.registry": "ModelKind open_model",
    }
    __all__, __getattr__, __dir__ = lazy_names(__name__, _HOMES)
