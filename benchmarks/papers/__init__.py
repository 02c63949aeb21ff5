"""The experiments of the papers, run again: `make papers`, or `python -m benchmarks.papers [NAME …] [--quick]`.

    __main__.py       the command line
    quick.py          the quick run, which compares effects with those of the committed results
    trials.py         one point of a figure: a method run on a table; what was measured is kept, so that a run can go on
    data.py           the papers' tables        income.py  a synthetic census of the INCOME schema
    curves.py         points → curves with mean and spread, and figures made of them
    effects.py        what a paper says, as something that can be checked
    li2006.py         Li, Wong, Fu, Pei 2006: KACA against Incognito
    xu2006.py         Xu, Wang, Pei, Wang, Shi, Fu 2006: bottom-up and top-down against Mondrian, on Adult
    xu2006_made.py    the same on synthetic tables        xu2006_seeds.py  how far apart the seeds of top-down are
    xu2006_queries.py the same paper's queries on released tables
    ni2017.py         Ni, Xie, Qian 2017: GCCG against KACA and Incognito
    he2012.py         He, Chen, Chen, Dong, Wang, Huang 2012: CB against NH
    he2012_tries.py   the same paper's number of tries
    page.py           results → docs/papers.md        plots.py  results → docs/papers
    claims.py         what the page says of each claim        texts.py  what it says around them

A script of a paper has `TITLE`, `trials(quick)`, `figures(points)`, and `effects(points)`. Results are committed under
benchmarks/results/papers.
"""
