"""What a method is: an immutable set of options with ``protect(problem, run) -> Release``.

A method proposes; it never judges. It does not import the audit, and whatever it returns is audited before
it is written.
"""

from __future__ import annotations

import dataclasses
import functools
import importlib
import types
import typing
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, runtime_checkable

from tacita.core.errors import InputError, did_you_mean
from tacita.core.plugins import Plugin, find_plugins, list_usable_plugins

if TYPE_CHECKING:
    from tacita.core.release import Release
    from tacita.core.run import Run
    from tacita.problem.problem import Problem

T = typing.TypeVar("T")

METHODS: Mapping[str, str] = {
    "suppression": "tacita.methods.suppression.suppression:Suppression",
    "intervals": "tacita.methods.intervals.intervals:Intervals",
    "rounding": "tacita.methods.rounding.rounding:Rounding",
    "unbiased-rounding": "tacita.methods.unbiased_rounding.unbiased_rounding:UnbiasedRounding",
    "random-rounding": "tacita.methods.random_rounding.random_rounding:RandomRounding",
    "perturbation": "tacita.methods.perturbation:Perturbation",
    "adjustment": "tacita.methods.adjustment.adjustment:Adjustment",
    "mixture": "tacita.methods.mixture.mixture:Mixture",
}
"""Where each built-in method lives; it is imported on first use."""

IN_WORDS = {bool: "yes or no", int: "an integer", float: "a number", type(None): "empty"}


def option(default: T, text: str, *, main: bool = False) -> T:
    """Return a dataclass field that is an option of a method: its default, and its help as metadata.

    ``main`` marks the two or three options that matter; forms fold the others away.
    """
    return dataclasses.field(default=default, metadata={"help": text, "main": main})


@runtime_checkable
class Method(Protocol):
    """A method of protection. Its dataclass fields are its options, with a help in ``metadata['help']``.

    ``does`` describes in a sentence or two what it does to a table, ``choose`` when to choose it.
    """

    name: ClassVar[str]
    does: ClassVar[str]
    choose: ClassVar[str]

    def protect(self, problem: Problem, run: Run | None = None) -> Release:
        """Return a release that is protected as far as the method knows, with its outcome.

        Raises
        ------
        InfeasibleError
            No release of this kind protects the table.
        """

    def loss(self, problem: Problem, release: Release) -> float:
        """Return what a release of the problem's table loses in the method's own measure, whoever made it.

        Raises
        ------
        ReleaseError
            The measure needs a number that the release does not show.
        """


@dataclasses.dataclass(frozen=True)
class Option:
    """One option of a method or argument of a rule, as the command line, the web form and the docs show it.

    ``default`` is ``dataclasses.MISSING`` where a value must be given; ``main`` marks options that forms show
    at once, before all others.
    """

    name: str
    kind: Any
    default: Any
    help: str
    main: bool = False

    @property
    def required(self) -> bool:
        return self.default is dataclasses.MISSING

    @property
    def kinds(self) -> tuple[Any, ...]:
        """The types that a value of this option of a method may have."""
        return typing.get_args(self.kind) if isinstance(self.kind, types.UnionType) else (self.kind,)

    @property
    def words(self) -> tuple[str, ...]:
        """The words that this option of a method chooses from, where there are no other values."""
        return typing.get_args(self.kind) if typing.get_origin(self.kind) is typing.Literal else ()

    def read(self, value: Any) -> Any:
        """Return the value of a method's option as it is, and text converted to the option's type."""
        return _value(f"option '{self.name}'", self.kinds, value)


def method_names() -> tuple[str, ...]:
    """Return the names of all protection methods, the built-in ones first."""
    return (*METHODS, *list_usable_plugins(method_plugins()))


def method_plugins() -> tuple[Plugin, ...]:
    """Return the protection methods that other packages bring, with what is wrong with them."""
    return find_plugins("tacita.methods", frozenset(METHODS), _fault_of_method)


def _fault_of_method(name: str, cls: Any) -> str:
    if not (isinstance(cls, type) and dataclasses.is_dataclass(cls)):
        return "it is no dataclass"
    if missing := [part for part in ("name", "does", "choose", "protect", "loss") if not hasattr(cls, part)]:
        return f"its class has no '{missing[0]}'"
    method: Any = cls
    if method.name != name:
        return f"its class has another name, '{method.name}'"
    required = [option.name for option in options_from(cls) if option.required]
    return f"its option '{required[0]}' has no default" if required else ""


def method_class(name: str) -> type[Any]:
    """Return the class of a protection method by its name; raise an error for unknown names."""
    if name not in METHODS:
        foreign = list_usable_plugins(method_plugins())
        if name not in foreign:
            known = (*METHODS, *foreign)
            raise InputError(
                f"there is no method '{name}'{did_you_mean(name, known)}",
                remedy=f"choose one of {', '.join(known)}",
            )
        other: type[Any] = foreign[name]
        return other
    module, attribute = METHODS[name].split(":")
    found: type[Any] = getattr(importlib.import_module(module), attribute)
    return found


def options_of(name: str) -> tuple[Option, ...]:
    """Return the options of a protection method by its name."""
    return options_from(method_class(name))


_find_type_hints: Any = functools.cache(typing.get_type_hints)
"""The types of a class's fields, which take a millisecond to evaluate."""


def options_from(cls: type[Any]) -> tuple[Option, ...]:
    """Return the fields of a method's (or rule's) dataclass as options, those that must be named last."""
    kinds = _find_type_hints(cls)
    fields = sorted((f for f in dataclasses.fields(cls) if f.init), key=lambda f: f.kw_only is True)
    return tuple(
        Option(f.name, kinds[f.name], f.default, f.metadata.get("help", ""), f.metadata.get("main", False))
        for f in fields
    )


def check_words(method: object) -> None:
    """Raise an error where a method's option that takes one of several words has another value."""
    for option in options_from(type(method)):
        value = getattr(method, option.name)
        if option.words and value not in option.words:
            raise InputError(f"option '{option.name}' must be {_one_of(option.words)}, not '{value}'")


def _one_of(words: tuple[Any, ...]) -> str:
    return " or ".join(words) if len(words) == 2 else f"one of {', '.join(map(str, words))}"


def make_method(name: str, options: Mapping[str, Any] | None = None) -> Method:
    """Return a protection method with options as values or text (``{"base": "5", "protected": "no"}``)."""
    known = {option.name: option for option in options_of(name)}
    chosen = {}
    for key, value in (options or {}).items():
        if key not in known:
            raise InputError(
                f"method '{name}' has no option '{key}'{did_you_mean(key, known)}; "
                f"it has {', '.join(known) or 'none'}"
            )
        chosen[key] = known[key].read(value)
    method: Method = method_class(name)(**chosen)
    return method


def _value(what: str, kinds: tuple[Any, ...], value: Any) -> Any:
    if not isinstance(value, str):
        return value
    if type(None) in kinds and value.lower() in ("", "none"):
        return None
    if bool in kinds and value.lower() in ("yes", "true", "on", "1", "no", "false", "off", "0"):
        return value.lower() in ("yes", "true", "on", "1")
    for number in (int, float):
        if number in kinds:
            try:
                return number(value)
            except ValueError:
                continue
    for literal in (k for k in kinds if typing.get_origin(k) is typing.Literal):
        if value in typing.get_args(literal):
            return value
        raise InputError(f"{what} must be {_one_of(typing.get_args(literal))}, not '{value}'")
    if str in kinds:
        return value
    wanted = dict.fromkeys(IN_WORDS.get(kind, str(kind)) for kind in kinds)
    raise InputError(f"{what} must be {' or '.join(wanted)}, not '{value}'")
