#!/usr/bin/env node
import { restartSmall } from './restart-small.ts'

if (process.argv[2] === 'up' || process.argv[2] === 'agent') restartSmall()
await import('./command-main.ts')
