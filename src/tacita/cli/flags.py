"""The options behind the words of a message.

Messages are read in Python, on the page and here, so they name things by what they are. The command line adds
which of its options say them.
"""

from __future__ import annotations

import re
from collections.abc import Collection

WORDS = (
    (r"columns? of values", "value", "--value"),
    (r"columns? of codes", "by", "--by"),
    (r"respondents per cell", "count", "--count"),
    (r"classification of the dimension", "hierarchy", "--hierarchy NAME=FILE"),
    (
        r"codes of '([^']+)' .*the sums .* use the classification that was found",
        "hierarchy",
        r"--hierarchy \1=found",
    ),
    (r"undeclared sums are to be ignored", "undeclared_sums", "--undeclared-sums ignore"),
    (r"code of the total", "total", "--total NAME=CODE"),
    (r"wrong totals computed anew", "repair", "--repair"),
    (r"the decimal sign", "decimal", "--decimal"),
    (r"the sheet(?: out$|:)", "sheet", "--sheet"),
    (r"the sheet of the release", "release_sheet", "--release-sheet"),
    (r"decimals count\b", "decimals", "--decimals"),
    (r"\bcondition\b", "where", "--where"),
    (r"\blower bound that everyone knows", "lower", "--lower NUMBER"),
    (r"\bor say that there is none", "lower", "--lower=-inf"),
    (r"for the outsider only", "outsider_only", "--outsider-only"),
    (r"the base of the release", "base", "--base"),
    (r"its radius", "radius", "--radius"),
    (r"absent cells are suppressed", "absent", "--absent suppressed"),
    (r"is already published|the earlier release\b", "published", "--published OLD"),
    (r"another port", "port", "--port"),
    (r"[Ss]witch (\w+) on\b", "option", r"--option \1=yes"),
    (r"[Ss]witch (\w+) off\b", "option", r"--option \1=no"),
)
"""What a message says, the parameter of a verb that it speaks of, and how that is typed."""


def with_flags(message: str, parameters: Collection[str]) -> str:
    """A message, and in a line of its own the options it speaks of, of those that the verb has.

    >>> with_flags("cells.csv: name the column of values", ["value", "by"])
    'cells.csv: name the column of values\\nOptions: --value'
    """
    spoken = [(re.search(words, message), name, flag) for words, name, flag in WORDS]
    flags = [found.expand(flag) for found, name, flag in spoken if found and name in parameters]
    return f"{message}\nOptions: {', '.join(flags)}" if flags else message
