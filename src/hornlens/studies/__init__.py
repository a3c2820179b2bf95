"""Studies: many runs, what is stable in them, their documents as typed values; and data sets.

>>> from hornlens.studies import load_dataset
>>> load_dataset("people").name
'people'
"""

from hornlens.namespaces import lazy_names

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hornlens.pronouns.bias import BIAS as BIAS
    from hornlens.pronouns.dataset import Dataset as Dataset
    from hornlens.pronouns.dataset import Group as Group
    from hornlens.pronouns.dataset import load_dataset as load_dataset
    from hornlens.results.analysis.comparison import COMPARISON as COMPARISON
    from hornlens.studies.documents import STUDY as STUDY
else:
    _HOMES = {
        "pronouns.bias": "BIAS",
        "pronouns.dataset": "Dataset Group load_dataset",
        "results.analysis.comparison": "COMPARISON",
        "studies.documents": "STUDY",
    }
    __all__, __getattr__, __dir__ = lazy_names(__name__, _HOMES)
