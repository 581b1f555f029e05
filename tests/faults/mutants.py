"""Mutate files of every format and read them: each must give a result or an error in words, and soon.

    python tests/faults/mutants.py --count 10000 --seed 1
    python tests/faults/mutants.py --count 6000 --seed 1 --formats argus batch hierarchy:hrc
    python tests/faults/mutants.py --seed 1 --only 1234 --keep FOLDER

A worker reads one mutant after the other, by the command line and by the readers of Python and of the app. It
may spend 30 s of processor time on each, and must leave the folder as it was. Whatever is no error in words,
takes longer, ends the worker or leaves a file behind is printed with the number of the mutant, which gives it
again with the same seed and formats. Prints counts by format as JSON; the exit code is 1 if anything was
found.
"""

from __future__ import annotations

import argparse
import io
import json
import os
import random
import resource
import shutil
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

from argus_files import EVERY_COMMAND
from argus_files import write_files as write_argus_files
from changes import Change, change_archive, change_parquet, change_text

import tacita as tc
from tacita.app.work.opening import open_case_of_files, open_case_of_text
from tacita.app.work.records import find_records_among
from tacita.auditing.certificate import certify, dump
from tacita.batch.files import find_output
from tacita.batch.run_batch import run_batch
from tacita.cli import main as tacita_command
from tacita.core.errors import TacitaError
from tacita.examples import example
from tacita.formats.argus.batch import Logbook, VersionInfo, WriteTable
from tacita.formats.argus.batch_file import read_batch
from tacita.formats.hierarchy import read_hierarchy, write_hierarchy
from tacita.formats.jj import write_jj
from tacita.formats.nchs import write_nchs
from tacita.formats.petrenko import write_thesis
from tacita.formats.recodings import read_recoding
from tacita.formats.table_write import write_table
from tacita.generate import microdata
from tacita.publication.release_read import read_release
from tacita.specification.project import load_project
from tacita.specification.project_write import write_project
from tacita.specification.read_case import read_case

SECONDS = 30
MEMORY = 8 * 2**30

Reader = Callable[[Path], object]


@dataclass(frozen=True)
class Format:
    """A seed: a folder, the file in it that is changed, how, who reads it, and what else it may be called."""

    name: str
    file: str
    change: Change
    readers: tuple[Reader, ...]
    endings: tuple[str, ...] = ()

    @property
    def home(self) -> str:
        return self.name.split(":")[0]


class FaultError(Exception):
    """The command line has told a fault of the program, or has written something and failed."""


def command(*words: str) -> Reader:
    """Run a command; in its words {file}, {folder} and {out} stand for paths."""

    def run(path: Path) -> int:
        out = path.parent / "out"
        given = [word.format(file=path, folder=path.parent, out=out) for word in words]
        told = io.StringIO()
        with redirect_stdout(io.StringIO()), redirect_stderr(told):
            code = tacita_command(given)
        if "A fault of the program" in told.getvalue() or "Traceback" in told.getvalue():
            raise FaultError(" ".join(told.getvalue().split())[:300])
        if code == 0 and out.is_dir():
            shutil.rmtree(out)
        elif code == 0:
            for file in path.parent.glob("out*"):
                file.unlink()
        return code

    return run


PUBLIC = "every value may be seen by all"
"""Why a release that hides nothing is written unaudited."""


def seeds(folder: Path) -> list[Format]:
    """Write a small file of every format, each in a folder of its own."""

    def home(name: str) -> Path:
        (folder / name).mkdir()
        return folder / name

    problem = example("salazar")
    table = problem.table
    release = tc.Suppression().protect(problem)
    audit = tc.audit(problem, release)
    write_table(table, home("csv") / "table.csv", problem)
    text = (folder / "csv" / "table.csv").read_bytes()
    (home("tab") / "table.tab").write_bytes(text.replace(b",", b"\t"))
    write_table(table, home("parquet") / "table.parquet", problem)
    write_table(table, home("workbook") / "table.xlsx", problem)
    titled = "A title\n,a,b,Total\nx,1,2,3\ny,4,5,9\nTotal,5,7,12\n\nA footnote\n"
    (home("crosstab") / "cross.csv").write_text(titled)
    write_jj(problem, home("jj") / "table.jj")
    counts = "".join(f"{3 + k} {2 + k}\n" for k in range(len(table)))
    (folder / "jj" / "table.frq").write_text(counts)
    write_nchs(table, home("nchs") / "table.txt")
    write_thesis(problem, home("thesis"))
    write_project(problem, home("project"), method="suppression", time_limit=5.0)
    insider = tc.Insider.knowing("firm", table, {0: (0, 1e6)})
    with_insider = tc.Problem(table, problem.levels, attackers=[problem.outsider, insider])
    write_project(with_insider, home("insiders"), method="suppression")
    made = microdata(60, {"industry": (3, 2), "region": (3, 1)}, respondents=40, decimals=1, seed=1)
    records = home("records")
    pa_csv(made.records, records / "records.csv")
    import pyarrow.parquet as pq

    pq.write_table(made.records, records / "records.parquet")
    write_hierarchy(made.hierarchies["industry"], home("hierarchy") / "tree.csv")
    write_hierarchy(made.hierarchies["industry"], folder / "hierarchy" / "tree.hrc")
    for ending in ("csv", "xlsx", "parquet", "txt"):
        case = home(f"release-{ending}")
        write_table(table, case / "case.csv", problem)
        tc.write_release(release, case / f"release.{ending}", audit=audit)
    exchanged = home("sdmx")
    tc.write_release(tc.Release.suppress(table, []), exchanged / "table.csv", unaudited=PUBLIC, format="sdmx")
    (exchanged / "structure.xml").write_text(
        "<Structure><Codelist id='CL_row'><Code id='1'><Name>one</Name><Parent><Ref id='Total'/></Parent>"
        "</Code><Code id='Total'/></Codelist></Structure>"
    )
    case = home("release-sdmx")
    write_table(table, case / "case.csv", problem)
    tc.write_release(release, case / "release.csv", audit=audit, format="sdmx")
    records, described = write_described_records(home("argus-records")), home("argus-table")
    shutil.copytree(records, folder / "argus-free")
    write_free_format(folder / "argus-free")
    write_table(table, described / "table.tab", problem)
    first = ";".join(table.structure.key(int(problem.sensitive[0])))
    (described / "hand.hst").write_text(f"{first};PL;1;2\n{first};C;0\n{first};S\n")
    batch = write_argus_files(home("batch"))
    (batch / "batch.arb").write_text(EVERY_COMMAND)
    proof = home("certificate")
    write_table(table, proof / "case.csv", problem)
    tc.write_release(release, proof / "release.csv", audit=audit)
    (proof / "certificate.json").write_text(dump(certify(audit)))

    assess, tabulate = command("assess", "{file}"), ("--by", "industry", "--by", "region", "--value", "value")
    trees = ("{file}", *tabulate, "--respondent", "respondent", "--out", "{out}.csv")
    audited = command("audit", "{folder}/case.csv", "{file}")

    def read_own_release(path: Path) -> None:
        read_release(path, table)

    def by_app(path: Path) -> None:
        open_case_of_files([path])

    def pasted(path: Path) -> None:
        open_case_of_text(path.read_bytes().decode("utf-8", errors="replace"))

    def records_by_app(path: Path) -> None:
        find_records_among([path])

    def tabulated(path: Path) -> None:
        data = next(path.parent.glob("data.[act]*"))
        tc.tabulate(data, ["Size", "Region"], "Turnover", metadata=path.parent / "data.rda")

    def recoded(path: Path) -> None:
        data, metadata = path.parent / "data.asc", path.parent / "data.rda"
        tc.tabulate(
            data, ["Size"], recode={"Size": read_recoding(path.parent / "size.grc")}, metadata=metadata
        )

    def described_cells(path: Path) -> None:
        read_case(path.parent / "table.tab")

    def decided(path: Path) -> None:
        read_case(path.parent / "table.tab", apriori=str(path))

    def structured(path: Path) -> None:
        read_case(path.with_name("table.csv"), structure=path)

    def of_project(path: Path) -> None:
        load_project(path.parent / "project.toml").problem()

    def of_folder(path: Path) -> None:
        read_case(path.parent)

    released = (read_own_release, audited)
    return [
        *(
            Format(f"argus-records:{name}", name, change_text, (tabulated,))
            for name in ("data.rda", "data.asc", "region.hrc", "region.cdl")
        ),
        Format("argus-records:size.grc", "size.grc", change_text, (recoded,)),
        Format("argus-free:data.rda", "data.rda", change_text, (tabulated,)),
        Format("argus-free:data.csv", "data.csv", change_text, (tabulated,)),
        *(
            Format(f"argus-table:{name}", name, change_text, (described_cells,))
            for name in ("table.rda", "table.tab")
        ),
        Format("argus-table:hand.hst", "hand.hst", change_text, (decided,)),
        Format("batch", "batch.arb", change_text, (read_batch, carry_out_batch)),
        Format("csv", "table.csv", change_text, (read_case, assess, by_app, pasted)),
        Format(
            "crosstab",
            "cross.csv",
            change_text,
            (read_case, pasted, command("convert", "{file}", "{out}.jj")),
        ),
        Format("tab", "table.tab", change_text, (read_case, assess)),
        Format("parquet", "table.parquet", change_parquet, (read_case, assess, by_app)),
        Format(
            *("workbook", "table.xlsx", change_archive, (read_case, assess, by_app, records_by_app)),
            endings=(".xlsx", ".xlsx", ".xlsm", ".ods", ".xls"),
        ),
        Format("jj", "table.jj", change_text, (read_case, assess, command("convert", "{file}", "{out}.csv"))),
        Format("jj:frq", "table.frq", change_text, (lambda path: read_case(path.with_suffix(".jj")),)),
        Format(
            "nchs",
            "table.txt",
            change_text,
            (read_case, by_app, command("assess", "{file}", "--rules", "threshold(3)")),
        ),
        *(
            Format(f"thesis:{name}", name, change_text, (of_folder, command("assess", "{folder}")))
            for name in ("A.txt", "PSC.txt", "VSC.txt")
        ),
        Format("project", "project.toml", change_text, (of_project, assess, by_app)),
        Format("insiders", "attackers.parquet", change_parquet, (of_project,)),
        Format("records:csv", "records.csv", change_text, (command("tabulate", *trees), records_by_app)),
        Format(
            "records:parquet",
            "records.parquet",
            change_parquet,
            (command("tabulate", *trees), records_by_app),
        ),
        Format("hierarchy:csv", "tree.csv", change_text, (read_hierarchy,)),
        Format("hierarchy:hrc", "tree.hrc", change_text, (read_hierarchy,)),
        Format("release-csv", "release.csv", change_text, released),
        Format("sdmx", "table.csv", change_text, (read_case, assess, by_app)),
        Format("sdmx:structure", "structure.xml", change_text, (structured,)),
        Format("release-sdmx", "release.csv", change_text, released),
        Format("release-txt", "release.txt", change_text, released),
        Format("release-xlsx", "release.xlsx", change_archive, released),
        Format("release-parquet", "release.parquet", change_parquet, released),
        Format(
            "certificate",
            "certificate.json",
            change_text,
            (command("verify", "{folder}/case.csv", "{folder}/release.csv", "{file}"),),
        ),
    ]


def write_described_records(folder: Path) -> Path:
    """Write records of fixed format with metadata, a hierarchy, labels and a recoding of τ-ARGUS."""
    attributes = "<RECODEABLE>\n<TOTCODE> All\n<CODELIST> region.cdl\n<HIERCODELIST> region.hrc\n"
    (folder / "data.rda").write_text(
        f"Size 1 2 99\n<RECODEABLE>\nRegion 3 2 x\n{attributes}Weight 5 3\n<NUMERIC> <WEIGHT>\nTurnover 8 6\n"
        "<NUMERIC>\n<DECIMALS> 1\nAsk 14 1\n<REQUEST> 1 2\nGroup 15 2\n<HOLDING>\n"
    )
    (folder / "region.hrc").write_text("N\n@ 1\n@ 2\nS\n@ 3\n")
    (folder / "region.cdl").write_text(" 1,one\nN,North\n")
    (folder / "size.grc").write_text('<CODELIST> "region.cdl"\nsmall:-9\nlarge: 10-12, 13\n')
    rows = [(size, region, group) for group in "ABC" for size in (5, 12, 99) for region in (1, 2, 3)]
    lines = [f"{s:2}{r:2}1.5{10.5 + 3 * r + s:6}0{g:>2}\n" for s, r, g in rows]
    (folder / "data.asc").write_text("".join(lines))
    return folder


def write_free_format(folder: Path) -> None:
    """Write the same records with a separator, in place of fixed places."""
    rows = (folder / "data.asc").read_text().splitlines()
    cuts = [(0, 2), (2, 4), (4, 7), (7, 13), (13, 14), (14, 16)]
    (folder / "data.asc").unlink()
    (folder / "data.csv").write_text("".join(";".join(row[a:b] for a, b in cuts) + "\n" for row in rows))
    metadata = (folder / "data.rda").read_text()
    for (start, _), name in zip(cuts, ("Size", "Region", "Weight", "Turnover", "Ask", "Group"), strict=True):
        metadata = metadata.replace(f"{name} {start + 1} ", f"{name} ")
    (folder / "data.rda").write_text(f"<SEPARATOR> ;\n{metadata}")


def carry_out_batch(path: Path) -> None:
    """Carry out a batch in a copy of its folder, unless it would write elsewhere."""
    with tempfile.TemporaryDirectory() as name:
        away = Path(name, "batch")
        shutil.copytree(path.parent, away)
        batch = read_batch(away / path.name)
        files = [c.file for c in batch.commands if isinstance(c, WriteTable | Logbook | VersionInfo)]
        if all(find_output(batch, file).resolve().is_relative_to(away.resolve()) for file in files):
            run_batch(away / path.name, time_limit=5.0)


def pa_csv(records: Any, path: Path) -> None:
    import pyarrow.csv

    pyarrow.csv.write_csv(records, path)


def mutant(
    formats: list[Format], templates: Path, work: Path, seed: int, number: int
) -> tuple[Format, Path, Reader]:
    """Make a mutant in a new folder; the same number gives the same one."""
    rng = random.Random(f"{seed}/{number}")
    chosen = formats[number % len(formats)]
    folder = work / str(number)
    shutil.copytree(templates / chosen.home, folder)
    file = folder / chosen.file
    data = chosen.change(file.read_bytes(), rng)
    if chosen.endings:
        file.unlink()
        file = file.with_suffix(rng.choice(chosen.endings))
    file.write_bytes(data)
    return chosen, file, rng.choice(chosen.readers)


def read(file: Path, reader: Reader) -> str:
    """Read a mutant: ``read`` or ``refused``; anything else is told."""
    before = listing(file.parent)
    try:
        answer = "refused" if reader(file) == 1 else "read"
    except TacitaError as error:
        answer = "refused" if str(error) else "an error without words"
    except BaseException as error:
        last = traceback.extract_tb(error.__traceback__)[-1]
        answer = f"{type(error).__name__}: {str(error)[:300]} ({Path(last.filename).name}:{last.lineno})"
    if listing(file.parent) != before:
        answer = f"left files behind: {sorted(listing(file.parent) - before)[:3]}"
    return answer


def listing(folder: Path) -> set[tuple[str, int]]:
    return {(str(path), path.stat().st_size if path.is_file() else 0) for path in folder.rglob("*")}


def worker(numbers: list[int], seed: int, templates: Path, work: Path, out: int) -> None:
    """Read mutants one after the other, and write a line on each before and after."""
    formats = FORMATS
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    for number in numbers:
        used = sum(resource.getrusage(resource.RUSAGE_SELF)[:2])
        resource.setrlimit(resource.RLIMIT_CPU, (int(used) + SECONDS + 1, resource.RLIM_INFINITY))
        os.write(out, f"{number}\t\n".encode())
        chosen, file, reader = mutant(formats, templates, work, seed, number)
        started = time.process_time()
        answer = read(file, reader)
        shutil.rmtree(file.parent)
        os.write(
            out, f"{number}\t{json.dumps([chosen.name, answer, time.process_time() - started])}\n".encode()
        )


FORMATS: list[Format] = []


def choose(formats: list[Format], prefixes: tuple[str, ...]) -> list[Format]:
    """Return the formats whose names begin with one of these; refuse prefixes that none has."""
    if unknown := [each for each in prefixes if not any(format.name.startswith(each) for format in formats)]:
        names = ", ".join(format.name for format in formats)
        raise SystemExit(f"no format begins with '{unknown[0]}'; there are {names}")
    return [format for format in formats if format.name.startswith(prefixes)]


def run(
    numbers: list[int], seed: int, prefixes: tuple[str, ...] = ("",)
) -> tuple[dict[str, Counter[str]], list[str], float]:
    """Read mutants in workers, a new one where one ends; return counts by format, faults and the longest time
    of one. Only formats whose names begin with one of the ``prefixes`` are mutated.
    """
    counts: dict[str, Counter[str]] = {}
    faults: list[str] = []
    longest = 0.0
    with tempfile.TemporaryDirectory() as name:
        templates, work = Path(name, "templates"), Path(name, "work")
        templates.mkdir()
        work.mkdir()
        FORMATS[:] = choose(seeds(templates), prefixes)
        left = list(numbers)
        while left:
            reading, writing = os.pipe()
            child = os.fork()
            if not child:
                code = 1
                try:
                    worker(left, seed, templates, work, writing)
                    code = 0
                finally:
                    os._exit(code)
            os.close(writing)
            begun = None
            with os.fdopen(reading, encoding="utf-8") as lines:
                for line in lines:
                    at, answer = line.rstrip("\n").split("\t")
                    begun = int(at)
                    if answer:
                        kind, told, seconds = json.loads(answer)
                        longest = max(longest, seconds)
                        short = told if told in ("read", "refused") else "fault"
                        counts.setdefault(kind, Counter())[short] += 1
                        if short == "fault":
                            faults.append(f"{begun} {kind}: {told}")
                        begun = None
                        left.remove(int(at))
            status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
            if begun is not None:
                kind = FORMATS[begun % len(FORMATS)].name
                counts.setdefault(kind, Counter())["fault"] += 1
                faults.append(f"{begun} {kind}: the worker ended with {status}")
                left.remove(begun)
            elif left:
                raise RuntimeError(f"the worker ended with {status} between two mutants")
    return counts, faults, longest


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", type=int, nargs="+")
    parser.add_argument("--formats", nargs="+", default=[""], help="how the names of formats to mutate begin")
    parser.add_argument("--keep", type=Path, help="only make the mutants, in this folder")
    given = parser.parse_args()
    numbers, prefixes = given.only or list(range(given.count)), tuple(given.formats)
    if given.keep:
        templates = given.keep / "templates"
        templates.mkdir(parents=True)
        formats = choose(seeds(templates), prefixes)
        for number in numbers:
            print(mutant(formats, templates, given.keep, given.seed, number)[1:])
        return 0
    started = time.perf_counter()
    counts, faults, longest = run(numbers, given.seed, prefixes)
    for fault in faults:
        print(fault, file=sys.stderr)
    answer = {
        "mutants": sum(map(Counter.total, counts.values())),
        "faults": len(faults),
        "longest": round(longest, 1),
        "seconds": round(time.perf_counter() - started),
        "formats": {kind: dict(sorted(found.items())) for kind, found in sorted(counts.items())},
    }
    print(json.dumps(answer, indent=1))
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
