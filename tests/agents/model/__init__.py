"""A scripted model on loopback: it speaks the streaming APIs of the providers, and needs no network and no account."""
