#!/usr/bin/env bash
# The checks that need a real GPU: see usage() below.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

usage() {
	cat <<'END'
usage: scripts/gpu-check.sh FOLDER
       scripts/gpu-check.sh --pack

For a machine with an NVIDIA GPU, PyTorch 2.11 or newer and no network, in 5 minutes at most: runs the
demo and the corpus without the simulated GPU, compares totals with PyTorch's, measures the hook, and
writes summary.txt, summary.json and the reports to FOLDER. Takes the programs in build/, or builds them.

  --pack  on the machine where they were built: puts the libraries they need into build/lib, for a
          machine that has none

PYTHON names the Python with PyTorch (default python3). GPULEAK_CHECK_SIM=1 runs all of it on the
simulated GPU, to try this script. GPULEAK_CHECK_SECONDS (default 280) is the time it may take.

Exit: 0 all is well, 1 something failed or there was no time for it, 77 there is no GPU.
END
}

say() { echo "gpu-check: $*" >&2; }

# What a bare machine may lack; libc and its like are everywhere.
pack() {
	local program

	mkdir -p build/lib
	for program in build/gpuleak build/gpuleak-report; do
		ldd "$program" | awk '$1 ~ /cjson/ { print $3 }'
	done | sort -u | xargs -r cp -Lt build/lib
	for library in libunwind.so.8 liblzma.so.5; do
		ldconfig -p | awk -v name="$library" '$1 == name { print $NF; exit }' | xargs -r cp -Lt build/lib
	done
	ls build/lib
}

runs_here() { build/gpuleak --version && build/gpuleak-report --version; }

# The programs as they are, or with the libraries packed beside them, or built here.
find_programs() {
	runs_here >/dev/null 2>&1 && return
	if [ -d build/lib ]; then
		export LD_LIBRARY_PATH=$PWD/build/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
		runs_here >/dev/null 2>&1 && return
	fi
	say "build/ has no programs that run here; builds them"
	scripts/setup.sh --no-torch
	runs_here >/dev/null
}

case ${1:-} in
--pack) pack; exit ;;
-h | --help) usage; exit ;;
"" | -*) usage >&2; exit 2 ;;
esac
folder=$(mkdir -p "$1" && cd "$1" && pwd)

options=()
if [ "${GPULEAK_CHECK_SIM:-}" = 1 ]; then
	python=build/venv/bin/python
else
	python=${PYTHON:-python3}
	options=(--gpu)
	if ! "$python" -c '
import torch
raise SystemExit(not torch.cuda.is_available())' 2>/dev/null; then
		say "no GPU that $python's PyTorch can use"
		exit 77
	fi
fi
find_programs || { say "the programs could not be built"; exit 1; }
python=$(command -v "$python")
exec "$python" tests/gpu/check.py ${options[@]+"${options[@]}"} --build build --python "$python" \
	--seconds "${GPULEAK_CHECK_SECONDS:-280}" "$folder"
