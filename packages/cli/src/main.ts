#!/usr/bin/env node
import { endWithNpx } from './end-with-npx.ts'
import { nodeFault } from './oldest-node.ts'
import { restartSmall } from './restart-small.ts'

const fault = nodeFault()
if (fault !== undefined) {
  console.error(`sonde: ${fault}`)
  process.exit(1)
}
// SIGUSR1 makes Node open a port for debuggers by default, and through it other programs could run code here.
process.on('SIGUSR1', () => undefined)

if (process.argv[2] === 'up' || process.argv[2] === 'agent') restartSmall()
endWithNpx()
await import('./command-main.ts')
