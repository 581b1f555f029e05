# %% [markdown]
# # Counts of a health agency
#
# Patients by region and diagnosis. A cell with fewer than five patients is sensitive: readers must
# not be able to tell who is behind it. Hiding the small cells alone does not help, since totals give
# them away.

# %%
from pathlib import Path

import tacita as tc
from tacita.report.standalone import draw_audit, draw_table
from tacita.verify import verify

table = tc.Table.from_array(
    [[20, 50, 10, 61], [8, 19, 3, 44], [17, 32, 12, 38], [26, 4, 31, 57]],
    names=("region", "diagnosis"),
    codes=(("North", "East", "South", "West"), ("A", "B", "C", "D")),
)
problem = tc.Problem(table, tc.Threshold(5))
alone = tc.Release.suppress(table, problem.sensitive)
print(tc.audit(problem, alone).verdict)

# %% [markdown]
# ## Suppression
#
# The method hides more cells, at the smallest loss. The audit solves the attacker's problem and
# decides.

# %%
release = tc.Suppression().protect(problem)
audit = tc.audit(problem, release)
print(release.outcome.status.value, release.outcome.loss)
print(audit.verdict)
Path("health_counts.svg").write_text(draw_table(release, problem.levels.sensitive), encoding="utf-8")
Path("health_counts_audit.svg").write_text(draw_audit(audit), encoding="utf-8")

# %% [markdown]
# ![The table: two primary and two secondary suppressions](health_counts.svg)
#
# What a reader can still deduce of the sensitive cells covers what must stay possible:
#
# ![Deduced intervals of both sensitive cells](health_counts_audit.svg)

# %% [markdown]
# ## The proof, and the file
#
# The certificate is checked with integer arithmetic alone. A release is written only with an audit
# that passed.

# %%
print(verify(tc.certify(audit)), "pairs of cell and attacker proven")
print(release.write("health_counts.csv", audit=audit).name)
