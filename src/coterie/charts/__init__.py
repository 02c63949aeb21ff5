"""Charts as plain data, drawn by Matplotlib and coloured by the page around them.

May import: errors, files.
"""

from coterie.charts.charts import Axis, Chart, Rule, Series, bars, lines, points

__all__ = ["Axis", "Chart", "Rule", "Series", "bars", "lines", "points"]
