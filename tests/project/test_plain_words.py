"""Messages are read in Python, on the command line and on the page: none speaks the language of one alone.

Outside of ``cli`` no message names an option of the command line (``--value``), an argument of a function
(``value=``) or a value of Python (``True``). The command line adds its options at its own edge.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import tacita
from tacita.core.errors import and_others
from tacita.core.words import pluralize

SOURCE = Path(tacita.__file__).parent
FOREIGN = re.compile(r"(?<![\w-])--[a-z]|(?<![\w{.])[a-z_]+=(?![=A-Z{])|\b(True|False|None)\b|in Python")
WRITTEN = re.compile(r"'[a-z]+=[^']*'|\([a-z]+=[^)]*\)|option=value|argument=value")
"""Languages of our own: rules, subtotals, mixtures and cells are written so everywhere."""
PLURAL = re.compile(
    r" (?:(?:sensitive|more|linked|listed|possible|other|connected) )?"
    r"(?:attackers|axes|bases|bytes|cells|codes|columns|decimals|dimensions|entries|"
    r"equations|fields|files|insiders|intervals|levels|lines|numbers|pairs|records|respondents|rows|runs|"
    r"tables|totals|values)\b"
)
NEVER_ONE = {
    "app/screens/result/certificate_panel.py: count sensitive cells",
    "app/screens/result/sensitive_panel.py: wanted[0].size cells",
    "app/screens/table/table_tools.py: axis[:-1].capitalize() levels",
    "cli/demo.py: made.records.num_rows records",
    "core/exact.py: most decimals",
    "examples/catalogue.py: sensitive sensitive cells",
    "generate/tables.py: _join_numbers(shape) codes",
    "generate/tables.py: len(NAMES) dimensions",
    "generate/tables.py: _join_numbers(depths) levels",
    "formats/columns.py: Path(path).suffix files",
    "formats/pasted.py: ', '.join(names[:5]) numbers",
    "formats/table_write.py: linked linked tables",
    "methods/random_rounding/random_rounding.py: len(errors) bases",
    "methods/rounding/rounding_task.py: self.beyond bases",
    "methods/unbiased_rounding/unbiased_rounding.py: int(farther.max()) bases",
    "rules/concentration.py: self.n attackers",
    "core/tables/structure.py: len(dimensions) dimensions",
    "core/tables/structure.py: size possible cells",
    "tabulation/records.py: kind records",
    "verify.py: len(cells) sensitive cells",
}
"""What is no number, or several wherever it is said."""


def messages() -> Iterator[tuple[str, str]]:
    """The place and the text of what is raised, with a blank brace for each inserted value."""
    for path in sorted(SOURCE.rglob("*.py")):
        if "cli" in path.relative_to(SOURCE).parts:
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call):
                if not ast.unparse(node.exc.func).endswith("Error"):
                    continue
                remedies = [given.value for given in node.exc.keywords if given.arg == "remedy"]
                for argument in [*node.exc.args, *remedies]:
                    yield f"{path.relative_to(SOURCE)}:{node.lineno}", _text(argument)


def _text(node: ast.expr) -> str:
    if isinstance(node, ast.JoinedStr):
        return "".join(
            part.value if isinstance(part, ast.Constant) else "{}"
            for part in node.values
            if not isinstance(part, ast.Constant) or isinstance(part.value, str)
        )
    if isinstance(node, ast.Constant):
        return str(node.value)
    return " ".join(_text(part) for part in ast.iter_child_nodes(node) if isinstance(part, ast.expr))


def counts_with_a_plural() -> Iterator[str]:
    """What is inserted right before a plural, so that one would be called by it: ``{n:,} cells``."""
    for path in sorted(SOURCE.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.JoinedStr):
                for value, after in pairwise(node.values):
                    if isinstance(value, ast.FormattedValue) and isinstance(after, ast.Constant):
                        what = ast.unparse(value.value)
                        # A constant is known not to be one.
                        if not what.isupper() and (found := PLURAL.match(str(after.value))):
                            yield f"{path.relative_to(SOURCE).as_posix()}: {what}{found[0]}"


def test_one_thing_is_not_called_by_its_plural() -> None:
    assert [said for said in counts_with_a_plural() if said not in NEVER_ONE] == []
    assert (pluralize(1, "cell"), pluralize(0, "cell"), pluralize(2, "cell")) == (
        "1 cell",
        "0 cells",
        "2 cells",
    )
    assert (pluralize(1, "axis", "axes"), pluralize(1234, "axis", "axes")) == ("1 axis", "1,234 axes")
    assert (and_others(1, "row"), and_others(2, "row")) == ("", " (1 more row likewise)")
    assert and_others(6, "row") == " (5 more rows likewise)"


def test_no_message_speaks_python_or_the_command_line() -> None:
    found = list(messages())
    assert len(found) > 300
    assert [both for both in found if FOREIGN.search(WRITTEN.sub("", both[1]))] == []
