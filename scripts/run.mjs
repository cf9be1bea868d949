// `node scripts/run.mjs FILE.ts …`: installs what a clone needs, then runs the file.

import { resolve } from 'node:path'
import { fail, runFile, setUp } from './setup.mjs'

const [file, ...args] = process.argv.slice(2)
if (!file) fail('usage: node scripts/run.mjs FILE.ts [ARGUMENT…]')
await runFile(await setUp(), resolve(file), args)
