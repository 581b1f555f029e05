"""``tacita verify``: does a certificate prove that this release protects this case?"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from tacita.cli.case_options import Case, CaseFlags, pose_problem
from tacita.cli.console import make_console, print_json, print_message, print_notes
from tacita.cli.release_options import ReleaseFile, ReleaseOptions, find_release_file, load_release
from tacita.cli.verb import DONE, UNSAFE, Output
from tacita.core.words import pluralize


def run_verify_command(
    case: Case,
    release: ReleaseFile,
    certificate: Annotated[
        Path,
        typer.Argument(
            metavar="CERTIFICATE",
            help="certificate.json of an audit, or the folder that results were written to.",
        ),
    ],
    output: Output,
    flags: CaseFlags,
    release_options: ReleaseOptions,
) -> int:
    """Check a certificate in exact arithmetic: that it is of this case and release, and that its proof holds.

    Exit code 0 if it does, also where nothing was sensitive and hence nothing is proven; 2 with the reason if
    it is of another case or release, corrupted or forged.
    """
    from tacita.auditing.certificate import check_certificate, complete_certificate
    from tacita.core.errors import CertificateError, ReleaseError
    from tacita.publication.folders import find_certificate
    from tacita.publication.release_read import is_own_release
    from tacita.verify import RefusedError, check_release, load, outcome
    from tacita.verify import verify as check

    problem = pose_problem(case, flags)
    try:
        proof = load(str(find_certificate(certificate) if certificate.is_dir() else certificate))
        published = load_release(release, problem, release_options, flags.release_sign)
        if proof.get("version") == 1:
            proof = complete_certificate(proof, problem, published)
        proven = check(proof)
        less = check_certificate(proof, problem, published)
        if is_own_release(file := find_release_file(release)):
            check_release(proof, str(file))
    except (RefusedError, CertificateError, ReleaseError) as reason:
        print_message(str(reason), "refused:", "bold red")
        if output.json:
            print_json({"verified": False, "reason": str(reason)})
        return UNSAFE
    if less:
        print_notes(
            f"{release}: it says nothing of {pluralize(less, 'cell')} that the certified release publishes, "
            "so the proof holds for it, too"
        )
    if output.json:
        print_json({"verified": True, "pairs": proven, "cells": len(problem.table)})
    else:
        # It is of this case and release, and true; but it is no proof where there was nothing to prove.
        sign = "[bold green]✔ verified[/]" if proven else "[bold yellow]– no proof[/]"
        make_console().print(f"{sign}  {outcome(proven, len(problem.table))}")
    return DONE
