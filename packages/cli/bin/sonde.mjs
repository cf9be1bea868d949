#!/usr/bin/env node
// Starts the command. A published package has no sources and runs what was built; a clone runs its sources.

import { existsSync } from 'node:fs'

const isClone = existsSync(new URL('../src/main.ts', import.meta.url))
await import(new URL(isClone ? '../../../scripts/sonde.mjs' : '../dist/main.js', import.meta.url).href)
