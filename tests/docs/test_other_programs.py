"""The pages for users of other programs stay complete: each of their functions is named, each of our names is
there, and the page on methods has them all.
"""

from __future__ import annotations

import functools
import re
from pathlib import Path
from typing import Any

import pytest
import typer

import tacita as tc
from tacita.cli import app
from tacita.formats.argus import batch, batch_file, metadata_file
from tacita.methods import method_names
from tacita.methods.method import METHODS, method_class
from tacita.rules import RULES

DOCS = Path(__file__).parents[2] / "docs"
PAGES = sorted((DOCS / "from").glob("*.md"))
WITH_NAMES = [*PAGES, DOCS / "glossary.md", DOCS / "which-method.md"]

SDCTABLE = """
argusVersion attack calc.sdcProblem cellInfo changeCellStatus contributing_indices createArgusInput
createJJFormat createRegSDCInput get.dimInfo get.problemInstance get.safeObj get.sdcProblem getInfo
makeProblem primarySuppression protectLinkedTables protectTable runArgusBatchFile sdcProb2df
set.dimInfo set.problemInstance set.sdcProblem setInfo writeJJFormat cutList dataObj dimInfo dimVar
linProb problemInstance safeObj sdcProblem simpleTriplet print show summary cell_info
change_cellstatus protect_linked_tables sdc_testproblem freq nk p pq OPT HITAS HYPERCUBE
SIMPLEHEURISTIC SIMPLEHEURISTIC_OLD GAUSS hier_add hier_app hier_codes hier_compute hier_convert
hier_create hier_delete hier_display hier_export hier_grid hier_import hier_info hier_match
hier_nodenames hier_rename hier_to_tree hier_vignette
"""
GAUSSSUPPRESSION = """
AdditionalSuppression CandidatesDefault CandidatesNum ChainedSuppression ChainedSuppressionHi
ChainedSuppressionHi1 ComputeIntervals FindDominantCells FixRiskyIntervals GaussSuppressDec
GaussSuppressionFromData GaussSuppressionTwoWay IntervalLimits KDisclosurePrimary LazyLinkedTables
MagnitudeRule DominanceRule PPercentRule MaxContribution NContributorsRule Ncontributors
NcontributorsHolding PackageSpecs PrimaryDefault PrimaryFromSuppressedData ForcedFromSuppressedData
NotPrimaryFromSuppressedData PrimaryRemoveWg CandidatesNumWg ForcedWg SingletonDefault
SingletonUniqueContributor SingletonUniqueContributor0 SuppressDirectDisclosure
SuppressDominantCells SuppressFewContributors SuppressKDisclosure SuppressLinkedTables
SuppressSmallCounts SuppressionFromDecimals formula_selection FormulaSelection GaussSuppression
SSBtoolsData tables_by_formulas singletonMethod specLock IncrementalTimeSuppression FindMaxDiff HD
HDutility Lists2formula MakeControl PLS2way PLSrounding PLSroundingFits PLSroundingInner
PLSroundingLoop PLSroundingPublish Round2 RoundViaDummy RoundViaDummy2 SmallCountData makeroundtabs
"""
ACRO = """
acro.crosstab acro.pivot_table acro.surv_func acro.hist acro.pie acro.ols acro.olsr acro.logit
acro.logitr acro.probit acro.probitr acro.finalise acro.remove_output acro.print_outputs
acro.custom_output acro.rename_output acro.add_comments acro.add_exception add_to_acro
acro.enable_suppression acro.disable_suppression acro.enable_rounding(base) acro.disable_rounding()
all-values-are-same safe_threshold safe_dof_threshold safe_nk_n
safe_nk_k safe_pratio_p check_missing_values survival_safe_threshold zeros_are_disclosive
"""
TAU_ARGUS = """
<OPENMICRODATA> <OPENTABLEDATA> <OPENMETADATA> <SPECIFYTABLE> <SAFETYRULE> <READMICRODATA> <READTABLE>
<RECODE> <APRIORI> <APRIORY> <SUPPRESS> <WRITETABLE> <SOLVER> <LOGBOOK> <VERSIONINFO> <CLEAR> <SILENT>
<GOINTERACTIVE> <ANCO> <COVER> <JJ>
P NK FREQ REQ ZERO WGT MIS MAN GH MOD OPT NET CTA RND CKM AR AS FL HI HL QU SE SO TR AO AD AC
<SEPARATOR> <SPSS> <RECODEABLE> <RECODABLE> <NUMERIC> <DECIMALS> <WEIGHT> <HOLDING> <TRUNCABLE> <REQUEST>
<TOTCODE> <CODELIST> <DISTANCE> <HIERARCHICAL> <HIERLEVELS> <HIERCODELIST> <HIERLEADSTRING> <RECORDKEY>
<PFILE> <PFILE_FREQ> <PFILE_CONT> <PFILE_SEP> <CKM> <INCLUDEZEROS> <PARITY> <SEPARATION> <SCALING>
<SAFE> <UNSAFE> <PROTECT> <SHADOW> <COST> <COSTVAR> <LOWERPL> <UPPERPL> <FREQUENCY> <MAXSCORE> <STATUS>
<MISSING> <TREERECODE> S U M ML C W PL AB
"""
TAU_ARGUS_TYPES = {1, 2, 3, 4, 5, 6, 7}
"""What the manuals, grammars and lists of exports of these programs name; types are those of <WRITETABLE>."""


def code_of(page: Path) -> str:
    """Return everything on a page that is set as code within its text, one piece per line."""
    text = re.sub(r"^```.*?^```$", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    return "\n".join(re.findall(r"`([^`\n]+)`", text))


def missing_on(page: Path, names: list[str]) -> list[str]:
    code = code_of(page)
    return [name for name in names if not re.search(rf"(?<![\w<]){re.escape(name)}(?![\w>])", code)]


@pytest.mark.parametrize(
    ("page", "names"),
    [
        pytest.param("sdctable", SDCTABLE, id="sdctable"),
        pytest.param("gausssuppression", GAUSSSUPPRESSION, id="gausssuppression"),
        pytest.param("acro", ACRO, id="acro"),
        pytest.param("tau-argus", TAU_ARGUS, id="tau-argus"),
    ],
)
def test_every_name_of_another_program_is_named(page: str, names: str) -> None:
    assert not missing_on(DOCS / "from" / f"{page}.md", names.split())


def test_every_type_of_table_that_tau_argus_writes_is_named() -> None:
    page = (DOCS / "from" / "tau-argus.md").read_text(encoding="utf-8")
    kinds = re.findall(r"`<WRITETABLE>` ([^|`]+) \|", page)
    assert {int(number) for kind in kinds for number in re.findall(r"\d", kind)} == TAU_ARGUS_TYPES


def test_what_is_read_of_tau_argus_is_on_the_list() -> None:
    listed = set(TAU_ARGUS.split())
    words = {kind.word for kind in _below(batch.Term) if hasattr(kind, "word")}
    source = Path(metadata_file.__file__).read_text(encoding="utf-8")
    keywords = set(re.findall(r'"(<(?!KEYWORD)[A-Z_]+>)"', source))
    assert {"MOD", "FREQ"} <= words, "the words of batches are found"
    assert {"<HOLDING>", "<CKM>", "<SEPARATOR>"} <= keywords, "the keywords of metadata are found"
    assert {*batch.COMMANDS, *batch_file.ALIASES, *words, *batch.OPTIONS, *keywords} <= listed
    assert set(batch.KINDS) == TAU_ARGUS_TYPES


def _below(kind: type[Any]) -> list[type[Any]]:
    return [found for sub in kind.__subclasses__() for found in (sub, *_below(sub))]


@pytest.mark.parametrize("page", WITH_NAMES, ids=lambda page: page.stem)
def test_names_of_ours_are_there(page: Path) -> None:
    code = code_of(page)
    for name in set(re.findall(r"\btc\.([A-Za-z_]\w*(?:\.[a-z_]\w*)*)", code)):
        assert functools.reduce(getattr, name.split("."), tc) is not None
    command: Any = typer.main.get_command(app)
    verbs = set(re.findall(r"^tacita ([a-z]+)", code, re.MULTILINE))
    assert verbs <= set(command.commands)
    options = [option for verb in _verbs(command) for option in verb.params]
    known = {flag for option in options for flag in (*option.opts, *option.secondary_opts)}
    flags = set(re.findall(r"(?<![\w-])--[a-z][a-z-]+", code))
    assert flags <= known | {"--help"}


def test_rules_on_these_pages_are_read() -> None:
    pieces = "\n".join(map(code_of, WITH_NAMES)).replace("\\|", "|").splitlines()
    begins = re.compile(rf"(?:{'|'.join(RULES)})\(\D*\d")
    written = [piece for piece in pieces if begins.match(piece) and not re.search(r"\.\.|maxN|pct", piece)]
    assert len(written) >= 8
    for rule in written:
        assert tc.parse_rule(rule)


def _verbs(command: Any) -> list[Any]:
    """Return all commands below one, those of groups included."""
    below = getattr(command, "commands", {}).values()
    return [command, *(found for verb in below for found in _verbs(verb))]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_pages_are_tables_of_three_columns(page: Path) -> None:
    rows = re.findall(r"^\|.*\|$", page.read_text(encoding="utf-8"), re.MULTILINE)
    assert sum(row.endswith("| ours | remarks |") for row in rows) >= 2
    assert [row for row in rows if len(re.findall(r"(?<!\\)\|", row)) != 4] == []


def test_which_method_has_every_method() -> None:
    page = (DOCS / "which-method.md").read_text(encoding="utf-8")
    picture = (DOCS / "images" / "which-method.svg").read_text(encoding="utf-8")
    for name in METHODS:
        assert f"\n| `{name}` |" in page, f"no row for {name}"
        assert f"](methods/{name}.md)" in page, f"no link to {name}"
        assert f"tc.{method_class(name).__name__}(" in page, f"{name} is not measured"
        assert f">{name}<" in picture, f"{name} is not in the picture"
    assert set(METHODS) <= set(method_names())


def test_the_glossary_explains_every_term_and_leads_to_every_method() -> None:
    page = (DOCS / "glossary.md").read_text(encoding="utf-8")
    entries = re.findall(r"^### (.+)\n((?:(?!#).+\n)*)", page, re.MULTILINE)
    terms = [term for term, _ in entries]
    assert len(terms) > 50
    assert len(set(terms)) == len(terms)
    assert not [term for term, text in entries if len(text.split()) < 4]
    assert not [term for term, text in entries if len(text.split()) > 80]
    assert not [name for name in METHODS if f"(methods/{name}.md)" not in page]
