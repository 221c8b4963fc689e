#!/usr/bin/env python3
"""Runs the rows of one file (see rows.py) under the tracer, and compares the steps counted and the
clock with what each row says.

Exit 0: as expected. 1: not. 77: PyTorch or the built programs are not there.
"""

import json
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "corpus"))

from harness import Failure, arguments, setup_from, tail, test_main  # noqa: E402


def check_row(setup, row: dict, trace: Path) -> list:
    """What is wrong with one row; nothing when it is as expected."""
    if row["code"]:
        return [f"{row['row']} ends with {row['code']}"]
    if not trace.exists():
        return [f"{row['row']} made no trace"]
    report, _ = setup.read(trace, "--all")
    values = {**report["trace"], **report, "device": report["devices"][0]["verdict"]}
    values["second"] = report["devices"][-1]["verdict"]
    values["host"] = report["host"]["verdict"]
    values["kept_after"] = (report["devices"][0]["after_last_step"] or {}).get("blocks")
    sites = [s for s in report["devices"][0]["sites"] if s["source"] == "torch"]
    values["period"] = sites[0]["period_steps"] if sites else None
    return [
        f"{row['row']}: {name} {wanted!r}; got {values.get(name)!r}"
        for name, wanted in row["wanted"].items()
        if values.get(name) != wanted and not (isinstance(wanted, list) and values.get(name) in wanted)
    ]


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("file", type=Path)
    parser.add_argument("rows", nargs="*", help="these rows alone")
    parser.add_argument("--devices", help="so many, of the simulated GPU")
    parser.add_argument("--keep", type=Path, help="folder for the traces")
    options = parser.parse_args()
    setup = setup_from(options)
    with tempfile.TemporaryDirectory(prefix="gpuleak-") as scratch:
        folder = (options.keep or Path(scratch)).resolve()
        folder.mkdir(parents=True, exist_ok=True)
        command = setup.run_command([options.file.resolve(), *options.rows], devices=options.devices)
        done = setup.execute(command, folder / "%p.bin")
        rows = [json.loads(line) for line in done.stdout.splitlines() if line.startswith('{"row"')]
        if not rows:
            raise Failure(f"no rows; exit {done.returncode}\n{tail(done.stdout + done.stderr)}")
        wrong = []
        for row in rows:
            problems = check_row(setup, row, folder / f"{row['pid']}.bin")
            print(f"{'wrong' if problems else 'good '} {row['row']}")
            wrong += problems
    if wrong:
        raise Failure("\n".join([*wrong, tail(done.stderr)]))


if __name__ == "__main__":
    test_main(main)
