# %% [markdown]
# # Linked tables
#
# Two tables of the same records share their regional totals. Protected one by one, a total may be
# hidden in one table and published in the other. `tc.link` makes one table of both, and one audit
# judges them together.

# %%
from pathlib import Path

import tacita as tc
from tacita.report.standalone import draw_audit

codes = {
    "region": ("North", "East", "South", "West", "Islands"),
    "industry": ("Food", "Metal", "Wood", "Trade"),
    "size": ("small", "medium", "large"),
}
dimensions = {name: tc.Hierarchy.from_dict(dict.fromkeys(own)) for name, own in codes.items()}
records = tc.generate.microdata(40, dimensions, respondents=40, seed=1).records
tables = {
    "by industry": tc.tabulate(records, ["region", "industry"], "value", respondent="respondent"),
    "by size": tc.tabulate(records, ["region", "size"], "value", respondent="respondent"),
}
rule = tc.MinimumFrequency(3)

# %% [markdown]
# ## One by one
#
# Each table alone is protected, and each audit passes.

# %%
apart = {}
for name, table in tables.items():
    problem = tc.Problem(table, rule)
    apart[name] = tc.Suppression().protect(problem)
    print(name, "->", tc.audit(problem, apart[name]).verdict)

# %% [markdown]
# Readers have both, so a cell that one of them publishes is known in the other:

# %%
both = tc.Problem(tables["by size"], rule, already_published=[apart["by industry"]])
failing = tc.audit(both, apart["by size"])
print("by size, with the other at hand ->", failing.verdict)
Path("linked_tables_apart.svg").write_text(draw_audit(failing), encoding="utf-8")

# %% [markdown]
# ![Of eight sensitive cells four are known exactly](linked_tables_apart.svg)
#
# ## Together

# %%
linked = tc.Problem(tc.link(tables), rule)
release = tc.Suppression().protect(linked)
audit = tc.audit(linked, release)
print(audit.verdict)
print(f"{release.outcome.status.value}: {int(release.hidden.sum())} of {len(linked.table)} cells hidden")
release.write("linked_tables.csv", audit=audit)
Path("linked_tables.svg").write_text(draw_audit(audit), encoding="utf-8")

# %% [markdown]
# ![What the worst attacker deduces of each sensitive cell of both tables](linked_tables.svg)
