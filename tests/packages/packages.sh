#!/usr/bin/env bash
# packages.sh BUILD WORK SOURCE VERSION - makes Debian packages of the build and uses what is in them.
# SPDX-License-Identifier: Apache-2.0
set -euo pipefail
build="$1" work="$2" source="$3" version="$4"

fail() {
  echo "packages: $*" >&2
  exit 1
}
rm -rf "$work"
mkdir -p "$work/root"
cpack -G DEB --config "$build/CPackConfig.cmake" -B "$work" > "$work/log" 2>&1 || { cat "$work/log" >&2; fail "cpack"; }

# What each says about itself.
field() { dpkg-deb --field "$work/$1"_*.deb "$2"; }
for name in steno steno-models steno-dev libsteno0 libsteno-dev; do
  [[ "$(field "$name" Package) $(field "$name" Version)" == "$name $version-1" ]] || fail "name or version of $name"
  dpkg-deb --extract "$work/$name"_*.deb "$work/root"
done
[[ "$(field steno Depends)" == *libsndfile1* ]] || fail "steno does not depend on its libraries"
[[ "$(field libsteno0 Depends)" == *libstdc++6* ]] || fail "libsteno0 does not depend on its libraries"
[[ "$(field libsteno-dev Depends)" == *"libsteno0 (= $version-1)"* ]] ||
  fail "libsteno-dev does not depend on libsteno0"
for name in steno-models steno-dev; do [[ "$(field $name Architecture)" == all ]] || fail "architecture of $name"; done
dpkg-deb --contents "$work"/libsteno0_*.deb | grep -q 'libsteno\.so$' && fail "libsteno0 has what is for linking"
dpkg-deb --contents "$work"/steno_*.deb | awk '$2 != "root/root" { bad = 1 } END { exit bad }' || fail "owners"

# The program finds its models, and has pages and completions.
said="$(env -i HOME="$work" "$work/root/usr/bin/steno" -q "$source/examples/audio/train.wav" < /dev/null)"
[[ "$said" == "the train to paris leaves in seven minutes" ]] || fail "steno wrote: $said"
"$work/root/usr/bin/steno" help models < /dev/null > /dev/null
[[ "$("$work/root/usr/bin/steno-convert" --version)" == *"$version"* ]] || fail "steno-convert --version"
for page in steno steno-transcribe steno-serve steno-convert steno-trace; do
  zcat "$work/root/usr/share/man/man1/$page.1.gz" | grep -q "^\.TH $page 1" || fail "no page $page(1)"
done
bash -n "$work/root/usr/share/bash-completion/completions/steno"
for file in zsh/vendor-completions/_steno fish/vendor_completions.d/steno.fish doc/steno/copyright \
  doc/libsteno0/changelog.gz; do
  [[ -s "$work/root/usr/share/$file" ]] || fail "no $file"
done

# A program in C, with what pkg-config says.
library="$(find "$work/root" -name libsteno.so)"
export PKG_CONFIG_PATH="${library%/*}/pkgconfig"
read -ra flags <<< "$(pkg-config --cflags --libs libsteno)"
printf '#include <steno/steno.h>\n#include <stdio.h>\nint main(void) { return puts(steno_version()) < 0; }\n' \
  > "$work/user.c"
"${CC:-cc}" -std=c11 "$work/user.c" -o "$work/user" "${flags[@]}"
[[ "$(LD_LIBRARY_PATH="${library%/*}" "$work/user")" == "$version" ]] || fail "the program in C"
echo "packages: all five are as they should be"
