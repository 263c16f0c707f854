#!/bin/sh
# Removes what install.sh put below a prefix: uninstall.sh [PREFIX], the one that it lies in if none is given.
# It goes by the list share/tiga/installed.txt: the files, and of the folders that were made those that are empty then.
set -euf
unset CDPATH

if [ $# -eq 0 ]; then
    prefix=$(cd -- "$(dirname -- "$0")/../.." && pwd -P)
elif [ $# -eq 1 ] && [ -n "$1" ] && [ "${1#-}" = "$1" ]; then
    prefix=$(cd -- "$1" && pwd -P)
else
    sed -n '2,3s/^# //p' "$0" >&2
    exit 2
fi
list=$prefix/share/tiga/installed.txt
if ! [ -f "$list" ]; then
    printf 'uninstall.sh: nothing is installed in %s: no share/tiga/installed.txt\n' "$prefix" >&2
    exit 1
fi
lines=$(cat -- "$list")
cd /

# Tries them from the inside out; what is done with those that are not empty, `$1` says. Folders above the prefix are
# removed only where they were made: one that it was moved into since is another's.
folders() {
    printf '%s\n' "$lines" | sed -n 's/^folder //p' | LC_ALL=C sort -r | while IFS= read -r folder; do
        if [ -d "$prefix/$folder" ]; then rmdir -- "$prefix/$folder" 2> /dev/null || "$1" "$prefix/$folder"; fi
    done
    printf '%s\n' "$lines" | sed -n 's/^made //p' | LC_ALL=C sort -r | while IFS= read -r folder; do
        case $prefix/ in
        "$folder"/*) rmdir -- "$folder" 2> /dev/null || "$1" "$folder" ;;
        esac
    done
}
kept() {
    printf 'uninstall.sh: %s is left, it is not empty\n' "$1" >&2
}
# This script and the list go last, so that what breaks off can be repeated.
printf '%s\n' "$lines" | sed -n 's/^file //p' | while IFS= read -r file; do
    case $file in
    share/tiga/uninstall.sh | share/tiga/installed.txt) ;;
    *) rm -f -- "$prefix/$file" ;;
    esac
done
folders :
rm -f -- "$prefix/share/tiga/uninstall.sh" "$list"
folders kept
printf 'removed from %s\n' "$prefix"
