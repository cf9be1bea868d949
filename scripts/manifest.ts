// The manifest of a published package, which names nothing that exists only in this repository.

import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { readAddresses, repositoryFields } from './addresses.ts'
import type { ExportEntry } from './library.ts'
import { root } from './setup.mjs'

/** The published manifest of a package of this repository. */
export function publishedManifest(name: 'sdk' | 'cli') {
  const folder = join(root, 'packages', name)
  const manifest = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
  Object.assign(manifest, repositoryFields(readAddresses(), `packages/${name}`))
  delete manifest.devDependencies
  for (const [name, entry] of Object.entries<ExportEntry>(manifest.exports ?? {})) {
    // The condition `source` leads to TypeScript that is not published.
    delete entry.source
    if (entry.default === undefined) delete manifest.exports[name]
  }
  manifest.gitHead = commit()
  return manifest
}

/** The commit of this clone; empty outside one. */
export function commit(): string {
  return spawnSync('git', ['rev-parse', 'HEAD'], { cwd: root, encoding: 'utf8' }).stdout?.trim() ?? ''
}
