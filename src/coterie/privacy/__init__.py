"""Privacy models beyond k: what each guarantees for a group, decided from counts.

A model registers itself when its class is created; the command line, the docs, the page and the report follow.

May import: arrays, errors, files, hierarchies, settings, table.
"""

from coterie.privacy.closeness import BetaLikeness, DeltaDisclosure, TCloseness
from coterie.privacy.diversity import AlphaK, KAnonymity, LDiversity
from coterie.privacy.kmap import KMap
from coterie.privacy.model import Model

__all__ = ["AlphaK", "BetaLikeness", "DeltaDisclosure", "KAnonymity", "KMap", "LDiversity", "Model", "TCloseness"]
