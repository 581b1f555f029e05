# %% [markdown]
# # Turnover with insiders
#
# Turnover of enterprises by region and industry. A competitor knows its own turnover, and subtracts
# it. So every enterprise in the records is an attacker, and each sees more than an outsider does.

# %%
from pathlib import Path

import tacita as tc
from tacita.report.standalone import draw_table

rule = tc.PPercent(10) | tc.MinimumFrequency(3)
industries = tc.Hierarchy.from_dict({"Goods": ["Food", "Metal", "Wood"], "Services": ["Trade", "Hotels"]})
firms = {
    "region": ["North"] * 11 + ["South"] * 12 + ["East"] * 12,
    "industry": [
        *["Food"] * 3, *["Metal"] * 2, *["Wood"] * 3, "Trade", "Trade", "Hotels",
        *["Food"] * 3, *["Metal"] * 3, "Wood", *["Trade"] * 3, "Hotels", "Hotels",
        *["Food"] * 3, *["Metal"] * 3, *["Wood"] * 2, *["Trade"] * 3, "Hotels",
    ],
    "firm": [f"firm {k}" for k in (*range(1, 12), 1, *range(12, 23), 4, *range(23, 34))],
    "turnover": [
        120, 95, 80, 400, 25, 60, 55, 40, 90, 70, 35, 110, 90, 85, 150, 140, 130, 45, 75, 60, 50, 30, 20,
        70, 65, 60, 210, 190, 180, 52, 48, 66, 64, 62, 28,
    ],
}  # fmt: skip
table = tc.tabulate(firms, by={"region": None, "industry": industries}, value="turnover", respondent="firm")
problem = tc.Problem(table, rule)
print(problem)

# %% [markdown]
# ## What an outsider cannot see
#
# Suppression against an outsider alone is cheaper. Audited against everyone who contributed, it
# fails.

# %%
outsider = tc.Problem(table, rule, attackers="outsider")
cheap = tc.Suppression().protect(outsider)
print("outsider: ", tc.audit(outsider, cheap).verdict)
print("everyone: ", tc.audit(problem, cheap).verdict)

# %% [markdown]
# ## Against everyone

# %%
release = tc.Suppression().protect(problem)
audit = tc.audit(problem, release)
print(f"{release.outcome.loss:,.0f} instead of {cheap.outcome.loss:,.0f}, {release.outcome.status.value}")
print(audit.verdict)
Path("turnover_with_insiders.svg").write_text(draw_table(release, problem.levels.sensitive), encoding="utf-8")

# %% [markdown]
# ![Turnover by region and industry as it is published](turnover_with_insiders.svg)
