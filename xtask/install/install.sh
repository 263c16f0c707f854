#!/bin/sh
# Installs Tiga below a folder: ./install.sh [PREFIX], /usr/local if none is given.
# PREFIX/share/tiga/uninstall.sh undoes it; installing again replaces what an earlier installation put there.
set -euf
umask 022
unset CDPATH

refuse() {
    printf 'install.sh: %s\n' "$1" >&2
    exit 1
}
given=${1-/usr/local}
if [ $# -gt 1 ] || [ "${given#-}" != "$given" ]; then
    sed -n '2,3s/^# //p' "$0" >&2
    exit 2
fi
[ -n "$given" ] || refuse "the prefix is empty: name a folder"
# Without links, `.` and `..`, so that its parents are the folders that are made, and can be told when it is removed.
prefix=$(realpath -m -- "$given")
# It goes into a TOML string by sed, and into a list by lines.
case $given$prefix in
*[\|\&\\\"[:cntrl:]]*) refuse "a prefix without | & \\, quotes and control characters, please: $prefix" ;;
esac
cd -- "$(dirname -- "$0")/"

# The script that undoes comes first: what breaks off can be undone with it.
undo=share/tiga/uninstall.sh
files="$undo $(find bin lib include share ! -type d ! -path "$undo" | LC_ALL=C sort)"
folders=$(find bin lib include share -type d | LC_ALL=C sort)
list=$prefix/share/tiga/installed.txt
old=
if [ -f "$list" ]; then old=$(cat -- "$list"); fi

# Before anything is changed: nothing of others may be in the way.
for file in $files; do
    if [ -e "$prefix/$file" ] || [ -L "$prefix/$file" ]; then
        if [ -d "$prefix/$file" ] || ! printf '%s\n' "$old" | grep -qxF -- "file $file"; then
            refuse "$prefix/$file is there, but not of an installation of Tiga: nothing is installed"
        fi
    fi
done
for folder in $folders; do
    if [ -e "$prefix/$folder" ] && ! [ -d "$prefix/$folder" ]; then
        refuse "$prefix/$folder is there, but is no folder: nothing is installed"
    fi
done

if [ -n "$old" ]; then sh "$undo" "$prefix"; fi

# The list stands before the first file does. Folders of an earlier installation that something else has kept are still
# Tiga's to remove; `made` are the prefix and those above it, where they were when they were made.
lines=$(
    printf '%s\n' "$old" | while IFS= read -r line; do
        case $line in
        'made '*) folder=${line#made } ;;
        'folder '*) folder=$prefix/${line#folder } ;;
        *) continue ;;
        esac
        if [ -d "$folder" ]; then printf '%s\n' "$line"; fi
    done
    folder=$prefix
    while ! [ -d "$folder" ]; do
        printf 'made %s\n' "$folder"
        folder=$(dirname -- "$folder")
    done
    for folder in $folders; do
        if ! [ -d "$prefix/$folder" ]; then printf 'folder %s\n' "$folder"; fi
    done
    printf 'file %s\n' $files share/tiga/installed.txt
)
mkdir -p -- "$prefix/share/tiga"
printf '%s\n' "$lines" > "$list"

(cd -- "$prefix" && mkdir -p -- $folders)
for file in $files; do
    if [ -L "$file" ]; then
        cp -P -- "$file" "$prefix/$file"
        continue
    fi
    # By kind: what a private folder was unpacked to is for all nevertheless.
    case $file in
    bin/* | *.sh) mode=755 ;;
    *) mode=644 ;;
    esac
    install -p -m "$mode" -- "$file" "$prefix/$file"
done
cargo=share/tiga/examples/embed/rust/Cargo.toml
sed "s|@PREFIX@|$prefix|" "$cargo" > "$prefix/$cargo"
printf 'installed in %s\n' "$prefix"
