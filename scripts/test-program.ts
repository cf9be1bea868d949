// Builds the command as it is published, for tests that start it: read from its sources, each start loads a thousand
// modules, which takes longer than most of what is tested.

import { createHash } from 'node:crypto'
import {
  copyFileSync,
  existsSync,
  globSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
} from 'node:fs'
import { join, relative } from 'node:path'
import { withLock } from './lock.mjs'
import { buildProgram, PAGE_PLACE } from './program.ts'
import { root } from './setup.mjs'

const PROGRAMS = join(root, '.cache/program')
/** How long a program is kept after it was built. Unit: milliseconds. */
const KEEP_MS = 24 * 60 * 60 * 1000
/**
 * Programs of tests that hold an agent, and a module that their children load. A module that names itself by
 * `import.meta.url` cannot be here if several programs share it.
 */
const AGENTS = [
  ...['faults/unruly', 'process/replaced-child', 'doubles/ethtool', 'browser/large-node', 'browser/pods'].map(
    (name) => `test/${name}-main`,
  ),
  'packages/agent/test/unruly-source',
]
/** Everything that may become part of the program, and what makes it. */
export const PROGRAM_INPUTS: readonly string[] = [
  'packages/*/src/**/*.ts',
  'packages/console/server/**/*.ts',
  'packages/*/package.json',
  ...AGENTS.map((name) => `${name}.ts`),
  'packages/agent/test/{large-node,pod-source}.ts',
  'test/serve-source.ts',
  'deploy/helm/**/*.*',
  'package-lock.json',
  'docs/openapi.json',
  'scripts/{program,test-program}.ts',
]

/**
 * Builds the program where its sources changed, and answers the path of its main module. Each state of the sources has
 * a folder of its own, because another run of the tests may still use the program that it built.
 */
export async function buildTestProgram(): Promise<string> {
  const name = hashOfFiles(PROGRAM_INPUTS)
  const folder = join(PROGRAMS, name)
  mkdirSync(PROGRAMS, { recursive: true })
  await withLock(join(root, '.cache/program.lock'), async () => {
    if (existsSync(join(folder, 'package.json'))) return
    console.log('Building the command for the tests…')
    removeOld()
    await buildProgram(join(folder, 'dist'))
    await buildProgram(join(folder, 'agents'), Object.fromEntries(AGENTS.map((name) => [name, `${name}.ts`])))
    // The page is made anew without the program. A copy of the working tree has the page of the copy.
    const page = relative(join(folder, 'dist'), join(root, 'packages/console/dist/web'))
    symlinkSync(page, join(folder, 'dist', PAGE_PLACE))
    // Written last: it says that the program is complete.
    copyFileSync(join(root, 'packages/cli/package.json'), join(folder, 'package.json'))
  })
  return join(folder, 'dist/main.js')
}

function removeOld(): void {
  for (const name of readdirSync(PROGRAMS)) {
    const folder = join(PROGRAMS, name)
    if (Date.now() - statSync(folder).mtimeMs > KEEP_MS) rmSync(folder, { recursive: true, force: true })
  }
}

/** A hash of all files that match one of these patterns, and of their names; those of tests do not count. */
export function hashOfFiles(patterns: readonly string[]): string {
  const hash = createHash('sha256')
  const files = globSync(patterns, { cwd: root, exclude: (path) => path.includes('node_modules') })
  for (const file of files.filter((path) => !path.includes('.test.')).sort())
    hash.update(`${file}\0`).update(readFileSync(join(root, file)))
  return hash.digest('hex')
}
