#!/bin/sh
# Removes what install.sh put here, by its list installed.txt beside this file: the files, and of the folders that it
# made those that are empty then.
set -eu
prefix=$(cd "$(dirname "$0")/../.." && pwd)
list=$(cat "$prefix/share/tiga/installed.txt")
cd /

echo "$list" | sed -n 's/^file //p' | while read -r file; do
    rm -f "$prefix/$file"
done
kept() {
    if [ -d "$1" ]; then echo "uninstall.sh: $1 is left, it is not empty" >&2; fi
}
echo "$list" | sed -n 's/^folder //p' | LC_ALL=C sort -r | while read -r folder; do
    rmdir "$prefix/$folder" 2> /dev/null || kept "$prefix/$folder"
done
above=$(echo "$list" | sed -n 's/^above //p')
folder=$prefix
while [ "$above" -gt 0 ]; do
    rmdir "$folder" 2> /dev/null || kept "$folder"
    folder=$(dirname "$folder")
    above=$((above - 1))
done
echo "removed from $prefix"
