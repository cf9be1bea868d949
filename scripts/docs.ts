// `npm run docs`: writes the pages that are made from the sources, and the figures of benchmarks that pages quote. `npm
// run check` fails where one is stale.

import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { generatedPages } from './check/generated.ts'
import { root } from './check/sources.ts'
import { chartFiles } from './docs/chart.ts'
import { renewFigures } from './docs/figures.ts'

// The chart first: the plain manifests are made from its files.
for (const made of [chartFiles, generatedPages])
  for (const [path, text] of Object.entries(made())) {
    writeFileSync(join(root, path), text)
    if (made === generatedPages) console.log(`wrote ${path}`)
  }
for (const path of renewFigures()) console.log(`renewed the figures in ${path}`)
