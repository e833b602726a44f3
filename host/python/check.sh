#!/bin/sh
# Installs this package into an environment of its own in a directory, as install.sh does, and checks it there:
#
#     check.sh DIRECTORY
#
# BACKBURNER_COMPONENT is the absolute path of the component's file, BACKBURNER_CONFORMANCE_KIT that of the host
# conformance kit, BACKBURNER_COMPOSED that of a component whose store is supplied by another one. What needs one of the
# last two is skipped without it, or fails where BACKBURNER_ALL_TESTS is 1. Nothing is written outside of the directory.
set -eu
sh "$(dirname "$0")/install.sh" "$1"
cd "$1/source"
../environment/bin/ruff check --no-cache .
../environment/bin/ruff format --no-cache --check .
# What is installed is what is tested.
rm -rf backburner_host
export XDG_CACHE_HOME="$(cd .. && pwd)/cache"

# Most tests wait for processes most of the time, so a process for each of these files takes a third of the time of one
# for all.
processes=
for file in tests/test_*.py; do
    module=$(basename "$file" .py)
    ../environment/bin/python -m unittest "tests.$module" >"../$module.log" 2>&1 &
    processes="$processes $module=$!"
done
failed=0
for process in $processes; do
    wait "${process#*=}" || failed=1
    echo "${process%=*}:"
    cat "../${process%=*}.log"
done
exit "$failed"
