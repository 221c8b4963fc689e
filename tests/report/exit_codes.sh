#!/bin/sh
# exit_codes.sh BUILD_TRACE GPULEAK_REPORT: the codes of the man page, and what goes where.
set -u
build_trace=$1 report=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0

for case in leak clean jump short empty; do
	"$build_trace" $case "$work/$case" || exit 1
done
head -c 100 "$work/leak" >"$work/cut"
cd "$work" || exit 1

# expect CODE OUT ERR ARGUMENT...: OUT and ERR are the counts of lines, "+" for some.
expect() {
	code=$1 out=$2 err=$3
	shift 3
	"$report" "$@" >out 2>err
	got=$?
	[ "$got" = "$code" ] || fail "exit code $got, expected $code: $*"
	check_lines out "$out" "$*"
	check_lines err "$err" "$*"
}

check_lines() {
	lines=$(wc -l <"$1")
	case $2 in
	+) [ "$lines" -gt 0 ] || fail "no lines on $1: $3" ;;
	*) [ "$lines" -eq "$2" ] || fail "$lines lines on $1, expected $2: $3" ;;
	esac
}

fail() {
	echo "$1"
	failed=1
}

expect 1 + 0 leak
expect 1 + 0 --json leak
expect 0 + 0 --fail-on none leak
expect 0 + 0 --fail-on growing leak
expect 1 + 0 --fail-on growing,jump leak
expect 0 + 0 clean
expect 0 + 0 jump
expect 1 + 0 --fail-on jump jump
expect 0 + 0 short
expect 3 + 0 --require-steps 6 short
expect 0 + 0 --require-steps 5 short
expect 1 + 0 --fail-on short short
expect 3 + 0 empty
expect 3 + 0 --require-steps 400 jump
expect 1 + 0 --require-steps 400 leak
expect 1 + 0 --require-steps 4000 leak
expect 2 0 1 missing
expect 2 0 1 cut
expect 2 0 1 "$work"
expect 2 0 1
expect 2 0 1 --no-such-option leak
expect 2 0 1 --fail-on everything leak
expect 2 + 1 leak missing
expect 2 + 1 --json clean cut
expect 1 + 0 clean leak
expect 3 + 0 clean empty
expect 0 + 0 clean jump
printf 'leak:file:train.py -- known\n' >known
printf '# one\nleak:file:train.py\n' >bad
expect 0 + 0 --suppressions known leak
expect 0 + 0 --fail-on leak,growing --suppressions known leak
expect 1 + 0 --fail-on leak,jump --suppressions known leak
expect 3 + 0 --require-steps 4000 --suppressions known leak
expect 2 0 1 --suppressions bad leak
grep -q '^gpuleak-report: bad:2: no reason' err || fail "no file and line: $(cat err)"
expect 2 0 1 --suppressions missing leak
expect 2 0 1 --suppressions "$work" leak
expect 0 1 0 --suppressions known --version
expect 2 0 1 --suppressions bad --version
"$report" --json leak >leak.json
cp leak again
expect 0 + 0 --baseline leak.json leak
expect 0 + 0 --baseline again leak
expect 1 + 0 --baseline clean leak
expect 1 + 0 --baseline short leak
expect 0 + 0 --baseline leak clean
expect 0 + 0 --baseline leak.json leak again
expect 2 0 1 --baseline leak leak
expect 2 0 1 --baseline missing leak
expect 2 0 1 --baseline bad leak
expect 2 0 1 --baseline cut leak
expect 1 + 0 --diff clean leak
expect 0 + 0 --diff leak clean
expect 0 + 0 --diff leak leak
expect 1 + 0 --diff short leak
expect 1 + 0 --fail-on jump --diff clean jump
expect 0 + 0 --fail-on none --diff clean leak
expect 0 + 0 --suppressions known --diff clean leak
expect 3 + 1 --diff empty clean
expect 3 + 1 --require-steps 300 --diff clean clean
expect 2 0 1 --diff leak
expect 2 0 1 --diff leak leak leak
expect 2 0 1 --diff leak missing
expect 2 0 1 --diff cut leak
expect 2 0 1 --diff --baseline clean leak again
expect 0 1 0 --baseline leak.json --version
expect 2 0 1 --baseline bad --version
expect 0 + 0 --help
expect 0 1 0 --version

# A message that names a file with an escape sequence is harmless, too.
"$report" "$(printf 'no\033[31m')" 2>err
grep -q "$(printf '\033')" err && fail "an escape sequence on stderr"

# What can't be written is no report.
"$report" leak >/dev/full 2>err
[ $? = 2 ] || fail "a full disk goes unnoticed"

# Several traces are one object, one trace is its own.
"$report" --json clean leak >both
grep -q '"traces":\[' both || fail "several traces are no list"
"$report" --json leak >one
grep -q '"traces":\[' one && fail "one trace is a list"

# The writer holds a lock while it lives.
if command -v flock >/dev/null; then
	flock clean "$report" clean | grep -q "still running" || fail "no word of a live writer"
	flock clean "$report" --json clean | grep -q '"running":true' || fail "running is not true"
fi
"$report" clean | grep -q "still running" && fail "a dead writer is called alive"

# Colour where it is asked for, and only there.
escape=$(printf '\033')
"$report" leak | grep -q "$escape" && fail "colour in a pipe"
"$report" --color always leak | grep -q "$escape\[1;31mLEAK" || fail "no colour"
"$report" --color never leak | grep -q "$escape" && fail "colour against --color never"
if command -v script >/dev/null; then
	script -qec "'$report' leak" /dev/null | grep -q "$escape\[1;31m" || fail "a terminal without colour"
	NO_COLOR=1 script -qec "'$report' leak" /dev/null | grep -q "$escape" && fail "NO_COLOR is not obeyed"
fi
exit $failed
