#!/bin/sh
# install.sh PYTHON ENVIRONMENT WHEELS - a fresh virtual environment with the wheel of the folder in it.
# SPDX-License-Identifier: Apache-2.0
set -eu
"$1" -m venv --clear --system-site-packages "$2"
"$2/bin/python" -m pip install --quiet --disable-pip-version-check --no-index --no-deps "$3"/steno-*.whl
