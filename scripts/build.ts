// `npm run build [-- --pack FOLDER]`: builds the published packages into their `dist`, and packs them with `--pack`.
// The SDK is a library. The command is a program that contains the agent and the console, which are not published.

import { spawnSync } from 'node:child_process'
import { copyFileSync, cpSync, existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { buildLibrary } from './library.ts'
import { publishedManifest } from './manifest.ts'
import { buildProgram, PAGE_PLACE } from './program.ts'
import { npmCommand, root, setUpWeb } from './setup.mjs'

/** The published packages. */
const PUBLISHED = ['sdk', 'cli'] as const

const { values } = parseArgs({ options: { pack: { type: 'string' } } })

await buildLibrary(join(root, 'packages/sdk/dist'))
console.log('built packages/sdk')
if (!(await setUpWeb())) process.exit(1)
const command = join(root, 'packages/cli/dist')
await buildProgram(command)
cpSync(join(root, 'packages/console/dist/web'), join(command, PAGE_PLACE), { recursive: true })
console.log('built packages/cli')
if (values.pack !== undefined) pack(resolve(values.pack))

/** Packs copies that contain only published files, because npm packs a manifest unchanged. */
function pack(folder: string): void {
  mkdirSync(folder, { recursive: true })
  const staged = PUBLISHED.map(stage)
  const [command, args] = npmCommand()
  const options = ['--ignore-scripts', '--loglevel=error', '--pack-destination', folder]
  const { status } = spawnSync(command, [...args, 'pack', ...options, ...staged], { cwd: root, stdio: 'inherit' })
  if (status !== 0) process.exit(1)
}

function stage(name: (typeof PUBLISHED)[number]): string {
  const folder = join(root, 'packages', name)
  const staged = join(root, '.cache/pack', name)
  rmSync(staged, { recursive: true, force: true })
  mkdirSync(staged, { recursive: true })
  for (const part of ['bin', 'dist'].filter((name) => existsSync(join(folder, name))))
    cpSync(join(folder, part), join(staged, part), { recursive: true })
  for (const file of ['README.md', 'LICENSE']) copyFileSync(join(folder, file), join(staged, file))
  writeFileSync(join(staged, 'package.json'), `${JSON.stringify(publishedManifest(name), undefined, 2)}\n`)
  return staged
}
