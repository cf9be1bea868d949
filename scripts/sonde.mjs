// Installs the packages of a clone, then prints the command that runs its sources, one word on each line: Node, its
// flags, and the file. `packages/cli/bin/sonde` becomes that command.

import { join } from 'node:path'
import { nodeFlags, root, setUp, setUpWeb } from './setup.mjs'

const [command] = process.argv.slice(2)
const node = await setUp()
const showsPage = command === 'up' || command === 'console'
if (showsPage && !(await setUpWeb())) process.exit(1)
console.log([node, ...nodeFlags, join(root, 'packages/cli/src/main.ts')].join('\n'))
