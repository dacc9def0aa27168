# Begins a loop that is a program in Python: an empty folder of its own, the tools of FRINGEPIPE_BIN, and $python, which
# has NumPy and Pillow.
set -euo pipefail
top=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
export PATH=${FRINGEPIPE_BIN:-$top/bin}:$PATH PYTHONPATH=$top/tests LC_ALL=C
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
# shellcheck disable=SC2034 # the loops use it
if python3 -c 'import numpy, PIL' 2>/dev/null; then python=python3; else python=/usr/bin/python3; fi
