#!/bin/sh
# Installs kubectl-kai @VERSION@ into a folder (~/.local/bin, or the one given): downloads its archive, and unpacks it only
# if it is the very one that this script was published with.
set -eu
url=${KAI_URL:-@URL@}
folder=${1:-$HOME/.local/bin}
case "$(uname -s)-$(uname -m)" in
    @SYSTEM@) archive=@ARCHIVE@ sum=@SUM@ ;;
    *) echo "install: there is no archive for $(uname -s) on $(uname -m); build it: cargo install --path cli" >&2; exit 1 ;;
esac
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
if command -v curl >/dev/null; then curl -fsSL -o "$work/archive" "$url/$archive"
elif command -v wget >/dev/null; then wget -q -O "$work/archive" "$url/$archive"
else echo "install: needs curl or wget" >&2; exit 1
fi
if command -v sha256sum >/dev/null; then got=$(sha256sum <"$work/archive"); else got=$(shasum -a 256 <"$work/archive"); fi
got=${got%% *}
if [ "$got" != "$sum" ]; then
    echo "install: $url/$archive is not what was published; nothing was installed" >&2
    echo "install: its SHA-256 is $got and should be $sum" >&2
    exit 1
fi
tar -xzf "$work/archive" -C "$work"
mkdir -p "$folder"
for name in kubectl-kai kubectl_complete-kai; do
    # A copy beside it and a rename: a program that runs keeps its own file.
    cp "$work/$name" "$folder/.$name.new"
    chmod 755 "$folder/.$name.new"
    mv -f "$folder/.$name.new" "$folder/$name"
done
echo "installed kubectl-kai @VERSION@ in $folder"
case ":$PATH:" in *":$folder:"*) ;; *) echo "install: put $folder into PATH, so that kubectl finds it" >&2 ;; esac
