#!/usr/bin/env node
// Starts the program for this machine, from the optional dependency that holds it.
import { findProgram } from './find-program.mjs'
import { run } from './run.mjs'

const found = findProgram()
if (found.problem) {
  console.error(`mcp-bash: ${found.problem}`)
  process.exitCode = 1
} else {
  run(found.program, process.argv.slice(2))
}
