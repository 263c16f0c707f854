#!/bin/sh
# Installs Tiga below a folder: ./install.sh [PREFIX], /usr/local if none is given.
# PREFIX/share/tiga/uninstall.sh undoes it; installing again replaces what an earlier installation put there.
set -eu
umask 022

prefix=${1-/usr/local}
case $prefix in
-*) sed -n '2,3s/^# //p' "$0"; exit 2 ;;
/*) ;;
*) prefix=$(pwd)/$prefix ;;
esac
# The prefix goes into a TOML string by sed.
case $prefix in *[\|\&\\\"]*) echo "install.sh: a prefix without | & \\ and quotes, please: $prefix" >&2; exit 1 ;; esac
cd "$(dirname "$0")"

if [ -f "$prefix/share/tiga/installed.txt" ]; then
    sh "$prefix/share/tiga/uninstall.sh"
fi
files=$(find bin lib include share ! -type d | LC_ALL=C sort)
for file in $files; do
    if [ -e "$prefix/$file" ] || [ -L "$prefix/$file" ]; then
        echo "install.sh: $prefix/$file is there, but not of an installation of Tiga: nothing is installed" >&2
        exit 1
    fi
done

# The list stands before the first file does: an installation that breaks off can be undone. Folders that are made
# come from the outside in; those above the prefix are counted.
above=0
folder=$prefix
while [ ! -d "$folder" ]; do
    above=$((above + 1))
    folder=$(dirname "$folder")
done
list=$(
    echo "above $above"
    for folder in $(find bin lib include share -type d | LC_ALL=C sort); do
        [ -d "$prefix/$folder" ] || echo "folder $folder"
    done
    for file in $files share/tiga/installed.txt; do
        echo "file $file"
    done
)
mkdir -p "$prefix/share/tiga"
echo "$list" > "$prefix/share/tiga/installed.txt"

for folder in $(find bin lib include share -type d | LC_ALL=C sort); do
    mkdir -p "$prefix/$folder"
done
for file in $files; do
    cp -d --preserve=mode,timestamps "$file" "$prefix/$file"
done
cargo=share/tiga/examples/embed/rust/Cargo.toml
sed "s|@PREFIX@|$prefix|" "$cargo" > "$prefix/$cargo"
echo "installed in $prefix"
