# %% [markdown]
# # Auditing somebody else's table
#
# A colleague hid cells by hand, or another program did. The audit does not ask who made a release: it
# takes what is shown, puts itself in the place of each attacker, and says what they can deduce.

# %%
from pathlib import Path

import tacita as tc
from tacita.report.standalone import draw_audit

Path("patients.csv").write_text(
    """\
region,diagnosis,value
North,A,20
North,B,50
North,C,10
East,A,8
East,B,19
East,C,2
South,A,17
South,B,32
South,C,12
""",
    encoding="utf-8",
)
Path("by_hand.csv").write_text(
    """\
region,A,B,C,Total
North,20,50,10,80
East,x,19,x,29
South,17,32,12,61
Total,45,101,24,170
""",
    encoding="utf-8",
)
problem = tc.read_case("patients.csv", rule="threshold(3)")
by_hand = tc.read_release("by_hand.csv", problem.table)
audit = tc.audit(problem, by_hand)
print(audit.verdict)
Path("audit_of_others.svg").write_text(draw_audit(audit), encoding="utf-8")

# %% [markdown]
# ![The sensitive cell is known exactly](audit_of_others.svg)
#
# Two cells of one row are hidden, but each column gives its cell away. What anyone deduces, without
# the true table:

# %%
deduction = tc.deduce(problem, by_hand)
for cell in deduction.cells:
    print(problem.table.name(cell), deduction.of(cell))

# %% [markdown]
# ## Mend it
#
# The pattern is a place to begin: the method completes it where it does not protect.

# %%
mended = tc.Suppression().protect(problem, start=by_hand)
audit = tc.audit(problem, mended)
print(audit.verdict)
mended.write("mended.csv", audit=audit)
Path("audit_of_others_mended.svg").write_text(draw_audit(audit), encoding="utf-8")

# %% [markdown]
# ![The sensitive cell is uncertain by more than is required](audit_of_others_mended.svg)
