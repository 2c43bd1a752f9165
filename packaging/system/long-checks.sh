# The checks of packaging/system/long-test, which sources this file and has started the machine.

# Who a script is, what it may write, and that its own sandbox and control group work under the restrictions of the unit.
check_confinement() {
	local said
	said=$(call "$socket" surroundings | text)
	[[ $said =~ user\ [1-9] ]] || fail "a script runs as root: $said"
	[[ $said == *'project read-only'* ]] || fail "a script can change the project: $said"
	[[ $said == *'state writable'* ]] || fail "a script cannot write its state: $said"
	[[ $said == *mcp-bash@notes.service/mcp-bash.*/call.* ]] || fail "a call has no control group of its own: $said"
	said=$(call "$socket" boxed)
	# In mode `strict` it would not run if a promise could not be kept.
	[[ $(text <<<"$said") == *'hidden'*'no network'* ]] || fail "the sandbox does not hold: $said"
}

# Secrets and the file of tokens come from credentials of systemd.
check_credentials() {
	local token status
	token=$(inside mcp-bash token new ada --file /etc/mcp-bash/notes.tokens 2>/dev/null | grep -o 'mcpb_[A-Za-z0-9_-]*' | head -1)
	install -m 600 /dev/stdin "$files/etc/mcp-bash/notes.github" <<<'swordfish-1234'
	mkdir -p "$files/etc/systemd/system/mcp-bash@notes.service.d"
	cat >"$files/etc/systemd/system/mcp-bash@notes.service.d/credentials.conf" <<-'END'
		[Service]
		LoadCredential=github:/etc/mcp-bash/notes.github
		LoadCredential=tokens:/etc/mcp-bash/notes.tokens
		Environment=MCPBASH_HTTP_TOKENS=%d/tokens
	END
	inside systemctl daemon-reload
	inside systemctl restart mcp-bash@notes.service
	status=$(curl --silent --max-time 120 --unix-socket "$files$socket" --output /dev/null --write-out '%{http_code}' -X POST http://localhost/mcp)
	[ "$status" = 401 ] || fail "without a token it answers $status"
	[ "$(call "$socket" secret -H "Authorization: Bearer $token" | text)" = '14 characters: ***' ] ||
		fail "the secret: $(call "$socket" secret -H "Authorization: Bearer $token")"
	rm "$files/etc/systemd/system/mcp-bash@notes.service.d/credentials.conf"
	inside systemctl daemon-reload
	inside systemctl restart mcp-bash@notes.service
}

# A call that runs when the service is stopped is answered: systemd must not signal its script.
check_stop() {
	local calling state=$files/var/lib/private/mcp-bash/notes tries=0
	call "$socket" surroundings >/dev/null
	rm -f "$state/started" "$state/go"
	mkfifo -m 666 "$state/started" "$state/go"
	call "$socket" slow >"$WORK/answer" &
	calling=$!
	cat "$state/started" >/dev/null
	inside systemctl stop --no-block mcp-bash@notes.service
	while [ "$(inside systemctl show --property=SubState --value mcp-bash@notes.service)" = running ]; do
		tries=$((tries + 1))
		[ "$tries" -lt 1000 ] || fail 'the service does not begin to stop'
	done
	# Opened for both, because nobody may be left to read it.
	echo 1<>"$state/go"
	wait "$calling" || true
	[ "$(text <"$WORK/answer")" = finished ] || fail "an open call ends with: $(cat "$WORK/answer")"
}

# A server that is killed leaves no script behind, and the next client finds another server.
check_kill() {
	local calling state=$files/var/lib/private/mcp-bash/notes before
	call "$socket" surroundings >/dev/null
	before=$(inside systemctl show --property=MainPID --value mcp-bash@notes.service)
	call "$socket" slow >"$WORK/answer" &
	calling=$!
	cat "$state/started" >/dev/null
	inside systemctl kill --kill-whom=main --signal=KILL mcp-bash@notes.service
	wait "$calling" || true
	[[ $(call "$socket" surroundings | text) == *'state writable'* ]] || fail 'it does not come back after it was killed'
	[ "$(inside systemctl show --property=MainPID --value mcp-bash@notes.service)" != "$before" ] || fail 'it was not killed'
	! inside sh -c 'grep -l tools/slo[w] /proc/[0-9]*/cmdline' 2>/dev/null || fail 'a script outlives its server'
}

# The unit of a user serves with that user's permissions.
check_user_unit() {
	local home=$files/home/ada user said
	user=$(inside id --user ada)
	mkdir "$home/mcp-bash"
	cp -R packaging/system/project "$home/mcp-bash/notes"
	chmod -R go-w "$home/mcp-bash"
	chown -R "$user:$user" "$home/mcp-bash"
	inside loginctl enable-linger ada
	inside systemctl start "user@$user.service"
	inside systemctl --user --machine=ada@ enable --quiet --now mcp-bash@notes.socket
	said=$(call "/run/user/$user/mcp-bash/notes.sock" surroundings | text)
	[[ $said == *"user $user"*mcp-bash@notes.service/mcp-bash.*/call.* ]] || fail "the unit of a user: $said"
	said=$(call "/run/user/$user/mcp-bash/notes.sock" boxed)
	[[ $(text <<<"$said") == *'hidden'*'no network'* ]] || fail "the sandbox under the unit of a user: $said"
}

# An upgrade replaces servers that run; removal stops them and leaves nothing but what the administrator made.
check_upgrade_and_removal() {
	local before
	call "$socket" surroundings >/dev/null
	before=$(inside systemctl show --property=MainPID --value mcp-bash@notes.service)
	inside dpkg --install /root/mcp-bash.deb >"$WORK/said" 2>&1 || fail "dpkg: $(cat "$WORK/said")"
	[ "$(inside systemctl show --property=MainPID --value mcp-bash@notes.service)" != "$before" ] || fail 'an upgrade leaves the old server'
	call "$socket" surroundings >/dev/null || fail 'it does not serve after an upgrade'
	inside dpkg --remove mcp-bash >"$WORK/said" 2>&1 || fail "dpkg: $(cat "$WORK/said")"
	! inside systemctl is-active --quiet mcp-bash@notes.service mcp-bash@notes.socket || fail 'removal leaves a server'
	inside dpkg --purge mcp-bash >"$WORK/said" 2>&1 || fail "dpkg: $(cat "$WORK/said")"
	[ ! -e "$files/var/cache/private/mcp-bash" ] || fail 'purging leaves the cache'
	[ -d "$files/srv/mcp-bash/notes" ] && [ -d "$files/var/lib/private/mcp-bash/notes" ] || fail 'purging takes what is not ours'
}
