# shellcheck shell=bash disable=SC2154 # sourced by run
# In the set of options that stands for macOS, programs refuse what only GNU has. So all other topics prove that the SDK does
# without.
if [ -n "$tools" ]; then
	for words in 'readlink -m /' 'realpath -mz /' 'date -d now' 'stat -c %s /' 'sed -i s/a/b/ x' 'base64 -w0'; do
		sdk "$words </dev/null && echo accepted; :"
		check_match "bsd: $words" '*: illegal option -- *' "$err"
		check "bsd: $words is not run" "" "$out"
	done
	sdk 'timeout 1 true || :'
	check "bsd: a program that macOS lacks" "timeout: command not found" "$err"
	sdk 'printf abc | sed -n -e s/a/b/p; printf xyz | head -c 1'
	check "bsd: other options work" "bbcx" "$out"
fi
