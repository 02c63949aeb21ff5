"""Privacy models beyond k: what each promises of a group, decided from counts.

The command line, the documentation and the page follow from what is added to the registry here.

May import: arrays, errors, files, hierarchies, settings, table.
"""

from coterie.privacy.closeness import BetaLikeness, DeltaDisclosure, TCloseness
from coterie.privacy.diversity import AlphaK, KAnonymity, LDiversity
from coterie.privacy.kmap import KMap
from coterie.privacy.model import Model
from coterie.settings.registry import MODELS

__all__ = ["AlphaK", "BetaLikeness", "DeltaDisclosure", "KAnonymity", "KMap", "LDiversity", "Model", "TCloseness"]

for _model in (KAnonymity, LDiversity, TCloseness, AlphaK, BetaLikeness, DeltaDisclosure, KMap):
    MODELS.add(_model.name, _model)
