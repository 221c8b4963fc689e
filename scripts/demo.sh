#!/usr/bin/env bash
# Sets up, trains a script that leaks GPU memory, and shows what gpuleak says about it.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

case ${1:-} in
"") ;;
-h | --help)
	echo "usage: scripts/demo.sh"
	echo "Trains docs/examples/train.py on the GPU or, without one, the simulated GPU."
	exit 0
	;;
*) echo "usage: scripts/demo.sh" >&2; exit 2 ;;
esac

# A Python on this machine whose PyTorch reaches a GPU.
python_with_gpu() {
	local python

	for python in ${PYTHON:-} python3 python; do
		if "$python" -c '
import torch
raise SystemExit(not torch.cuda.is_available())' 2>/dev/null; then
			command -v "$python"
			return
		fi
	done
	return 1
}

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
if python=$(python_with_gpu); then
	scripts/setup.sh --no-torch
	command=(build/gpuleak run -- "$python" docs/examples/train.py)
else
	scripts/setup.sh
	command=(build/gpuleak run --sim -- build/venv/bin/python docs/examples/train.py)
	echo "demo: no PyTorch with a GPU here, so the training runs on the simulated one" >&2
fi

printf '\n$ %s\n' "${command[*]}"
status=0
GPULEAK_OUT=$folder/trace.bin "${command[@]}" || status=$?
if [ "$status" = 101 ]; then
	printf '\nThe exit code, %d, is that of a leak (100 + that of gpuleak-report).\n' "$status"
	exit 0
fi
echo "demo: exit code $status, where a leak's, 101, was expected" >&2
exit 1
