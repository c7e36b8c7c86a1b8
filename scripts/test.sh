#!/usr/bin/env bash
# Installs what is missing, builds with -Werror and runs every test.
set -euo pipefail
cd "$(dirname "$0")/.."
cmake --preset dev
cmake --build --preset dev
ctest --preset dev
