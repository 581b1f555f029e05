"""The options behind an error, as the command line types them.

Errors are read in Python, on the page and here, so they name options as data (``TacitaError.options``). The
command line adds how those that the verb has are typed.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator

PLACEHOLDERS = {"hierarchy": "NAME=FILE", "total": "NAME=CODE", "lower": "NUMBER", "published": "OLD"}
"""What stands for a setting that only the user knows, where the flag alone would not say its form."""


def add_flags(message: str, options: Iterable[str], parameters: Collection[str]) -> str:
    """Return an error message with a line of the command-line flags of its options that the verb has.

    >>> add_flags("cells.csv: name the column of values", ["value", "sheet"], ["value", "by"])
    'cells.csv: name the column of values\\nOptions: --value'
    """
    flags = list(dict.fromkeys(_list_flags(options, parameters)))
    return f"{message}\nOptions: {', '.join(flags)}" if flags else message


def _list_flags(options: Iterable[str], parameters: Collection[str]) -> Iterator[str]:
    for option in options:
        name, _, setting = option.partition("=")
        setting = setting or PLACEHOLDERS.get(name, "")
        flag = f"--{name.replace('_', '-')}"
        if name in parameters:
            # A setting with a minus sign would be taken for a flag of its own.
            yield flag + (f"={setting}" if setting.startswith("-") else f" {setting}" if setting else "")
        elif "option" in parameters and name in _list_method_options():
            yield f"--option {option}"


def _list_method_options() -> set[str]:
    from tacita.methods.method import method_names, options_of

    return {option.name for name in method_names() for option in options_of(name)}
