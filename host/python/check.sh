#!/bin/sh
# Installs this package into a new environment in a directory, and runs its tests there:
#
#     check.sh DIRECTORY
#
# BACKBURNER_COMPONENT is the absolute path of the component's file, BACKBURNER_CONFORMANCE_KIT that of the host
# conformance kit; without the kit the tests that need it are skipped. Nothing is written outside of the directory.
set -eu
: "${BACKBURNER_COMPONENT:?has to name the component file}"
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$1"
cd "$1"
rm -rf source
cp -R "$here" source
[ -d environment ] || python3 -m venv environment
environment/bin/python -m pip install --quiet --disable-pip-version-check ./source
# What is installed is what is tested.
rm -rf source/backburner_host
export XDG_CACHE_HOME="$PWD/cache"
cd source

# A server that is told nothing leaves the compiled component in the cache. Else every process below would begin with
# compiling it, all at the same time.
../environment/bin/python -m backburner_host --data-dir ../first </dev/null

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
