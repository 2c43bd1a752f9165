#!/bin/sh
# Writes a certificate for this machine, its key, and the authority of our own that vouches for it: make-certificates.sh DIR
set -eu

[ $# -eq 1 ] || { echo "usage: make-certificates.sh DIR" >&2; exit 2; }
umask 077
mkdir -p "$1"
cd "$1"
new_key() { openssl ecparam -name prime256v1 -genkey -noout -out "$1"; }
new_key authority-key.pem
openssl req -x509 -new -key authority-key.pem -subj "/CN=client sessions" -days 30 -out authority.pem \
	-addext keyUsage=critical,keyCertSign
new_key key.pem
openssl req -new -key key.pem -subj "/CN=localhost" -out request.pem
cat >extensions <<'EOT'
subjectAltName = IP:127.0.0.1, DNS:localhost
basicConstraints = CA:FALSE
extendedKeyUsage = serverAuth
EOT
openssl x509 -req -in request.pem -CA authority.pem -CAkey authority-key.pem -CAcreateserial -days 30 \
	-extfile extensions -out certificate.pem 2>/dev/null
