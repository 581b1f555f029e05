# %% [markdown]
# # A night's production
#
# Twelve monthly tables, a project file each. One run protects them all, keeps a log, and goes on
# where one fails. The same command in the morning does only what is missing.

# %%
import json
from pathlib import Path

import tacita as tc
from tacita.cli import main

for month in range(1, 13):
    table = tc.generate.table((6, 5), "uniform", kind="counts", between=(1, 60), seed=month)
    tc.write_table(table, Path(f"month-{month:02}.csv"))
    Path(f"month-{month:02}.toml").write_text(
        f'[table]\nfile = "month-{month:02}.csv"\n\n[rules]\nrule = "threshold(4)"\n\n'
        f'[output]\nfolder = "out-{month:02}"\n',
        encoding="utf-8",
    )
Path("month-13.toml").write_text('[table]\nfile = "not-delivered.csv"\n', encoding="utf-8")
projects = [path.name for path in sorted(Path().glob("month-*.toml"))]
print("exit code", main(["run", *projects, "--log", "night.jsonl"]))

# %% [markdown]
# Exit code 1: a table failed, and the others are done. The log has a record of each, for people who
# check outputs:

# %%
for line in Path("night.jsonl").read_text(encoding="utf-8").splitlines():
    record = json.loads(line)
    print(record["file"], record["verdict"], record.get("sensitive"), record.get("changed"))

# %% [markdown]
# Each `out-NN/publication` holds what may be published, and nothing else:

# %%
print(*sorted(path.name for path in Path("out-01/publication").iterdir()))
