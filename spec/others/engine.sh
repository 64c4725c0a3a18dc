#!/bin/sh
# Runs a script in an engine, for the runner conform: sh engine.sh COMMAND [ARG…]. Engines read files and no pipes,
# and print more than answers.
set -eu
home=$(mktemp -d)
trap 'rm -rf "$home"' EXIT
cat >"$home/lines"
LINES_FILE=$home/lines HOME=$home XDG_DATA_HOME=$home XDG_CONFIG_HOME=$home "$@" 2>/dev/null | grep -a '^{'
