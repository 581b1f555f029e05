# %% [markdown]
# # Rounding for users, suppression for researchers
#
# The public gets rounded numbers, without gaps. A research data centre gets true numbers, with gaps.
# Researchers read the public table too: what both releases say together must protect.

# %%
from pathlib import Path

import tacita as tc
from tacita.report.standalone import draw_changes, draw_table

problem = tc.Problem(
    tc.Table.from_array(
        [[17, 15, 16, 6], [51, 18, 16, 4], [15, 3, 20, 20], [12, 59, 12, 3]],
        names=("region", "diagnosis"),
        codes=(("North", "East", "South", "West"), ("A", "B", "C", "D")),
    ),
    tc.Threshold(5),
)
public = tc.Rounding(base=5).protect(problem)
print("public:", tc.audit(problem, public).verdict)
Path("rounding_public.svg").write_text(draw_table(public), encoding="utf-8")
Path("rounding_changes.svg").write_text(draw_changes(problem.table, public), encoding="utf-8")

# %% [markdown]
# ![Patients by region and diagnosis, rounded to multiples of 5](rounding_public.svg)
#
# The largest changes, in percent, are those of the smallest cells:
#
# ![Relative changes of shown numbers, by level](rounding_changes.svg)

# %% [markdown]
# ## A second release
#
# Suppression that does not know of the rounded table is safe alone. Together with it, it is not.

# %%
alone = tc.Suppression().protect(problem)
print("suppressed, alone:   ", tc.audit(problem, alone).verdict)
print("suppressed, with it: ", tc.audit(problem, [public, alone]).verdict)

# %% [markdown]
# So the rounded table is stated as already published. Whatever is hidden now is hidden from readers
# of both.

# %%
second = problem.with_published([public])
researchers = tc.Suppression().protect(second)
audit = tc.audit(second, researchers)
print("knowing of it:       ", audit.verdict)
researchers.write("researchers.csv", audit=audit)
Path("rounding_researchers.svg").write_text(
    draw_table(researchers, problem.levels.sensitive), encoding="utf-8"
)

# %% [markdown]
# ![The table for researchers: more cells are suppressed than for a single release](rounding_researchers.svg)
