"""A hand-written referee of Manila: the oracle that the generic interpreter is held against."""

from .manila import OPEN, Referee
from .readings import QUESTIONS, VARIANTS

__all__ = ["OPEN", "QUESTIONS", "VARIANTS", "Referee"]
