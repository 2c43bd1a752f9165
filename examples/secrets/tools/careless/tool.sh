#!/usr/bin/env bash
echo "plain: $SIGNING_KEY"
echo "base64: $(printf %s "$SIGNING_KEY" | base64)"
echo "hex: $(printf %s "$SIGNING_KEY" | od -An -v -tx1 | tr -d ' \n')"
