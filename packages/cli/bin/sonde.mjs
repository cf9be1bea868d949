#!/usr/bin/env node
// Starts the command. A published package has no sources and runs what was built; a clone runs its sources.

import { existsSync } from 'node:fs'

/** How soon it is seen that the shell of npx is gone. Unit: milliseconds. */
const LOOK_MS = 250

// npx starts a shell, and that this program. A signal to npx ends both and does not come here: that the shell is gone
// stands for it.
if (process.env.npm_lifecycle_event === 'npx') {
  const shell = process.ppid
  const timer = setInterval(() => {
    if (process.ppid === shell) return
    clearInterval(timer)
    process.kill(process.pid, 'SIGTERM')
  }, LOOK_MS)
  timer.unref()
}

const isClone = existsSync(new URL('../src/main.ts', import.meta.url))
await import(new URL(isClone ? '../../../scripts/sonde.mjs' : '../dist/main.js', import.meta.url).href)
