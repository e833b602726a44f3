#!/bin/sh
# Installs this package into an environment of its own in a directory, with what its tests need:
#
#     install.sh DIRECTORY
#
# BACKBURNER_COMPONENT is the absolute path of the component's file, whose compiled form is left in DIRECTORY/cache. Nothing
# is written outside of the directory.
set -eu
: "${BACKBURNER_COMPONENT:?has to name the component file}"
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$1"
cd "$1"
rm -rf source
cp -R "$here" source
# What an earlier build left beside the sources: it would be installed, too.
rm -rf source/build source/*.egg-info
# The note says what the environment is for, and is there only where it is whole: after one that was interrupted, or
# another version, it is made anew.
cmp -s source/pyproject.toml installed || python3 -m venv --clear environment
rm -f installed
environment/bin/python -m pip install --quiet --disable-pip-version-check './source[check]'
cp source/pyproject.toml installed

# A server that is told nothing leaves the compiled component in the cache. Else the first ones that are started at the
# same time would all begin with compiling it.
XDG_CACHE_HOME="$PWD/cache" environment/bin/python -m backburner_host --data-dir first </dev/null
