#!/bin/sh
# Installs mcp-bash, which is one file, into ~/.local/bin or the folder that you name:
#
#   curl -fsSL @REPOSITORY@/releases/latest/download/install.sh | sh
#
# It downloads the archive for this machine, checks its signature and checksum, and puts the program in place in one step. It needs no
# root and changes no other file. To uninstall, remove the file.
#
# Only the last line does anything, so that a part of this script does nothing.
set -eu

version='@VERSION@'
repository='@REPOSITORY@'
# The keys that may sign a release, as `ssh-keygen -Y verify` reads them.
signers='@SIGNERS@'

to='' work='' new='' dry=''

usage() {
	cat <<'END'
Installs mcp-bash into a folder. Usage: install.sh [OPTIONS]

  --to DIR      the folder; ~/.local/bin if none is named
  --version V   this version instead of the one that this script came with
  --dry-run     say what would be done, and do nothing
  --help        this text

MCPBASH_INSTALL_BASE_URL is the address of a mirror, which has the files of a release at /vVERSION/.
END
}

say() {
	printf 'mcp-bash: %s\n' "$*"
}

refuse() {
	printf 'mcp-bash: %s\n' "$*" >&2
	exit 1
}

misused() {
	printf 'mcp-bash: %s; --help lists the options\n' "$*" >&2
	exit 2
}

has() {
	command -v "$1" >/dev/null 2>&1
}

cleaned() {
	[ -z "$new" ] || rm -f "$new"
	[ -z "$work" ] || rm -rf "$work"
}

read_options() {
	while [ $# -gt 0 ]; do
		case $1 in
		--to | --version)
			[ -n "${2-}" ] || misused "$1 needs a value"
			case $1 in
			--to) to=$2 ;;
			--version) version=${2#v} ;;
			esac
			shift
			;;
		--to=*) to=${1#*=} ;;
		--version=*) version=${1#*=} version=${version#v} ;;
		--dry-run) dry=1 ;;
		--help | -h) usage && exit 0 ;;
		*) misused "unknown option: $1" ;;
		esac
		shift
	done
	case $version in
	[0-9]*) ;;
	*) misused "there is no version '$version'" ;;
	esac
	case $version in
	*[!0-9A-Za-z.+-]*) misused "there is no version '$version'" ;;
	esac
	if [ -z "$to" ]; then
		[ -n "${HOME:-}" ] || misused 'HOME is not set; name a folder with --to'
		to=$HOME/.local/bin
	fi
	case $to in
	/*) ;;
	*) to=$(pwd)/$to ;;
	esac
}

# The name of the build for this machine.
find_target() {
	system=$(uname -s) machine=$(uname -m)
	case $system/$machine in
	Linux/x86_64 | Linux/amd64) target=x86_64-unknown-linux-musl ;;
	Linux/aarch64 | Linux/arm64) target=aarch64-unknown-linux-musl ;;
	Darwin/x86_64 | Darwin/arm64) target=universal-apple-darwin ;;
	*) refuse "there is no build for $system on $machine; $repository says how to build it" ;;
	esac
}

# The address of the files. Without TLS only this machine is asked.
find_base() {
	base=${MCPBASH_INSTALL_BASE_URL:-$repository/releases/download}
	base=${base%/}
	case $base in
	*@*) refuse "$base names a user; write an address without one" ;;
	https://*) protocols='=https' ;;
	http://127.0.0.1[:/]* | http://localhost[:/]*) protocols='=http,https' ;;
	*) refuse "$base is not an https address" ;;
	esac
}

# Refuses a folder that cannot be written before anything is downloaded.
check_folder() {
	[ ! -d "$to/mcp-bash" ] || refuse "$to/mcp-bash is a folder; name another place with --to"
	above=$to
	while [ ! -e "$above" ] && [ ! -L "$above" ]; do
		above=${above%/*}
		above=${above:-/}
	done
	if [ ! -d "$above" ] || [ ! -w "$above" ]; then
		refuse "$above is not a folder that you may write to; name another one with --to"
	fi
}

# Downloads a file completely, or refuses.
download() {
	if has curl; then
		curl --fail --silent --show-error --location --proto "$protocols" --proto-redir "$protocols" --connect-timeout 20 \
			--speed-limit 1 --speed-time 60 --output "$work/$1" "$base/v$version/$1" || refuse "$base/v$version/$1 cannot be downloaded"
	elif has wget; then
		# Without -T, which makes the wget of busybox 1.35 crash.
		wget -q -t 1 -O "$work/$1" "$base/v$version/$1" || refuse "$base/v$version/$1 cannot be downloaded"
	else
		refuse 'curl or wget is needed to download; install one of them'
	fi
}

# The list of checksums must be signed by a key of this project, if this machine has a tool to tell.
check_signature() {
	# Older ones do not know `-Y verify`; those that do ask for its arguments.
	if ! has ssh-keygen || ! ssh-keygen -Y verify 2>&1 | grep -q 'Too few arguments'; then
		say 'the signature is not checked, only the checksum: ssh-keygen of OpenSSH 8.1 or later is missing'
		return
	fi
	download SHA256SUMS.sig
	printf '%s\n' "$signers" >"$work/signers"
	ssh-keygen -Y verify -f "$work/signers" -I mcp-bash-release -n mcp-bash-release -s "$work/SHA256SUMS.sig" \
		<"$work/SHA256SUMS" >"$work/verdict" 2>&1 || refuse "the signature of SHA256SUMS is wrong: $(cat "$work/verdict"); nothing is installed"
}

sum() {
	if has sha256sum; then
		sha256sum <"$1"
	elif has shasum; then
		shasum -a 256 <"$1"
	elif has openssl; then
		openssl dgst -sha256 -r <"$1"
	else
		refuse 'sha256sum, shasum or openssl is needed to check the download; install one of them'
	fi
}

check_checksum() {
	expected=$(awk -v name="$archive" '$2 == name { print $1 }' "$work/SHA256SUMS")
	[ "${#expected}" -eq 64 ] || refuse "SHA256SUMS has no checksum of $archive; nothing is installed"
	found=$(sum "$work/$archive")
	found=${found%% *}
	[ "$found" = "$expected" ] || refuse "the checksum of $archive is $found and should be $expected; nothing is installed"
}

# Takes the program out of the archive, which may contain nothing but files and folders below its own name.
unpack() {
	root=${archive%.tar.gz}
	tar -tzf "$work/$archive" >"$work/names" || refuse "$archive cannot be read; nothing is installed"
	tar -tvzf "$work/$archive" >"$work/kinds" || refuse "$archive cannot be read; nothing is installed"
	while IFS= read -r name; do
		case /$name/ in
		*/../*) refuse "$archive contains $name; nothing is installed" ;;
		"/$root/"*) ;;
		*) refuse "$archive contains $name; nothing is installed" ;;
		esac
	done <"$work/names"
	while IFS= read -r kind; do
		case $kind in
		-*' link to '* | -*' -> '*) refuse "$archive contains a link; nothing is installed" ;;
		-* | d*) ;;
		*) refuse "$archive contains what is neither a file nor a folder; nothing is installed" ;;
		esac
	done <"$work/kinds"
	tar -xzf "$work/$archive" -C "$work" "$root/mcp-bash" || refuse "$archive does not contain the program"
	[ -f "$work/$root/mcp-bash" ] || refuse "$archive does not contain the program"
}

# The program appears in one step, after it has run.
put_in_place() {
	mkdir -p "$to" || refuse "$to cannot be made; name another folder with --to"
	new=$(mktemp "$to/.mcp-bash.XXXXXX") || refuse "$to cannot be written; name another folder with --to"
	cat "$work/$root/mcp-bash" >"$new" || refuse "$to cannot be written; is there room?"
	chmod 755 "$new"
	printed=$("$new" --version) || refuse "the program does not run on this machine; nothing is installed"
	[ "$printed" = "mcp-bash $version" ] || refuse "the program is '$printed' and not version $version; nothing is installed"
	mv -f "$new" "$to/mcp-bash" || refuse "$to/mcp-bash cannot be replaced"
	new=''
}

tell() {
	say "$to/mcp-bash is version $version"
	case :${PATH:-}: in
	*":$to:"*) ;;
	*) say "add this line to the startup file of your shell: export PATH=\"$to:\$PATH\"" ;;
	esac
	say "to uninstall: rm '$to/mcp-bash'"
}

main() {
	read_options "$@"
	find_target
	find_base
	archive=mcp-bash-$version-$target.tar.gz
	if [ -n "$dry" ]; then
		say "would download $base/v$version/$archive, check it, and install $to/mcp-bash"
		return
	fi
	check_folder
	trap cleaned EXIT
	trap 'exit 130' INT
	trap 'exit 143' HUP TERM
	work=$(mktemp -d) || refuse 'there is no folder for temporary files; set TMPDIR'
	download SHA256SUMS
	check_signature
	download "$archive"
	check_checksum
	unpack
	put_in_place
	tell
}

main "$@"
