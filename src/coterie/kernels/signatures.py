"""Which kernels each method calls, and the types they are called with: what can be compiled ahead of a run.

Written by scripts/make_signatures.py. Kernels that are not here are compiled when they are first called.
"""

from __future__ import annotations

TUPLES = {
    "search.groups_index.BoxNodes": """
        int32[:,::1] int32[:,::1] int64[::1] float64[::1] int32[::1] int32[::1] int32[::1] int32[::1]
        int32[::1] int32[::1] int32[:,::1] int32[:,::1] int64[::1] float64[::1] float64[::1] int32[::1]
        int32[::1]
    """,
    "methods.cb_diversity.Diversity": """
        int32[:,::1] int64[::1] int64[::1]
    """,
    "methods.cb_rounds.Numbers": """
        int64[::1] float64[::1] int64[::1]
    """,
    "search.costs.CostArrays": """
        int64[::1] int64[::1] int64[::1] float64[::1] float64[::1] float64[::1] int64[::1] int64[::1]
        int64[::1]
    """,
    "improve.dissolve.State": """
        int32[:,::1] int32[:,::1] int64[::1] float64[::1] bool[::1]
    """,
    "methods.incognito.Packing": """
        int64[::1] uint64[::1] uint64[::1] int64[::1] int64[::1] uint64[::1]
    """,
    "search.rows_index.Nodes": """
        int32[:,::1] int32[::1] int32[::1] int32[::1] int32[::1] int32[::1] int32[:,::1] int32[:,::1]
        int32[::1] int32[::1] int32[::1] int64[::1] int32[::1] int64[::1] int32[::1] bool[::1]
    """,
    "improve.rebuild.Chains": """
        int32[::1] int32[::1] int32[::1] int32[:,::1] int32[:,::1] int64[::1] float64[::1]
    """,
    "improve.refine.Pools": """
        int32[::1] int64[::1] int32[::1] int32[:,::1] int32[:,::1] float64[::1]
    """,
    "methods.top_down_repair.Chains": """
        int32[:,::1] int32[::1] int32[::1] int32[::1] int32[::1]
    """,
    "methods.top_down_repair.Donors": """
        int32[:,::1] int32[:,::1] int64[::1]
    """,
}

SIGNATURES = {
    "methods.bottom_up.merge_round": """
        search.groups_index.BoxNodes search.costs.CostArrays int32[::1] bool[::1] int32[::1]
    """,
    "methods.bottom_up.split_groups": """
        search.costs.CostArrays int32[:,::1] int32[::1] int64[::1] int64 int32[::1]
    """,
    "search.groups_index.fill": """
        search.groups_index.BoxNodes
    """,
    "methods.cb.halve": """
        search.costs.CostArrays methods.cb_rounds.Numbers methods.cb_diversity.Diversity int32[:,::1]
        int32[::1] uint64 int64 int64 int64 bool uint64[::1] int32[::1]
    """,
    "methods.compact._accept_boxes": """
        search.rows_index.Nodes search.costs.CostArrays int64 int32[:,::1] int32[::1] int32[:,::1]
        int32[:,::1] float64[::1] int32[::1] float64[::1] int32[::1] int64 int32[::1] int64 int32[::1]
        int32[::1] int32[::1] int32[::1] int32[::1]
    """,
    "methods.compact._grow_boxes": """
        search.rows_index.Nodes search.costs.CostArrays int64 float64[:,::1] int64 int32[:,::1] int32[::1]
        int32[:,::1] int32[:,::1] float64[::1] int32[::1] int32[:,::1] int32[::1] int32[::1] int64 int64
        float64[::1] int32[::1] float64[::1] float64[::1] int32[::1] int32[:,::1] int64[::1] float64[:,::1]
        float64[::1] int32[::1] int32[::1]
    """,
    "search.costs._box_costs": """
        search.costs.CostArrays int32[:,::1] int32[:,::1] float64[::1]
    """,
    "improve.dissolve._dissolve": """
        search.rows_index.Nodes search.costs.CostArrays improve.refine.Pools improve.dissolve.State int32[::1]
        int32[:,::1] int32[::1] int32[::1] int32[::1] int32[::1] int32[:,::1] int32[:,::1] int64[::1]
        float64[::1] int32[::1]
    """,
    "distinct._distinct_rows": """
        int32[:,::1] int32[::1] int32[::1] int32[::1]
    """,
    "methods.gccg.gather": """
        search.rows_index.Nodes search.costs.CostArrays int32[:,::1] int64 int32[::1] int64 int64
    """,
    "methods.incognito.pack": """
        int32[:,::1] methods.incognito.Packing int64
    """,
    "methods.incognito.search": """
        uint64[:,::1] int64[::1] methods.incognito.Packing int64[::1] int64[::1] bool[::1] int64 int64
    """,
    "search.rows_index._build": """
        search.costs.CostArrays int32[:,::1] int32[::1] int32[::1] int32[::1] int32[::1] int32[::1] int32[::1]
        int32[::1] int32[::1] int32[::1] int32[::1] int32[::1]
    """,
    "search.rows_index.fill": """
        search.rows_index.Nodes
    """,
    "methods.kaca.label_rows": """
        int32[::1] int32[::1]
    """,
    "methods.kaca.merge_classes": """
        search.groups_index.BoxNodes search.costs.CostArrays int64 float64 float64[::1] int32[::1] int32[::1]
        int32[::1] int64 int64 int64
    """,
    "methods.kmembers.grow_groups": """
        search.rows_index.Nodes search.costs.CostArrays int32[:,::1] int64 int32[::1] bool
    """,
    "unassigned._place_leftovers": """
        search.costs.CostArrays int32[:,::1] int32[::1] int32[:,::1] int32[:,::1] int64[::1] int32[::1]
        float64[::1]
    """,
    "methods.mondrian._strict_cuts": """
        search.costs.CostArrays int32[:,::1] int32[::1] int64 int32[::1] int32[::1] int64[::1] int64[::1]
        int64[::1] int32[::1] int32[::1] int64[::1] float64[::1] int32[::1] int32[::1]
    """,
    "search.nearby._list_near_boxes": """
        search.rows_index.Nodes search.costs.CostArrays int64 int32[:,::1] int32[:,::1] int32[::1] int64[::1]
        int32[::1] int32[:,::1] int32[::1] float64[::1] int32[::1] float64[::1] float64[::1] int32[::1]
    """,
    "search.nearby._too_short": """
        int32[::1] int32[:,::1] int32[::1] int32[::1] int64 bool[::1]
    """,
    "search.neighbours.least_floors": """
        search.rows_index.Nodes float64[::1]
    """,
    "search.neighbours.neighbour_costs": """
        search.rows_index.Nodes search.costs.CostArrays int64 float64[::1] float64[::1] int64 int64
    """,
    "methods.nh.greedy_parts": """
        search.costs.CostArrays int32[:,::1] int64 int64 float64[::1]
    """,
    "methods.nh.tours": """
        search.costs.CostArrays int32[:,::1] int64[::1] int64
    """,
    "methods.optimal.groups_below": """
        search.costs.CostArrays int32[:,::1] int32[::1] float64[::1] float64[::1] int64 float64 int64 int64
        int32[:,::1] float64[::1]
    """,
    "improve.rebuild.rebuild": """
        search.rows_index.Nodes search.costs.CostArrays improve.rebuild.Chains int64 float64[:,::1] int64
        int64 int64 int32[::1] int64 int32[::1] uint64[::1]
    """,
    "improve.refine._propose": """
        search.rows_index.Nodes search.costs.CostArrays improve.refine.Pools int64 float64[:,::1] int64 int64
        int32[::1] int64 int64 int8[:,::1] int32[::1] float64[::1] float64[::1] int32[::1] float64[::1]
        int32[::1] int32[::1] int32[:,::1] int64[::1] int8[::1] int8[::1] float64[:,::1] float64[::1]
        int32[::1] float64[::1] int32[::1] int32[::1] int32[::1] int64[::1] int32[:,:,::1]
    """,
    "methods.rings.matched_slots": """
        int64[::1] int64 int64[::1] uint64[::1]
    """,
    "methods.rings.ring_boxes": """
        int32[:,::1] int32[::1] int64[::1] int64
    """,
    "methods.top_down.cut": """
        search.costs.CostArrays int32[:,::1] int32[::1] int64 int64 bool int64[::1] int64[::1] int64
        int32[::1] int64
    """,
    "methods.top_down_repair.chain_labels": """
        methods.top_down_repair.Chains int64[::1] int32[::1]
    """,
    "methods.top_down_repair.fill_donors": """
        search.groups_index.BoxNodes methods.top_down_repair.Donors int64
    """,
    "methods.top_down_repair.repair": """
        search.groups_index.BoxNodes methods.top_down_repair.Donors methods.top_down_repair.Chains
        search.costs.CostArrays int32[::1] int64
    """,
}

# Neighbours share parts; otherwise what takes longest is first.
METHODS = {
    "auto": (
        "improve.refine._propose",
        "methods.compact._grow_boxes",
        "search.nearby._list_near_boxes",
        "improve.dissolve._dissolve",
        "methods.compact._accept_boxes",
        "methods.mondrian._strict_cuts",
        "search.rows_index._build",
        "unassigned._place_leftovers",
        "search.rows_index.fill",
        "search.costs._box_costs",
        "distinct._distinct_rows",
        "search.nearby._too_short",
    ),
    "bottom-up": (
        "methods.bottom_up.split_groups",
        "methods.bottom_up.merge_round",
        "search.rows_index._build",
        "search.groups_index.fill",
        "search.costs._box_costs",
        "distinct._distinct_rows",
    ),
    "cb": ("methods.cb.halve",),
    "compact": (
        "improve.refine._propose",
        "methods.compact._grow_boxes",
        "search.nearby._list_near_boxes",
        "improve.dissolve._dissolve",
        "methods.compact._accept_boxes",
        "methods.mondrian._strict_cuts",
        "search.rows_index._build",
        "unassigned._place_leftovers",
        "search.rows_index.fill",
        "search.costs._box_costs",
        "distinct._distinct_rows",
        "search.nearby._too_short",
    ),
    "gccg": (
        "methods.gccg.gather",
        "search.rows_index._build",
        "search.rows_index.fill",
        "distinct._distinct_rows",
    ),
    "incognito": (
        "methods.incognito.search",
        "methods.incognito.pack",
        "distinct._distinct_rows",
    ),
    "kaca": (
        "methods.kaca.merge_classes",
        "search.rows_index._build",
        "search.groups_index.fill",
        "search.costs._box_costs",
        "distinct._distinct_rows",
        "methods.kaca.label_rows",
    ),
    "kmembers": (
        "methods.kmembers.grow_groups",
        "search.neighbours.neighbour_costs",
        "search.rows_index._build",
        "unassigned._place_leftovers",
        "search.rows_index.fill",
        "search.neighbours.least_floors",
        "distinct._distinct_rows",
    ),
    "mondrian": (
        "methods.mondrian._strict_cuts",
        "distinct._distinct_rows",
    ),
    "nh": (
        "methods.nh.greedy_parts",
        "methods.rings.ring_boxes",
        "methods.nh.tours",
        "methods.rings.matched_slots",
        "distinct._distinct_rows",
    ),
    "optimal": (
        "improve.refine._propose",
        "methods.compact._grow_boxes",
        "search.nearby._list_near_boxes",
        "improve.rebuild.rebuild",
        "improve.dissolve._dissolve",
        "methods.compact._accept_boxes",
        "search.neighbours.neighbour_costs",
        "methods.optimal.groups_below",
        "methods.mondrian._strict_cuts",
        "search.rows_index._build",
        "unassigned._place_leftovers",
        "search.rows_index.fill",
        "search.neighbours.least_floors",
        "search.costs._box_costs",
        "distinct._distinct_rows",
    ),
    "top-down": (
        "methods.top_down_repair.repair",
        "methods.top_down.cut",
        "search.rows_index._build",
        "search.groups_index.fill",
        "methods.top_down_repair.fill_donors",
        "search.costs._box_costs",
        "methods.top_down_repair.chain_labels",
    ),
}
