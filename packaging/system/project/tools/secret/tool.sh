#!/bin/bash
echo "${#GITHUB_TOKEN} characters: $GITHUB_TOKEN"
