#!/usr/bin/env bash
# From a clone to the built programs in build/: see usage() below.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

usage() {
	cat <<'END'
usage: scripts/setup.sh [--tests] [--torch VERSION]... [--no-torch]

Installs what is missing and builds gpuleak into build/. Can be run at any time, again and again.

  --tests          also install and build what scripts/test.sh needs, with all three PyTorch
                   versions as far as a Python for them is or can be installed; warnings
                   become errors
  --torch VERSION  also make build/venv-VERSION with that PyTorch (2.15.0, 2.8.0 or 2.2.2)
  --no-torch       no Python environment, for a machine that has its own PyTorch
  -h, --help       this text

System packages come by apt-get, as root or with sudo; without the right to install, their names
are printed. PyTorch goes into ${XDG_CACHE_HOME:-~/.cache}/gpuleak and is linked as build/venv.
PYTHON names the Python to use.
END
}

tests=false
torch=true
versions=()
older=(2.8.0 2.2.2)	# tested beside 2.15.0
while [ $# -gt 0 ]; do
	case $1 in
	--tests) tests=true ;;
	--no-torch) torch=false ;;
	--torch)
		if ! [ -f "scripts/requirements-${2:-}.txt" ]; then
			echo "setup: --torch ${2:-}: no scripts/requirements-${2:-}.txt" >&2
			exit 2
		fi
		versions+=("$2")
		shift
		;;
	-h | --help) usage; exit 0 ;;
	*) usage >&2; exit 2 ;;
	esac
	shift
done

cache=${XDG_CACHE_HOME:-${HOME:?}/.cache}/gpuleak
started=$SECONDS
missing=()	# Debian packages
python=		# set by find_python

say() { printf 'setup: %s\n' "$*" >&2; }
fail() { say "$*"; exit 1; }
on_terminal() { [ -t 2 ]; }

# Runs a command whose output matters only when it fails; a terminal gets it as it comes.
quietly() {
	local log status=0

	if on_terminal; then
		"$@" >&2
		return
	fi
	log=$(mktemp)
	"$@" >"$log" 2>&1 || status=$?
	[ "$status" = 0 ] || tail -n 60 "$log" >&2
	rm -f "$log"
	return "$status"
}

# System packages.

want_program() { command -v "$1" >/dev/null || missing+=("$2"); }

want_header() { echo "#include <$1>" | cc -E - >/dev/null 2>&1 || missing+=("$2"); }

# A Python in the range that the requirements of PyTorch $1 name; nothing when there is none.
find_python() {
	local low high name

	read -r low high < <(sed -n 's/^# python: //p' "scripts/requirements-$1.txt")
	for name in ${PYTHON:-} python3 python3.14 python3.13 python3.12 python3.11 python3.10 \
		python3.9; do
		command -v "$name" >/dev/null || continue
		if "$name" -c "
import sys
fits = lambda text: tuple(map(int, text.split('.')))
sys.exit(not fits('$low') <= sys.version_info[:2] <= fits('$high'))" 2>/dev/null; then
			"$name" -c 'import os, sys; print(os.path.realpath(sys.executable))'
			return
		fi
	done
}

# The default version, or an older one where this machine's Python is too old for it.
choose_torch() {
	local version

	[ -z "$(find_python 2.15.0)" ] || { echo 2.15.0; return; }
	for version in "${older[@]}"; do
		[ -z "$(find_python "$version")" ] || { echo "$version"; return; }
	done
}

# want_venv PYTHON
want_venv() {
	"$1" -c 'import ensurepip, venv' 2>/dev/null || missing+=("$(
		"$1" -c 'import sys; print("python%d.%d-venv" % sys.version_info[:2])')")
}

look_for_python() {
	local default

	default=$(choose_torch)
	if [ -z "$default" ]; then
		missing+=(python3 python3-venv)
		return
	fi
	python=$(find_python "$default")
	want_venv "$python"
}

# A Python for an older PyTorch beside this machine's, if the distribution has one.
look_for_older_python() {
	local version=$1 with low high minor

	with=$(find_python "$version")
	if [ -n "$with" ]; then
		want_venv "$with"
		return
	fi
	read -r low high < <(sed -n 's/^# python: //p' "scripts/requirements-$version.txt")
	for ((minor = ${high#3.}; minor >= ${low#3.}; minor--)); do
		if apt-cache show "python3.$minor" >/dev/null 2>&1; then
			missing+=("python3.$minor" "python3.$minor-venv")
			return
		fi
	done
}

look_for_packages() {
	local version

	missing=()
	want_program gcc gcc
	want_program cc gcc
	want_program make make
	want_program cmake cmake
	want_program flock util-linux
	want_header stdio.h libc6-dev
	want_header cjson/cJSON.h libcjson-dev
	want_header libunwind.h libunwind-dev
	if $tests; then
		want_program g++ g++
		want_program clang clang
		want_program clang-format clang-format
		want_program clang-tidy clang-tidy
		want_program cppcheck cppcheck
		want_program valgrind valgrind
		want_program readelf binutils
		want_program shellcheck shellcheck
		want_program strace strace
		want_program bindfs bindfs
		command -v mandoc >/dev/null || want_program groff groff
	fi
	look_for_python
	if $tests && $torch && [ "$(uname -m)" = x86_64 ]; then
		for version in "${older[@]}"; do
			look_for_older_python "$version"
		done
	fi
}

# The sanitizers' and libFuzzer's run-time is a package of its own, named by clang's version.
look_for_fuzzer() {
	local probe major

	missing=()
	$tests || return 0
	probe=$(mktemp -d)
	echo 'int LLVMFuzzerTestOneInput(const char *d, long n) { return d && n < 0; }' \
		>"$probe/probe.c"
	if ! clang -fsanitize=fuzzer,address "$probe/probe.c" -o "$probe/probe" 2>/dev/null; then
		major=$(clang -dumpversion | cut -d. -f1)
		if apt-cache show "libclang-rt-$major-dev" >/dev/null 2>&1; then
			missing=("libclang-rt-$major-dev")
		else
			missing=("libclang-common-$major-dev")
		fi
	fi
	rm -rf "$probe"
}

# What one test each needs; it skips without. After the package lists have been brought up to date.
look_for_extras() {
	missing=()
	! $tests || compgen -G '/usr/lib/*/libjemalloc.so.2' >/dev/null ||
		[ -e /usr/lib64/libjemalloc.so.2 ] ||
		! apt-cache show libjemalloc2 >/dev/null 2>&1 || missing+=(libjemalloc2)
}

install_missing() {
	local as_root=()

	[ ${#missing[@]} -gt 0 ] || return 0
	mapfile -t missing < <(printf '%s\n' "${missing[@]}" | sort -u)
	command -v apt-get >/dev/null ||
		fail "needs these packages (Debian's names), please install them: ${missing[*]}"
	if [ "$(id -u)" != 0 ]; then
		if ! command -v sudo >/dev/null ||
			{ ! [ -t 0 ] && ! sudo -n true 2>/dev/null; }; then
			fail "may not install; please run: apt-get install ${missing[*]}"
		fi
		as_root=(sudo)
	fi
	say "installs with apt-get: ${missing[*]}"
	as_root+=(env DEBIAN_FRONTEND=noninteractive apt-get -o DPkg::Lock::Timeout=300)
	quietly "${as_root[@]}" update ||
		say "apt-get update failed; tries to install all the same"
	quietly "${as_root[@]}" install -y --no-install-recommends "${missing[@]}" ||
		fail "apt-get could not install: ${missing[*]}"
}

set_up_packages() {
	local version

	look_for_packages
	install_missing
	look_for_fuzzer
	install_missing
	look_for_extras
	(install_missing) || say "goes on without ${missing[*]}: a test is skipped"
	look_for_packages
	[ ${#missing[@]} = 0 ] || fail "still missing after the installation: ${missing[*]}"
	version=$(cmake --version | awk 'NR == 1 { print $3 }')
	[ "$(printf '%s\n' 3.22 "$version" | sort -V | head -n 1)" = 3.22 ] ||
		fail "needs CMake 3.22 or newer; this one is $version"
}

# Python with PyTorch.

# locked FILE COMMAND...: two setups at once take turns. The lock ends with the process, however
# that ends.
locked() {
	local file=$1

	shift
	(
		flock -n 9 || {
			say "waits for another setup (${file##*/})"
			flock 9
		}
		"$@" 9>&-
	) 9>"$file"
}

# An environment counts once this file is in it; without it the installation was cut short.
venv_complete() { [ -e "$1/complete" ] && "$1/bin/python" -c '' 2>/dev/null; }

venv_fill() {
	local venv=$1 version=$2 with=$3 requirements=scripts/requirements-$2.txt room size

	! venv_complete "$venv" || return 0
	room=$(df -Pk "$cache" | awk 'NR == 2 { print int($4 / 1024) }')
	[ "$room" -ge 4000 ] || fail "PyTorch needs 4 GB free in $cache; there are $room MB"
	rm -rf "$venv"
	size=$(sed -n 's/^# download: //p' "$requirements")
	say "installs PyTorch $version into $venv, download $size: a minute or more"
	quietly "$with" -m venv "$venv"
	quietly "$venv/bin/python" -m pip --disable-pip-version-check \
		install --no-deps -r "$requirements" ||
		fail "pip could not install $requirements; run this again to go on"
	touch "$venv/complete"
}

# venv_name NAME PYTHON REQUIREMENTS...: the folder's name changes with what is to be in it.
venv_name() {
	local name=$1 with=$2

	shift 2
	echo "$cache/venv-$name-$({
		cat "$@"
		"$with" -c 'import sys; print(sys.version_info[:2], sys.base_prefix)'
	} | sha256sum | cut -c1-12)"
}

# The libraries that tests/real trains with; PyTorch and pip come from build/venv, by a line in a
# .pth.
real_fill() {
	local venv=$1 with=$2 requirements=scripts/requirements-real.txt room size

	! venv_complete "$venv" || return 0
	room=$(df -Pk "$cache" | awk 'NR == 2 { print int($4 / 1024) }')
	[ "$room" -ge 2000 ] ||
		fail "the training libraries need 2 GB free in $cache; there are $room MB"
	rm -rf "$venv"
	size=$(sed -n 's/^# download: //p' "$requirements")
	say "installs the training libraries of tests/real into $venv, download $size"
	quietly "$with" -m venv --without-pip "$venv"
	build/venv/bin/python -c '
import os, sysconfig
print(os.path.realpath(sysconfig.get_path("purelib")))' \
		>"$(echo "$venv"/lib/python*/site-packages)/pytorch.pth"
	quietly "$venv/bin/python" -m pip --disable-pip-version-check \
		install --no-deps -r "$requirements" ||
		fail "pip could not install $requirements; run this again to go on"
	touch "$venv/complete"
}

set_up_real() {
	local with venv

	with=$(find_python 2.15.0)
	venv=$(venv_name real "$with" scripts/requirements-real.txt scripts/requirements-2.15.0.txt)
	venv_complete "$venv" || locked "$venv.lock" real_fill "$venv" "$with"
	ln -sfn "$venv" build/venv-real
}

# What tests/torture runs beside the tracer: a folder for PYTHONPATH, since these programs run with
# build/venv's Python.
torture_fill() {
	local tools=$1 requirements=scripts/requirements-torture.txt

	[ ! -e "$tools/complete" ] || return 0
	rm -rf "$tools"
	say "installs tools of tests/torture into $tools, download $(
		sed -n 's/^# download: //p' "$requirements")"
	quietly build/venv/bin/python -m pip --disable-pip-version-check \
		install --no-deps --target "$tools" -r "$requirements" ||
		fail "pip could not install $requirements; run this again to go on"
	touch "$tools/complete"
}

set_up_torture() {
	local tools

	tools=$(venv_name torture "$(find_python 2.15.0)" scripts/requirements-torture.txt)
	[ -e "$tools/complete" ] || locked "$tools.lock" torture_fill "$tools"
	ln -sfn "$tools" build/torture-tools
}

# set_up_venv VERSION LINK
set_up_venv() {
	local version=$1 link=$2 requirements=scripts/requirements-$1.txt with venv

	with=$(find_python "$version")
	[ -n "$with" ] || fail "PyTorch $version needs a Python from $(
		sed -n 's/^# python: \(.*\) /\1 to /p' "$requirements"); set PYTHON to one"
	venv=$(venv_name "$version" "$with" "$requirements")
	mkdir -p "$cache" build
	venv_complete "$venv" || locked "$venv.lock" venv_fill "$venv" "$version" "$with"
	ln -sfn "$venv" "build/$link"
}

set_up_torch() {
	local default version

	$torch || return 0
	if [ "$(uname -m)" != x86_64 ]; then
		say "no PyTorch and no simulated GPU on $(uname -m): they need x86-64"
		return
	fi
	default=$(choose_torch)
	[ "$default" = 2.15.0 ] || say "PyTorch 2.15.0 needs a newer Python; takes $default"
	set_up_venv "$default" venv
	[ "$tests $default" != "true 2.15.0" ] || set_up_real
	[ "$tests $default" != "true 2.15.0" ] || set_up_torture
	! $tests || add_older_versions
	for version in ${versions[@]+"${versions[@]}"}; do
		set_up_venv "$version" "venv-$version"
	done
}

# The tests skip those that this machine has no Python for.
add_older_versions() {
	local version

	for version in "${older[@]}"; do
		if [ -n "$(find_python "$version")" ]; then
			versions+=("$version")
		else
			say "no Python here that PyTorch $version has a wheel for; its tests are skipped"
		fi
	done
}

# CUDA headers.

have_cuda_headers() { cmake -P cmake/FindCudaHeaders.cmake >/dev/null 2>&1; }

# From NVIDIA's Python packages, the headers alone.
fetch_cuda_headers() {
	local work

	! have_cuda_headers || return 0
	say "finds no CUDA toolkit; takes its headers from NVIDIA's Python packages, 14 MB"
	work=$(mktemp -d "$cache/cuda-headers.XXXXXX")
	quietly "$python" -m venv "$work/venv"
	if ! quietly "$work/venv/bin/python" -m pip --disable-pip-version-check download --no-deps \
		-d "$work/wheels" -r scripts/requirements-cuda-headers.txt; then
		rm -rf "$work"
		fail "pip could not download the CUDA headers"
	fi
	"$work/venv/bin/python" - "$work" <<'END'
import pathlib, sys, zipfile
work = pathlib.Path(sys.argv[1])
for wheel in sorted((work / "wheels").glob("*.whl")):
    with zipfile.ZipFile(wheel) as archive:
        for name in archive.namelist():
            _, inside, rest = name.partition("/include/")
            if not inside or not rest or name.endswith("/"):
                continue
            target = work / "new" / "include" / rest
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(archive.read(name))
END
	rm -rf "$cache/cuda-headers"
	mv "$work/new" "$cache/cuda-headers"
	rm -rf "$work"
	have_cuda_headers || fail "the CUDA headers in $cache/cuda-headers are not whole"
}

set_up_cuda_headers() {
	have_cuda_headers && return
	mkdir -p "$cache"
	locked "$cache/cuda-headers.lock" fetch_cuda_headers
}

# Build.

# What the tests need is sticky: once asked for, later runs leave it as it is.
build() {
	local options=()

	if $tests; then
		options=(-DGPULEAK_WERROR=ON -DBUILD_TESTING=ON)
	elif ! [ -e build/CMakeCache.txt ]; then
		options=(-DBUILD_TESTING=OFF)
	fi
	quietly cmake -S . -B build "${options[@]}" || fail "cmake could not configure build/"
	quietly cmake --build build --parallel "$(nproc)" || fail "the build failed"
}

set_up_packages
set_up_torch
set_up_cuda_headers
say "builds into build/"
mkdir -p build
locked build/setup.lock build
say "done in $((SECONDS - started)) s"
