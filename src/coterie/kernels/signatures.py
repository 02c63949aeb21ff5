"""The kernels that each method calls, with their argument types, for compiling ahead of a run.

Written by scripts/make_signatures.py. Kernels that are not listed are compiled when first called.
"""

from __future__ import annotations

TUPLES = {
    "improve.opened.Open": """
        int32[:,::1] int32[:,::1] int32[::1]
    """,
    "improve.pooled.Pooled": """
        int32[::1] int32[::1] int64[::1] int32[:,::1] int64[::1] int32[::1] int32[::1]
    """,
    "improve.pooled.Sides": """
        int64[::1] float64[::1] int32[:,:,::1]
    """,
    "improve.reassign.Chains": """
        int32[::1] float64[::1] int32[::1] int64[::1] int32[::1] int32[::1] bool[::1] search.walk.Walk
        int32[::1]
    """,
    "improve.recreate.Growing": """
        int32[::1] search.growth.Items int32[::1] int32[:,::1]
    """,
    "improve.ruin.Groups": """
        int32[::1] int32[::1] int32[::1] int64[::1] float64[::1]
    """,
    "improve.ruin.Regions": """
        int64[::1] int64[::1] int32[::1] int64[::1] uint64[::1]
    """,
    "improve.ruin.Room": """
        int32[::1] improve.pooled.Pooled improve.pooled.Sides improve.recreate.Growing float64[::1]
        float64[::1]
    """,
    "improve.ruin.Search": """
        int64 int32[::1] int32[:,::1] int64 int64 int64 float64 float64 float64
    """,
    "methods.cb.Tries": """
        int64 int64 int64 bool
    """,
    "methods.cb_diversity.Diversity": """
        int32[:,::1] int64[::1] int64[::1]
    """,
    "methods.cb_rounds.Numbers": """
        int64[::1] float64[::1] int64[::1]
    """,
    "methods.compact.Queue": """
        search.heap.Heap int32[::1]
    """,
    "methods.compact.Room": """
        float64[::1] search.walk.Walk search.heap.Heap search.growth.Items
    """,
    "methods.compact.SeedBoxes": """
        search.nearby.NearLists int32[:,::1] int32[:,::1] float64[::1]
    """,
    "methods.compact.Taking": """
        int32[:,::1] int32[::1] search.walk.Walk
    """,
    "methods.compact.Tries": """
        int64 int32[::1] int32[:,::1] int64
    """,
    "methods.gccg.Room": """
        float64[::1] search.heap.Heap search.walk.Walk
    """,
    "methods.incognito.Packing": """
        int64[::1] uint64[::1] uint64[::1] int64[::1] int64[::1] uint64[::1]
    """,
    "methods.kaca.SmallClasses": """
        int32[::1] int32[::1]
    """,
    "methods.mondrian.Work": """
        int32[::1] int64[::1] int64[::1] int32[::1] int32[::1] int64[::1] float64[::1] int64[::1] int32[::1]
        int32[::1]
    """,
    "methods.nh.Halves": """
        int32[:,::1] int32[::1] int8[::1] int8[::1] int32[:,::1] int32[:,::1] float64[:,::1] int32[::1]
        int32[:,::1] int32[::1]
    """,
    "methods.optimal.Priced": """
        int32[:,::1] int32[::1] float64[::1] float64[::1]
    """,
    "methods.top_down.Cutting": """
        int64 int64 int64 int64[::1] int64[::1]
    """,
    "methods.top_down.Work": """
        int32[::1] int32[::1] int64[::1] int64[::1] int32[:,::1] int32[:,::1] float64[:,::1] int8[::1]
        int32[:,::1] int32[::1]
    """,
    "methods.top_down_repair.Chains": """
        int32[:,::1] int32[::1] int32[::1] int32[::1] int32[::1]
    """,
    "methods.top_down_repair.Donors": """
        int32[:,::1] int32[:,::1] int64[::1]
    """,
    "methods.top_down_repair.Work": """
        int32[::1] float64[::1] int32[::1] bool[::1] float64[::1] float64[::1] int32[::1] int32[::1]
    """,
    "search.cheap_groups.Asked": """
        int64 int64 float64 int64
    """,
    "search.cheap_groups.Listed": """
        int32[:,::1] float64[::1]
    """,
    "search.cheap_groups.Offered": """
        int64[::1] float64[::1] int64[::1]
    """,
    "search.cheap_groups.Room": """
        int32[:,:,::1] int64[:,::1] float64[::1]
    """,
    "search.costs.CostArrays": """
        int64[::1] int64[::1] int64[::1] float64[::1] float64[::1] float64[::1] int64[::1] int64[::1]
        int64[::1]
    """,
    "search.groups_index.BoxNodes": """
        int32[:,::1] int32[:,::1] int64[::1] float64[::1] int32[::1] int32[::1] int32[::1] int32[::1]
        int32[::1] int32[::1] int32[:,::1] int32[:,::1] int64[::1] float64[::1] float64[::1] int32[::1]
        int32[::1]
    """,
    "search.growth.Items": """
        int32[:,::1] int32[:,::1] int64[::1] int64[::1] int32[::1] int32[:,::1] int32[::1] int32[:,::1]
    """,
    "search.heap.Heap": """
        float64[::1] int32[::1]
    """,
    "search.nearby.NearLists": """
        int32[:,::1] int32[::1]
    """,
    "search.rows_index.Nodes": """
        int32[:,::1] int32[::1] int32[::1] int32[::1] int32[::1] int32[::1] int32[:,::1] int32[:,::1]
        int32[::1] int32[::1] int32[::1] int64[::1] int32[::1] int64[::1] int32[::1] bool[::1]
    """,
    "search.rows_index.Shape": """
        int32[::1] int32[::1] int32[::1] int32[::1] int32[::1] int32[::1] int32[::1] int32[::1] int32[::1]
        int32[::1] int32[::1]
    """,
    "search.walk.Walk": """
        int32[::1] float64[::1]
    """,
}

SIGNATURES = {
    "distinct._distinct_rows": """
        int32[:,::1] int32[::1] int32[::1] int32[::1]
    """,
    "improve.reassign._reassign": """
        search.rows_index.Nodes search.costs.CostArrays improve.ruin.Groups improve.opened.Open int64
        improve.ruin.Regions int64 int64 improve.reassign.Chains
    """,
    "improve.ruin._ruin_and_recreate": """
        search.rows_index.Nodes search.costs.CostArrays improve.ruin.Groups search.nearby.NearLists
        improve.ruin.Search improve.ruin.Regions int64 int64 improve.ruin.Room
    """,
    "methods.bottom_up.merge_round": """
        search.groups_index.BoxNodes search.costs.CostArrays int32[::1] bool[::1] int32[::1]
    """,
    "methods.bottom_up.split_groups": """
        search.costs.CostArrays int32[:,::1] int32[::1] int64[::1] int64 int32[::1]
    """,
    "methods.cb.halve": """
        search.costs.CostArrays methods.cb_rounds.Numbers methods.cb_diversity.Diversity int32[:,::1]
        int32[::1] uint64 methods.cb.Tries bool uint64[::1] int32[::1]
    """,
    "methods.compact._accept_boxes": """
        search.rows_index.Nodes search.costs.CostArrays int64 methods.compact.SeedBoxes int32[::1]
        methods.compact.Queue int64 int64 int32[::1] methods.compact.Taking
    """,
    "methods.compact._grow_boxes": """
        search.rows_index.Nodes search.costs.CostArrays methods.compact.Tries methods.compact.SeedBoxes
        int32[::1] search.nearby.NearLists int32[::1] methods.compact.Room
    """,
    "methods.gccg._gather": """
        search.rows_index.Nodes search.costs.CostArrays int32[:,::1] int64 int32[::1] int64 int64
        methods.gccg.Room
    """,
    "methods.incognito.pack": """
        int32[:,::1] methods.incognito.Packing int64
    """,
    "methods.incognito.search": """
        uint64[:,::1] int64[::1] methods.incognito.Packing int64[::1] int64[::1] bool[::1] int64 int64
    """,
    "methods.kaca.label_rows": """
        int32[::1] int32[::1]
    """,
    "methods.kaca.merge_classes": """
        search.groups_index.BoxNodes search.costs.CostArrays int64 float64 float64[::1] int32[::1]
        methods.kaca.SmallClasses int64 int64 int64
    """,
    "methods.kmembers.grow_groups": """
        search.rows_index.Nodes search.costs.CostArrays int32[:,::1] int64 int32[::1] bool
    """,
    "methods.mondrian._strict_cuts": """
        search.costs.CostArrays int32[:,::1] int32[::1] int64 bool int32[::1] methods.mondrian.Work
    """,
    "methods.nh._greedy_parts": """
        search.costs.CostArrays methods.nh.Halves int64 int64 int64 float64[::1] int64[::1] int64[::1]
        int32[::1]
    """,
    "methods.nh._tours": """
        search.costs.CostArrays int32[:,::1] int64[::1] int64 int32[::1]
    """,
    "methods.optimal.groups_below": """
        search.costs.CostArrays methods.optimal.Priced int64 float64 int64 int64 int32[:,::1] float64[::1]
    """,
    "methods.rings.matched_slots": """
        int64[::1] int64 int64[::1] uint64[::1]
    """,
    "methods.rings.ring_boxes": """
        int32[:,::1] int32[::1] int64[::1] int64
    """,
    "methods.top_down._cut": """
        search.costs.CostArrays int32[:,::1] int32[::1] methods.top_down.Cutting int64 int32[::1] int64
        methods.top_down.Work
    """,
    "methods.top_down_repair._repair": """
        search.groups_index.BoxNodes methods.top_down_repair.Donors methods.top_down_repair.Chains
        search.costs.CostArrays int32[::1] int64 methods.top_down_repair.Work search.walk.Walk
    """,
    "methods.top_down_repair.chain_labels": """
        methods.top_down_repair.Chains int64[::1] int32[::1]
    """,
    "methods.top_down_repair.fill_donors": """
        search.groups_index.BoxNodes methods.top_down_repair.Donors int64
    """,
    "search.cheap_groups._list_cheap_groups": """
        int32[:,::1] search.costs.CostArrays search.nearby.NearLists search.cheap_groups.Offered
        search.cheap_groups.Asked int64 int64 search.cheap_groups.Listed search.cheap_groups.Room int64[::1]
    """,
    "search.costs._box_costs": """
        search.costs.CostArrays int32[:,::1] int32[:,::1] float64[::1]
    """,
    "search.groups_index.fill": """
        search.groups_index.BoxNodes
    """,
    "search.nearby._list_near_leaves": """
        search.rows_index.Nodes search.costs.CostArrays int64 int32[::1] int32[::1] search.nearby.NearLists
        float64[::1] search.heap.Heap search.walk.Walk
    """,
    "search.nearby._list_near_places": """
        search.rows_index.Nodes search.costs.CostArrays int64 int64 search.nearby.NearLists float64[::1]
        search.heap.Heap search.walk.Walk
    """,
    "search.nearby._too_short": """
        int32[::1] search.nearby.NearLists int32[::1] int64 bool[::1]
    """,
    "search.neighbours.least_floors": """
        search.rows_index.Nodes float64[::1]
    """,
    "search.neighbours.neighbour_costs": """
        search.rows_index.Nodes search.costs.CostArrays int64 float64[::1] float64[::1] int64 int64
    """,
    "search.rows_index._build": """
        search.costs.CostArrays int32[:,::1] search.rows_index.Shape
    """,
    "search.rows_index.fill": """
        search.rows_index.Nodes
    """,
    "unassigned._place_leftovers": """
        search.costs.CostArrays int32[:,::1] int32[::1] int32[:,::1] int32[:,::1] int64[::1] int32[::1]
        float64[::1]
    """,
}

# Neighbours share parts; otherwise what takes longest is first.
METHODS = {
    "auto": (
        "improve.ruin._ruin_and_recreate",
        "methods.compact._grow_boxes",
        "search.nearby._list_near_places",
        "improve.reassign._reassign",
        "methods.compact._accept_boxes",
        "methods.mondrian._strict_cuts",
        "search.rows_index.fill",
        "search.rows_index._build",
        "unassigned._place_leftovers",
        "search.costs._box_costs",
        "distinct._distinct_rows",
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
        "improve.ruin._ruin_and_recreate",
        "methods.compact._grow_boxes",
        "search.nearby._list_near_places",
        "improve.reassign._reassign",
        "methods.compact._accept_boxes",
        "search.nearby._list_near_leaves",
        "methods.mondrian._strict_cuts",
        "search.rows_index.fill",
        "search.rows_index._build",
        "unassigned._place_leftovers",
        "search.costs._box_costs",
        "distinct._distinct_rows",
        "search.nearby._too_short",
    ),
    "gccg": (
        "methods.gccg._gather",
        "search.rows_index.fill",
        "search.rows_index._build",
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
        "search.rows_index.fill",
        "search.rows_index._build",
        "unassigned._place_leftovers",
        "search.neighbours.least_floors",
        "distinct._distinct_rows",
    ),
    "mondrian": (
        "methods.mondrian._strict_cuts",
        "distinct._distinct_rows",
    ),
    "nh": (
        "methods.nh._greedy_parts",
        "methods.rings.ring_boxes",
        "methods.rings.matched_slots",
        "methods.nh._tours",
        "distinct._distinct_rows",
    ),
    "optimal": (
        "improve.ruin._ruin_and_recreate",
        "methods.compact._grow_boxes",
        "search.nearby._list_near_places",
        "improve.reassign._reassign",
        "methods.compact._accept_boxes",
        "search.neighbours.neighbour_costs",
        "methods.optimal.groups_below",
        "search.cheap_groups._list_cheap_groups",
        "methods.mondrian._strict_cuts",
        "search.rows_index.fill",
        "search.rows_index._build",
        "unassigned._place_leftovers",
        "search.neighbours.least_floors",
        "search.costs._box_costs",
        "distinct._distinct_rows",
    ),
    "top-down": (
        "methods.top_down_repair._repair",
        "methods.top_down._cut",
        "search.rows_index._build",
        "search.groups_index.fill",
        "methods.top_down_repair.fill_donors",
        "search.costs._box_costs",
        "methods.top_down_repair.chain_labels",
    ),
}
