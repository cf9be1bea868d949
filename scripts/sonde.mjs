// `npx sonde …` in a clone: installs what the command needs, then runs its sources under the Node that the clone
// installs.

import { join } from 'node:path'
import { root, runFile, setUp, setUpWeb } from './setup.mjs'

const args = process.argv.slice(2)
const node = await setUp()
const showsPage = args[0] === 'up' || args[0] === 'console'
if (!showsPage || (await setUpWeb())) await runFile(node, join(root, 'packages/cli/src/main.ts'), args)
else process.exitCode = 1
