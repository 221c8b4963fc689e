#!/bin/sh
# compare.sh BUILD_TRACE GPULEAK_REPORT FOLDER NAME text|json [CASE OPTION...]: report on the trace
# CASE (by default NAME), with the files of FOLDER/../inputs beside it, and compare with what FOLDER
# expects of NAME, exit code included.  GPULEAK_ACCEPT=1 writes it instead.
set -eu
build_trace=$1 report=$2 folder=$3 name=$4 form=$5
shift 5
case=$name
if [ $# -gt 0 ]; then
	case=$1
	shift
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

"$build_trace" "$case" "$work/trace.bin"
cp "$folder"/../inputs/* "$work"
"$build_trace" leak "$work/leak.bin"
"$report" --json "$work/leak.bin" >"$work/leak.json" || :
cd "$work" # so that the path in the report is the same everywhere
code=0
if [ "$form" = json ]; then
	"$report" --json "$@" trace.bin >"$work/raw" 2>&1 || code=$?
	# One field a line, so that a difference can be read.
	sed 's/,"/,\n"/g; s/{"/{\n"/g' "$work/raw" >"$work/got"
else
	"$report" "$@" trace.bin >"$work/got" 2>&1 || code=$?
fi
echo "exit code $code" >>"$work/got"
if [ "${GPULEAK_ACCEPT:-}" = 1 ]; then
	mkdir -p "$folder"
	cp "$work/got" "$folder/$name.$form"
fi
diff -u "$folder/$name.$form" "$work/got"
