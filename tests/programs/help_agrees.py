"""Options, variables and functions: the code, --help and the manual pages name the same.

    help_agrees.py --source FOLDER --launcher gpuleak --report gpuleak-report
"""

import argparse
import re
import subprocess
import sys
from pathlib import Path


def section(page: str, title: str) -> str:
    """The source of a page's section."""
    match = re.search(rf'^\.S[Hh] "?{re.escape(title)}"?\n(.*?)(?=^\.SH |\Z)', page, re.M | re.S)
    return match[1] if match else ""


def tags(source: str) -> list:
    """What the tagged paragraphs are about: the line behind each .TP, without its macro."""
    lines = re.findall(r"^\.TP[^\n]*\n(?:\.[A-Z]+ )?([^\n]*)", source, re.M)
    return [line.replace("\\-", "-").replace('"', "") for line in lines]


def options_of_page(page: str) -> set:
    found = [re.findall(r"--[a-z][a-z-]*", tag) for tag in tags(section(page, "OPTIONS"))]
    return {option for options in found for option in options}


def variables_of_page(page: str) -> set:
    found = [re.findall(r"\b[A-Z][A-Z_]{3,}\b", tag) for tag in tags(section(page, "ENVIRONMENT"))]
    return {variable for variables in found for variable in variables}


def options_of_help(program: str, *arguments: str) -> set:
    """The options that begin a line."""
    text = subprocess.run([program, *arguments], stdout=subprocess.PIPE, text=True, check=True)
    return set(re.findall(r"^\s+(--[a-z][a-z-]*)", text.stdout, re.M))


def commands_of_help(program: str) -> set:
    text = subprocess.run([program, "help"], stdout=subprocess.PIPE, text=True, check=True)
    return set(re.findall(r"^  ([a-z]+) ", text.stdout, re.M)) - {"gpuleak"}


def exit_codes_of_help(program: str, *arguments: str) -> set:
    """The numbers in the paragraph on exit codes."""
    text = subprocess.run([program, *arguments], stdout=subprocess.PIPE, text=True, check=True)
    paragraph = re.search(r"^Exit (?:code|status):.*?(?=\n\n|\Z)", text.stdout, re.M | re.S)
    return set(re.findall(r"\b\d+\b", paragraph[0])) if paragraph else set()


def exit_codes_of_page(page: str) -> set:
    found = [re.findall(r"\d+", tag) for tag in tags(section(page, "EXIT STATUS"))]
    return {code for codes in found for code in codes}


def texts(*folders: Path) -> str:
    paths = [path for folder in folders for path in sorted(folder.rglob("*.[ch]"))]
    return "\n".join(path.read_text() for path in paths)


def variables_of_code(code: str) -> set:
    """Names in quotes that are asked for, or are ours."""
    names = set(re.findall(r'getenv\("([A-Z_]+)"\)', code))
    names |= set(re.findall(r'"(GPULEAK_[A-Z_]*[A-Z])"', code))
    for listed in re.findall(r"_variables\[\] = \{(.*?)\}", code, re.S):
        names |= set(re.findall(r'"([A-Z_]+)"', listed))
    return names


class Check:
    def __init__(self):
        self.failed = 0

    def equal(self, what: str, **named: set):
        """All the sets are the same, and not empty."""
        union = set().union(*named.values())
        if not union:
            self.failed += 1
            print(f"{what}: none found, so this test sees nothing")
        for where, names in named.items():
            for name in sorted(union - names):
                self.failed += 1
                print(f"{what}: {name} is not in {where}")


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--source", type=Path, required=True)
    parser.add_argument("--launcher", required=True)
    parser.add_argument("--report", required=True)
    arguments = parser.parse_args()
    source = arguments.source / "src"
    page = {path.name: path.read_text() for path in (arguments.source / "docs/man").iterdir()}
    check = Check()

    defined = (source / "launcher/run_options.def").read_text()
    check.equal(
        "option of gpuleak run",
        code={f"--{name}" for name in re.findall(r'^RUN_OPTION\(\w+, "([a-z-]+)"', defined, re.M)},
        help=options_of_help(arguments.launcher, "help", "run"),
        manual=options_of_page(page["gpuleak.1"]),
    )
    check.equal(
        "exit code of gpuleak run",
        help=exit_codes_of_help(arguments.launcher, "help", "run") - {"100"}  # what is added
        | {"126", "127"},  # those of every program that starts another one
        manual=exit_codes_of_page(page["gpuleak.1"]),
    )
    table = (source / "launcher/main.c").read_text()
    synopsis = section(page["gpuleak.1"], "SYNOPSIS")
    check.equal(
        "command",
        code=set(re.findall(r'^\s*\{"([a-z]+)", command_', table, re.M)),
        help=commands_of_help(arguments.launcher),
        manual=set(re.findall(r"^\.B gpuleak ([a-z]+)$", synopsis, re.M)),
    )

    options = (source / "report/options.c").read_text()
    check.equal(
        "option of gpuleak-report",
        code={f"--{name}" for name in re.findall(r'\{"([a-z-]+)", \w+_argument', options)},
        help=options_of_help(arguments.report, "--help"),
        manual=options_of_page(page["gpuleak-report.1"]),
    )

    check.equal(
        "exit code of gpuleak-report",
        help=exit_codes_of_help(arguments.report, "--help"),
        manual=exit_codes_of_page(page["gpuleak-report.1"]),
    )

    check.equal(
        "variable of the tracer",
        code=variables_of_code(texts(source / "tracer")),
        manual=variables_of_page(page["libgpuleak.7"]),
    )
    sets_for_tracer = {"GPULEAK_SIZE"}  # `gpuleak check` sets it for its own short trace
    check.equal(
        "variable of the launcher and the simulated GPU",
        code=variables_of_code(texts(source / "launcher", source / "sim")) - sets_for_tracer
        | {"LD_PRELOAD", "LD_AUDIT"},
        manual=variables_of_page(page["gpuleak.1"]),
    )
    check.equal(
        "variable of the reader",
        code=variables_of_code(texts(source / "report")),
        manual=variables_of_page(page["gpuleak-report.1"]),
    )

    header = (arguments.source / "include/gpuleak/gpuleak.h").read_text()
    synopsis = section(page["libgpuleak.7"], "SYNOPSIS")
    description = section(page["libgpuleak.7"], "DESCRIPTION")
    check.equal(
        "function",
        header=set(re.findall(r"^void (gpuleak_\w+)\(", header, re.M)),
        synopsis=set(re.findall(r"\b(gpuleak_\w+)\(", synopsis)),
        description={tag.split("(")[0] for tag in tags(description) if tag.startswith("gpuleak_")},
    )

    verdicts = re.search(r"enum verdict \{(.*?)\}", (source / "report/verdict.h").read_text(), re.S)
    check.equal(
        "verdict",
        code=set(re.findall(r"VERDICT_([A-Z]+) = ", verdicts[1])) - {"COUNT"},
        manual={tag for tag in tags(section(page["gpuleak-report.1"], "DESCRIPTION")) if tag.isupper()},
    )
    return 1 if check.failed else 0


if __name__ == "__main__":
    sys.exit(main())
