// `npm run docs`: writes the pages that are made from the sources. `npm run check` fails where one is stale.

import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { generatedPages } from './check/generated.ts'
import { root } from './check/sources.ts'

for (const [path, text] of Object.entries(generatedPages())) {
  writeFileSync(join(root, path), text)
  console.log(`wrote ${path}`)
}
