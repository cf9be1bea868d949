// `npm test`: everything a clone needs, then all tests.

import { join } from 'node:path'
import { root, runFile, setUp } from './setup.mjs'

await runFile(await setUp(), join(root, 'scripts/test.ts'), process.argv.slice(2))
