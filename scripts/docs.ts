// `npm run docs`: writes the pages that are made from the sources, and the figures of benchmarks that pages quote. `npm
// run check` fails where one is stale.

import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { generatedPages } from './check/generated.ts'
import { root } from './check/sources.ts'
import { renewFigures } from './docs/figures.ts'

for (const [path, text] of Object.entries(generatedPages())) {
  writeFileSync(join(root, path), text)
  console.log(`wrote ${path}`)
}
for (const path of renewFigures()) console.log(`renewed the figures in ${path}`)
