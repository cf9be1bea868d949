// `npm start`: everything a clone needs, then the agent, the store and the page in one process.

import { join } from 'node:path'
import { root, runFile, setUp, setUpWeb } from './setup.mjs'

const node = await setUp()
if (await setUpWeb()) await runFile(node, join(root, 'packages/cli/src/main.ts'), ['up', ...process.argv.slice(2)])
else process.exitCode = 1
