"""Every Python frame of the calling thread, as Python itself sees it, in many shapes of code."""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import pyframes_hook  # noqa: E402
import pyframes_situations  # noqa: E402
import pyframes_syntax  # noqa: E402


def main():
    checker = pyframes_hook.checker()
    if not checker.library.hook_attach():
        print("not attached:", checker.library.hook_why().decode())
        return 1
    cases = [
        (name, case)
        for module in (pyframes_syntax, pyframes_situations)
        for name, case in vars(module).items()
        if name.startswith("case_")
    ]
    for name, case in cases:
        before = checker.checks, checker.wrong
        case()
        if checker.checks == before[0]:
            checker.complain(name, "checked nothing")
        if checker.wrong != before[1]:
            print(name, "is wrong")
    why = checker.library.hook_why()
    if why:
        checker.complain(why.decode())
    print(sys.version.split()[0], checker.checks, "checks,", checker.wrong, "wrong")
    return 1 if checker.wrong else 0


if __name__ == "__main__":
    sys.exit(main())
