"""Charts of a sheet without their stored values: what they show comes from the published cells.

Of the XML of a chart only elements on a list are kept: those that say what is drawn and how. Stored values,
links to other files, pictures, drawings and whatever an extension may hold are not on it. A chart that draws
from elsewhere than the published sheets, or from numbers of its own, is left out.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Any
from xml.etree import ElementTree as ET

from tacita.publication.same_layout.package import Element, Package
from tacita.publication.same_layout.remarks import Remarks
from tacita.publication.same_layout.telling_texts import Telling

CHART = "http://schemas.openxmlformats.org/drawingml/2006/chart"
DRAWING = "http://schemas.openxmlformats.org/drawingml/2006/main"
CHART_ELEMENTS = frozenset("""
    chartSpace date1904 lang roundedCorners style clrMapOvr chart title autoTitleDeleted view3D floor sideWall
    backWall plotArea legend plotVisOnly dispBlanksAs spPr txPr tx rich strRef numRef multiLvlStrRef f v
    layout manualLayout layoutTarget xMode yMode wMode hMode x y w h overlay rotX hPercent rotY depthPercent
    rAngAx perspective thickness legendPos legendEntry delete idx order barChart bar3DChart lineChart
    line3DChart pieChart pie3DChart doughnutChart ofPieChart areaChart area3DChart radarChart scatterChart
    bubbleChart stockChart surfaceChart surface3DChart barDir grouping varyColors ser invertIfNegative
    dPt dLbls dLbl dLblPos showLegendKey showVal showCatName showSerName showPercent showBubbleSize separator
    showLeaderLines leaderLines cat val xVal yVal bubbleSize bubble3D sizeRepresents bubbleScale
    showNegBubbles shape gapWidth gapDepth overlap serLines marker symbol size smooth explosion firstSliceAng
    holeSize ofPieType splitType splitPos secondPieSize radarStyle scatterStyle wireframe bandFmts bandFmt
    dropLines hiLowLines upDownBars upBars downBars trendline name trendlineType forward backward
    intercept dispRSqr dispEq errBars errDir errBarType errValType noEndCap axId catAx valAx
    dateAx serAx scaling orientation logBase max min axPos majorGridlines minorGridlines numFmt majorTickMark
    minorTickMark tickLblPos crossAx crosses crossesAt crossBetween auto lblAlgn lblOffset noMultiLvlLbl
    tickLblSkip tickMarkSkip majorUnit minorUnit baseTimeUnit majorTimeUnit minorTimeUnit dispUnits
    builtInUnit dispUnitsLbl dTable showHorzBorder showVertBorder showOutline showKeys period
""".split())  # fmt: skip  # noqa: SIM905
DRAWING_ELEMENTS = frozenset("""
    bodyPr lstStyle p pPr r rPr t endParaRPr defRPr lvl1pPr br solidFill gradFill gsLst gs lin path
    fillToRect noFill pattFill fgClr bgClr ln prstDash round bevel miter headEnd tailEnd srgbClr schemeClr
    sysClr prstClr lumMod lumOff tint shade alpha satMod effectLst outerShdw latin ea cs sym sp3d spAutoFit
    normAutofit noAutofit xfrm off ext prstGeom avLst
""".split())  # fmt: skip  # noqa: SIM905
OWN_NUMBERS = frozenset(["numLit", "strLit"])
INDEXES = frozenset(["axId", "crossAx", "idx", "order"])
TYPED_LABELS = frozenset(["dLbl", "dispUnitsLbl"])
"""Labels that may have been typed by hand; without that they say what the sheet does."""
SPOKEN = frozenset(["t", "v", "name", "separator"])
"""Elements whose text readers see."""
SCALES = frozenset(["max", "min", "majorUnit", "minorUnit", "crossesAt", "intercept", "splitPos"])
"""Elements with numbers that readers see on an axis, or infer from the picture."""
_AREA = re.compile(r"(?:'((?:[^']|'')+)'|([^\s'!(),:\[\]]+))!\$?[A-Z]{1,3}\$?\d+(?::\$?[A-Z]{1,3}\$?\d+)?")


@dataclass(frozen=True, eq=False)
class Chart:
    """A chart of a sheet, cleaned, and the element of the sheet's drawing that says where it stands."""

    content: Element
    anchor: Element


class TellingChartError(Exception):
    """A chart cannot be kept; the text says why."""


def read_charts(
    package: Package, part: str, sheets: Collection[str], remarks: Remarks
) -> tuple[list[Chart], int]:
    """Return the charts of a sheet that may be published, and how many further drawings it has.

    Parameters
    ----------
    part
        The part of the package that holds the sheet.
    sheets
        The names of the sheets that are published.
    remarks
        Takes down why charts were left out.
    """
    charts, others = [], 0
    for drawing in _list_targets(package, part, "/drawing"):
        targets = {each.identity: each.target for each in package.list_relations(drawing)}
        for anchor in package.parse(drawing):
            identity = _find_chart(anchor)
            if identity is None or targets.get(identity) not in package.names:
                others += 1
                continue
            try:
                charts.append(Chart(clean_chart(package.parse(targets[identity]), sheets, remarks), anchor))
            except TellingChartError as reason:
                remarks.others.append(f"a chart was left out: {reason}")
    return charts, others


def _list_targets(package: Package, part: str, kind: str) -> Iterator[str]:
    for each in package.list_relations(part):
        if each.kind.endswith(kind) and not each.outside and posixpath.normpath(each.target) in package.names:
            yield each.target


def _find_chart(anchor: Element) -> str | None:
    """Return the relationship of the chart that an anchor of a drawing holds; None if it holds another."""
    for frame in anchor:
        if _split(frame.tag)[1] == "graphicFrame":
            for each in frame.iter(f"{{{CHART}}}chart"):
                return next((text for name, text in each.items() if _split(name)[1] == "id"), None)
    return None


def clean_chart(root: Element, sheets: Collection[str], remarks: Remarks) -> Element:
    """Return the XML of a chart that may be published, without anything that is not on the lists.

    Raises
    ------
    TellingChartError
        The chart has numbers of its own, draws from elsewhere, or tells the value of a hidden cell.
    """
    if _split(root.tag) != (CHART, "chartSpace"):
        raise TellingChartError("it is of a kind that is not known here")
    clean = _copy(root, sheets, remarks, {})
    if not any(True for _ in clean.iter(f"{{{CHART}}}ser")):
        raise TellingChartError("it draws nothing of the sheet")
    _refuse_telling(clean, remarks)
    return clean


def _refuse_telling(clean: Element, remarks: Remarks) -> None:
    """Refuse a chart with a text that tells the value of a hidden cell; note numbers that may by chance."""
    for element in clean.iter():
        name = _split(element.tag)[1]
        if name in ("rich", "txPr"):
            # Digits may be spread over several runs, which readers see as one line, and over lines.
            lines = ["".join(t.text or "" for t in p.iter(f"{{{DRAWING}}}t")) for p in element]
            texts = ["\n".join(lines), "".join(lines)]
        elif name in SPOKEN and _split(element.tag)[0] == CHART:
            texts = [element.text or ""]
        elif name in SCALES:
            texts = [element.get("val", "")]
        else:
            continue
        if any(remarks.tells(text, "a chart") for text in texts):
            raise TellingChartError("its text tells the value of a hidden cell")


def _copy(element: Element, sheets: Collection[str], remarks: Remarks, axes: dict[str, str]) -> Element:
    name = _split(element.tag)[1]
    clean = ET.Element(element.tag, _copy_attributes(element, remarks))
    if name in ("axId", "crossAx"):
        clean.set("val", axes.setdefault(element.get("val", ""), str(len(axes) + 1)))
    if name == "f":
        clean.text = _check_reference(element.text or "", sheets)
    elif name in SPOKEN and element.text:
        clean.text = element.text
    for child in element:
        space, own = _split(child.tag)
        if space == CHART and own in OWN_NUMBERS:
            raise TellingChartError("it has numbers of its own, which are not in the sheet")
        known = CHART_ELEMENTS if space == CHART else DRAWING_ELEMENTS if space == DRAWING else frozenset()
        typed = own == "tx" and name in TYPED_LABELS
        # A scale that ends at the value of a hidden cell would tell it: without that it fits what is shown.
        telling = own not in INDEXES and {*child.keys()} != _copy_attributes(child, remarks).keys()
        if own in known and not typed and not (space == CHART and telling):
            clean.append(_copy(child, sheets, remarks, axes))
    return clean


def _copy_attributes(element: Element, remarks: Remarks) -> dict[str, str]:
    """Return the attributes of an element of a chart that tell nothing; those of extensions are dropped."""
    index = _split(element.tag)[1] in INDEXES
    return {
        key: text
        for key, text in element.items()
        if not key.startswith("{") and (index or remarks.hidden.judge(text) < Telling.VALUE)
    }


def _check_reference(text: str, sheets: Collection[str]) -> str:
    """Return the reference of a chart's series if all its areas lie in published sheets."""
    areas = [area.strip() for area in text.strip().removeprefix("(").removesuffix(")").split(",")]
    for area in areas:
        found = _AREA.fullmatch(area)
        if found is None or (found[1] or found[2] or "").replace("''", "'") not in sheets:
            raise TellingChartError("it draws from elsewhere than the published sheet")
    return text.strip()


def _split(tag: Any) -> tuple[str, str]:
    space, _, name = tag.rpartition("}") if isinstance(tag, str) else ("", "", "")
    return space.removeprefix("{"), name
