#!/usr/bin/env bash
echo "This is a simple text response for testing."
