"""Charts as plain data, drawn with Matplotlib and coloured by the surrounding page.

May import: errors, files, wording.
"""

from coterie.charts.charts import Axis, Chart, Rule, Series, bars, lines, points

__all__ = ["Axis", "Chart", "Rule", "Series", "bars", "lines", "points"]
