#!/usr/bin/env node
import { restartSmall } from './restart-small.ts'

// Node would open a port for debuggers, and whoever reaches that runs what they like.
process.on('SIGUSR1', () => undefined)

if (process.argv[2] === 'up' || process.argv[2] === 'agent') restartSmall()
await import('./command-main.ts')
