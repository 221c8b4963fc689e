#!/usr/bin/env bash
# Sets up, runs every test, says in one line per step how it went: see usage() below.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit

usage() {
	cat <<'END'
usage: scripts/test.sh [--long] [--only STEP]... [--list]

Sets up (scripts/setup.sh --tests) and runs every step; the last line is the number of tests by
result.

  --only STEP   only this step; may be given again. Setting up is a step, too
  --long        also the long fuzz and soak tests, the step fuzz, and clang's analyzer in tidy
  --list        print the steps and stop
  -h, --help    this text

Each step's output is in build/test-logs/STEP.log; that of a failing step is shown.
END
}

steps=(setup tests fuzz asan tsan format tidy cppcheck man scripts)
only=()
long=false
while [ $# -gt 0 ]; do
	case $1 in
	--long) long=true ;;
	--only)
		if [[ " ${steps[*]} " != *" ${2:-} "* ]]; then
			echo "test: no step ${2:-}; --list prints them" >&2
			exit 2
		fi
		only+=("$2")
		shift
		;;
	--list) printf '%s\n' "${steps[@]}"; exit 0 ;;
	-h | --help) usage; exit 0 ;;
	*) usage >&2; exit 2 ;;
	esac
	shift
done

jobs=$(nproc)
logs=$PWD/build/test-logs
failed=()
mkdir -p "$logs"
rm -f "$logs"/*

step_setup() { scripts/setup.sh --tests; }

# run_ctest BUILD LABELS...: in BUILD, the tests with one of the labels, or all.
run_ctest() {
	local build=$1 labels
	local -a which=(--label-exclude 'long|bench')

	shift
	labels=$(IFS='|'; echo "$*")
	[ -z "$labels" ] || which+=(--label-regex "^($labels)\$")
	! $long || which=("${which[@]:2}")
	GPULEAK_TEST_LONG=$long ctest --test-dir "$build" --parallel "$jobs" --output-on-failure \
		--no-tests=error --output-junit "$logs/${build##*/}.xml" "${which[@]}"
}

# build_preset PRESET TARGET...
build_preset() {
	cmake --preset "$1" && cmake --build --preset "$1" --parallel "$jobs" --target "${@:2}"
}

step_tests() { run_ctest build; }

# Also the build with clang: all of it, warnings as errors.
step_fuzz() { build_preset fuzz all && run_ctest build-fuzz fuzz; }

step_asan() { build_preset asan unit_tests report_tests && run_ctest build-asan unit report; }

# ThreadSanitizer needs the classic layout of addresses; kernels with more random bits change it.
step_tsan() {
	build_preset tsan unit_tests || return
	if setarch "$(uname -m)" -R true 2>/dev/null; then
		export -f run_ctest
		export jobs long logs
		setarch "$(uname -m)" -R bash -c 'run_ctest build-tsan unit'
	else
		run_ctest build-tsan unit
	fi
}

c_files() { git ls-files -co --exclude-standard -- 'src/*.[ch]' 'include/*.h' 'tests/*.[ch]'; }

# The layout differs between versions of clang-format: one version decides.
step_format() {
	local tool

	for tool in clang-format-14 clang-format; do
		if "$tool" --version 2>/dev/null | grep -q 'version 14\.'; then
			c_files | xargs "$tool" --dry-run -Werror
			return
		fi
	done
	echo "skipped: the layout is checked with clang-format 14, which is not here"
}

# The analyzer takes 20 times as long as all other checks together.
step_tidy() {
	local options=(--quiet -p build --extra-arg=-Wno-ignored-optimization-argument)

	! $long || options+=("--checks=clang-analyzer-*,-clang-analyzer-security.insecureAPI.*")
	c_files | grep '^src/.*\.c$' | xargs -P "$jobs" -n 4 clang-tidy "${options[@]}"
}

# Suppressed: NULL as the end of an argument list is a pointer in glibc; where a walk along `*link` ends
# is not seen; escape.c's format is chosen before it is used.
step_cppcheck() {
	local suppress

	mkdir -p build/cppcheck
	suppress=(missingInclude unmatchedSuppression varFuncNullUB nullPointerRedundantCheck
		nullPointerArithmeticRedundantCheck wrongPrintfScanfArgNum:src/report/escape.c)
	cppcheck --quiet --error-exitcode=1 --inline-suppr --std=c11 \
		--enable=warning,performance,portability "${suppress[@]/#/--suppress=}" \
		--cppcheck-build-dir=build/cppcheck -j "$jobs" -D_GNU_SOURCE -Isrc -Iinclude src
}

step_man() {
	local page status=0

	for page in docs/man/*.[1-8]; do
		[ -e "$page" ] || { echo "no manual page in docs/man"; return 1; }
		if command -v mandoc >/dev/null; then
			mandoc -T lint -W warning "$page" || status=1
		elif groff -man -ww -z "$page" 2>&1 | grep .; then
			status=1
		fi
	done
	return "$status"
}

step_scripts() {
	local script python=build/venv/bin/python

	for script in scripts/*.sh .ci/run; do
		bash -n "$script" || return 1
	done
	! command -v shellcheck >/dev/null || shellcheck scripts/*.sh .ci/run || return 1
	[ -x "$python" ] || python=python3
	git ls-files -co --exclude-standard -- '*.py' | xargs "$python" -c '
import sys
for path in sys.argv[1:]:
    compile(open(path, encoding="utf-8").read(), path, "exec")'
}

wanted() {
	if [ ${#only[@]} != 0 ]; then
		[[ " ${only[*]} " = *" $1 "* ]]
	else
		$long || [[ " fuzz " != *" $1 "* ]]
	fi
}

# A terminal gets a step's output as it comes, everybody else only that of a step that fails.
run_step() {
	local name=$1 status=0 from=$SECONDS

	if [ -t 1 ]; then
		"step_$name" </dev/null 2>&1 | tee "$logs/$name.log" || status=$?
	else
		"step_$name" </dev/null >"$logs/$name.log" 2>&1 || status=$?
		[ "$status" = 0 ] || tail -n 100 "$logs/$name.log"
	fi
	if [ "$status" = 0 ]; then
		printf 'ok    %-9s %4d s\n' "$name" $((SECONDS - from))
	else
		printf 'FAIL  %-9s %4d s  (build/test-logs/%s.log)\n' "$name" $((SECONDS - from)) \
			"$name"
		failed+=("$name")
	fi
	return "$status"
}

for name in "${steps[@]}"; do
	wanted "$name" || continue
	if ! run_step "$name" && [ "$name" = setup ]; then
		exit 1
	fi
done

python=build/venv/bin/python
[ -x "$python" ] || python=python3
printf '%d s; ' $SECONDS
if [ ${#failed[@]} = 0 ]; then
	echo "every step passed"
else
	echo "failed: ${failed[*]}"
fi
"$python" scripts/test_totals.py "$logs"/*.xml || failed+=(totals)
[ ${#failed[@]} = 0 ]
