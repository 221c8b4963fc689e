#!/bin/sh
# compare.sh BUILD_TRACE GPULEAK_REPORT FOLDER CASE text|json: report on a trace by name and
# compare with what FOLDER expects, exit code included.  GPULEAK_ACCEPT=1 writes it instead.
set -eu
build_trace=$1 report=$2 folder=$3 case=$4 form=$5
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

"$build_trace" "$case" "$work/trace.bin"
cd "$work" # so that the path in the report is the same everywhere
code=0
if [ "$form" = json ]; then
	"$report" --json trace.bin >"$work/raw" 2>&1 || code=$?
	# One field a line, so that a difference can be read.
	sed 's/,"/,\n"/g; s/{"/{\n"/g' "$work/raw" >"$work/got"
else
	"$report" trace.bin >"$work/got" 2>&1 || code=$?
fi
echo "exit code $code" >>"$work/got"
if [ "${GPULEAK_ACCEPT:-}" = 1 ]; then
	mkdir -p "$folder"
	cp "$work/got" "$folder/$case.$form"
fi
diff -u "$folder/$case.$form" "$work/got"
