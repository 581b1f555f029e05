"""What tests need from the system: ``make test`` runs it once per environment, and installs what it can.

It never fails: the tests that need what is missing are skipped, and say so.
"""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
from pathlib import Path

APT = ("apt-get", "-qq", "-o", "Acquire::Retries=0", "-o", "Acquire::http::Timeout=15")
SPARK = "install Spark and Java (pip install pyspark; Debian: apt-get install default-jre-headless)"
OFFICE = "install LibreOffice and poppler (Debian: apt-get install libreoffice-calc-nogui poppler-utils)"
SLOW = ("pyspark", "nbclient", "ipykernel", "material")
"""Modules of the extra that only slow tests need."""
PATIENCE = 240
"""Seconds for one attempt; a machine without network gives up much sooner."""


def list_installations(package: str) -> list[tuple[str, ...]]:
    """Commands that install a Debian package; none where that cannot be done without asking anybody."""
    if not shutil.which("apt-get") or not hasattr(os, "geteuid") or os.geteuid() != 0:
        return []
    install = (*APT, "install", "-y", "--no-install-recommends", package)
    # A fresh image knows no packages before its first update.
    return [install, (*APT, "update"), install]


def run_quietly(command: tuple[str, ...], **environment: str) -> None:
    """Run a command that may fail, without asking anybody."""
    settings = {**os.environ, "DEBIAN_FRONTEND": "noninteractive", **environment}
    try:
        subprocess.run(command, env=settings, capture_output=True, timeout=PATIENCE, check=False)
    except (OSError, subprocess.TimeoutExpired) as trouble:
        print(f"  {command[0]}: {trouble}")


def get_java() -> str | None:
    """Install what Spark runs in where that can be done without asking anybody."""
    for command in list_installations("default-jre-headless"):
        if shutil.which("java") is None:
            run_quietly(command)
    return shutil.which("java")


def get_spark() -> bool:
    """Install Spark, which is large, and what else only slow tests need, by their extra."""
    root = str(Path(__file__).parents[1])
    pip = (sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check")
    if any(importlib.util.find_spec(name) is None for name in SLOW):
        run_quietly((*pip, "--editable", f"{root}[slow]"))
        importlib.invalidate_caches()
    return importlib.util.find_spec("pyspark") is not None and get_java() is not None


def get_office() -> bool:
    """Install what draws sheets as pictures where that can be done without asking anybody."""
    for package, program in (("libreoffice-calc-nogui", "soffice"), ("poppler-utils", "pdftoppm")):
        for command in list_installations(package):
            if shutil.which(program) is None:
                run_quietly(command)
    return shutil.which("soffice") is not None and shutil.which("pdftoppm") is not None


def main(slow: bool) -> None:
    """Look for everything, and install what is missing where possible."""
    from postgres_server import REMEDY as POSTGRES
    from postgres_server import get_postgres

    from get_chromium import REMEDY as CHROMIUM
    from get_chromium import get_chromium

    if slow:
        if not get_spark():
            print(f"No Spark: the tests of it will be skipped. Remedy: {SPARK}")
        if not get_office():
            print(f"No LibreOffice: the test of pictures will be skipped. Remedy: {OFFICE}")
        return
    if (chromium := get_chromium()) is None:
        print(f"No Chromium: the tests in tests/browser will be skipped. Remedy: {CHROMIUM}")
    else:
        print(f"Browser tests use {chromium}")
    if (postgres := get_postgres()) is None:
        print(f"No PostgreSQL: the tests of databases will be skipped. Remedy: {POSTGRES}")
    else:
        print(f"Tests of databases use {postgres}")


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parent / "browser"))
    main(slow="--slow" in sys.argv)
