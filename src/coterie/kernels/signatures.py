"""Which kernels each method calls, and the types they are called with: what can be compiled ahead of a run.

Written by scripts/make_signatures.py. Kernels that are not here are compiled when they are first called.
"""

from __future__ import annotations

TUPLES = {
    "box_index.BoxNodes": """
        int32[:,::1] int32[:,::1] int64[::1] float64[::1] int32[::1] int32[::1] int32[::1] int32[::1]
        int32[::1] int32[::1] int32[:,::1] int32[:,::1] int64[::1] float64[::1] float64[::1] int32[::1]
        int32[::1]
    """,
    "cb_diversity.Diversity": """
        int32[:,::1] int64[::1] int64[::1]
    """,
    "cb_rounds.Numbers": """
        int64[::1] float64[::1] int64[::1]
    """,
    "costs.CostArrays": """
        int64[::1] int64[::1] int64[::1] float64[::1] float64[::1] float64[::1] int64[::1] int64[::1]
        int64[::1]
    """,
    "dissolve.State": """
        int32[:,::1] int32[:,::1] int64[::1] float64[::1] bool[::1]
    """,
    "incognito.Packing": """
        int64[::1] uint64[::1] uint64[::1] int64[::1] int64[::1] uint64[::1]
    """,
    "index.Nodes": """
        int32[:,::1] int32[::1] int32[::1] int32[::1] int32[::1] int32[::1] int32[:,::1] int32[:,::1]
        int32[::1] int32[::1] int32[::1] int64[::1] int32[::1] int64[::1] int32[::1] bool[::1]
    """,
    "rebuild.Chains": """
        int32[::1] int32[::1] int32[::1] int32[:,::1] int32[:,::1] int64[::1] float64[::1]
    """,
    "refine.Pools": """
        int32[::1] int64[::1] int32[::1] int32[:,::1] int32[:,::1] float64[::1]
    """,
    "top_down_repair.Chains": """
        int32[:,::1] int32[::1] int32[::1] int32[::1] int32[::1]
    """,
    "top_down_repair.Donors": """
        int32[:,::1] int32[:,::1] int64[::1]
    """,
}

SIGNATURES = {
    "bottom_up.merge_round": """
        box_index.BoxNodes costs.CostArrays int32[::1] bool[::1] int32[::1]
    """,
    "bottom_up.split_groups": """
        costs.CostArrays int32[:,::1] int32[::1] int64[::1] int64 int32[::1]
    """,
    "box_index.fill": """
        box_index.BoxNodes
    """,
    "cb.halve": """
        costs.CostArrays cb_rounds.Numbers cb_diversity.Diversity int32[:,::1] int32[::1] uint64 int64 int64
        int64 bool uint64[::1] int32[::1]
    """,
    "compact._accept_boxes": """
        index.Nodes costs.CostArrays int64 int32[:,::1] int32[::1] int32[:,::1] int32[:,::1] float64[::1]
        int32[::1] float64[::1] int32[::1] int64 int32[::1] int64 int32[::1] int32[::1] int32[::1] int32[::1]
        int32[::1]
    """,
    "compact._grow_boxes": """
        index.Nodes costs.CostArrays int64 float64[:,::1] int64 int32[:,::1] int32[::1] int32[:,::1]
        int32[:,::1] float64[::1] int32[::1] int32[:,::1] int32[::1] int32[::1] int64 int64 float64[::1]
        int32[::1] float64[::1] float64[::1] int32[::1] int32[:,::1] int64[::1] float64[:,::1] float64[::1]
        int32[::1] int32[::1]
    """,
    "costs._box_costs": """
        costs.CostArrays int32[:,::1] int32[:,::1] float64[::1]
    """,
    "dissolve._dissolve": """
        index.Nodes costs.CostArrays refine.Pools dissolve.State int32[::1] int32[:,::1] int32[::1] int32[::1]
        int32[::1] int32[::1] int32[:,::1] int32[:,::1] int64[::1] float64[::1] int32[::1]
    """,
    "distinct._distinct_rows": """
        int32[:,::1] int32[::1] int32[::1] int32[::1]
    """,
    "gccg.gather": """
        index.Nodes costs.CostArrays int32[:,::1] int64 int32[::1] int64 int64
    """,
    "incognito.pack": """
        int32[:,::1] incognito.Packing int64
    """,
    "incognito.search": """
        uint64[:,::1] int64[::1] incognito.Packing int64[::1] int64[::1] bool[::1] int64 int64
    """,
    "index._build": """
        costs.CostArrays int32[:,::1] int32[::1] int32[::1] int32[::1] int32[::1] int32[::1] int32[::1]
        int32[::1] int32[::1] int32[::1] int32[::1] int32[::1]
    """,
    "index.fill": """
        index.Nodes
    """,
    "kaca.label_rows": """
        int32[::1] int32[::1]
    """,
    "kaca.merge_classes": """
        box_index.BoxNodes costs.CostArrays int64 float64 float64[::1] int32[::1] int32[::1] int32[::1] int64
        int64 int64
    """,
    "kmembers.grow_groups": """
        index.Nodes costs.CostArrays int32[:,::1] int64 int32[::1] bool
    """,
    "leftovers._place_leftovers": """
        costs.CostArrays int32[:,::1] int32[::1] int32[:,::1] int32[:,::1] int64[::1] int32[::1] float64[::1]
    """,
    "mondrian._strict_cuts": """
        costs.CostArrays int32[:,::1] int32[::1] int64 int32[::1] int32[::1] int64[::1] int64[::1] int64[::1]
        int32[::1] int32[::1] int64[::1] float64[::1] int32[::1] int32[::1]
    """,
    "nearby._list_near_boxes": """
        index.Nodes costs.CostArrays int64 int32[:,::1] int32[:,::1] int32[::1] int64[::1] int32[::1]
        int32[:,::1] int32[::1] float64[::1] int32[::1] float64[::1] float64[::1] int32[::1]
    """,
    "nearby._too_short": """
        int32[::1] int32[:,::1] int32[::1] int32[::1] int64 bool[::1]
    """,
    "neighbours.least_floors": """
        index.Nodes float64[::1]
    """,
    "neighbours.neighbour_costs": """
        index.Nodes costs.CostArrays int64 float64[::1] float64[::1] int64 int64
    """,
    "nh.greedy_parts": """
        costs.CostArrays int32[:,::1] int64 int64 float64[::1]
    """,
    "nh.tours": """
        costs.CostArrays int32[:,::1] int64[::1] int64
    """,
    "optimal.groups_below": """
        costs.CostArrays int32[:,::1] int32[::1] float64[::1] float64[::1] int64 float64 int64 int64
        int32[:,::1] float64[::1]
    """,
    "rebuild.rebuild": """
        index.Nodes costs.CostArrays rebuild.Chains int64 float64[:,::1] int64 int64 int64 int32[::1] int64
        int32[::1] uint64[::1]
    """,
    "refine._propose": """
        index.Nodes costs.CostArrays refine.Pools int64 float64[:,::1] int64 int64 int32[::1] int64 int64
        int8[:,::1] int32[::1] float64[::1] float64[::1] int32[::1] float64[::1] int32[::1] int32[::1]
        int32[:,::1] int64[::1] int8[::1] int8[::1] float64[:,::1] float64[::1] int32[::1] float64[::1]
        int32[::1] int32[::1] int32[::1] int64[::1] int32[:,:,::1]
    """,
    "rings.matched_slots": """
        int64[::1] int64 int64[::1] uint64[::1]
    """,
    "rings.ring_boxes": """
        int32[:,::1] int32[::1] int64[::1] int64
    """,
    "top_down.cut": """
        costs.CostArrays int32[:,::1] int32[::1] int64 int64 bool int64[::1] int64[::1] int64 int32[::1] int64
    """,
    "top_down_repair.chain_labels": """
        top_down_repair.Chains int64[::1] int32[::1]
    """,
    "top_down_repair.fill_donors": """
        box_index.BoxNodes top_down_repair.Donors int64
    """,
    "top_down_repair.repair": """
        box_index.BoxNodes top_down_repair.Donors top_down_repair.Chains costs.CostArrays int32[::1] int64
    """,
}

# Neighbours share parts; otherwise what takes longest is first.
METHODS = {
    "auto": (
        "refine._propose",
        "compact._grow_boxes",
        "nearby._list_near_boxes",
        "dissolve._dissolve",
        "compact._accept_boxes",
        "mondrian._strict_cuts",
        "index._build",
        "leftovers._place_leftovers",
        "index.fill",
        "costs._box_costs",
        "distinct._distinct_rows",
        "nearby._too_short",
    ),
    "bottom-up": (
        "bottom_up.split_groups",
        "bottom_up.merge_round",
        "index._build",
        "box_index.fill",
        "costs._box_costs",
        "distinct._distinct_rows",
    ),
    "cb": ("cb.halve",),
    "compact": (
        "refine._propose",
        "compact._grow_boxes",
        "nearby._list_near_boxes",
        "dissolve._dissolve",
        "compact._accept_boxes",
        "mondrian._strict_cuts",
        "index._build",
        "leftovers._place_leftovers",
        "index.fill",
        "costs._box_costs",
        "distinct._distinct_rows",
        "nearby._too_short",
    ),
    "gccg": (
        "gccg.gather",
        "index._build",
        "index.fill",
        "distinct._distinct_rows",
    ),
    "incognito": (
        "incognito.search",
        "incognito.pack",
        "distinct._distinct_rows",
    ),
    "kaca": (
        "kaca.merge_classes",
        "index._build",
        "box_index.fill",
        "costs._box_costs",
        "distinct._distinct_rows",
        "kaca.label_rows",
    ),
    "kmembers": (
        "kmembers.grow_groups",
        "neighbours.neighbour_costs",
        "index._build",
        "leftovers._place_leftovers",
        "index.fill",
        "neighbours.least_floors",
        "distinct._distinct_rows",
    ),
    "mondrian": (
        "mondrian._strict_cuts",
        "distinct._distinct_rows",
    ),
    "nh": (
        "nh.greedy_parts",
        "rings.ring_boxes",
        "nh.tours",
        "rings.matched_slots",
        "distinct._distinct_rows",
    ),
    "optimal": (
        "refine._propose",
        "compact._grow_boxes",
        "nearby._list_near_boxes",
        "rebuild.rebuild",
        "dissolve._dissolve",
        "compact._accept_boxes",
        "neighbours.neighbour_costs",
        "optimal.groups_below",
        "mondrian._strict_cuts",
        "index._build",
        "leftovers._place_leftovers",
        "index.fill",
        "neighbours.least_floors",
        "costs._box_costs",
        "distinct._distinct_rows",
    ),
    "top-down": (
        "top_down_repair.repair",
        "top_down.cut",
        "index._build",
        "box_index.fill",
        "top_down_repair.fill_donors",
        "costs._box_costs",
        "top_down_repair.chain_labels",
    ),
}
