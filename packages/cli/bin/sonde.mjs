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

/** The oldest Node that works, as `engines` of the manifest says. In a clone the Node that it installed runs it. */
const OLDEST = { major: 22, minor: 18 }

const isClone = existsSync(new URL('../src/main.ts', import.meta.url))
const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
// An older Node would fail while it loads, with words about a module.
if (!isClone && (major < OLDEST.major || (major === OLDEST.major && minor < OLDEST.minor))) {
  const needed = `${OLDEST.major}.${OLDEST.minor}`
  console.error(
    `sonde: Sonde needs Node ${needed} or newer, and this is ${process.versions.node}; run it with a newer Node`,
  )
  process.exit(1)
}
await import(new URL(isClone ? '../../../scripts/sonde.mjs' : '../dist/main.js', import.meta.url).href)
