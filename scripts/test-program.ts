// Puts the command into one program, for tests that start it: read from its sources, each start loads a thousand
// modules, which takes longer than most of what is tested.

import { createHash } from 'node:crypto'
import { existsSync, globSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { pathToFileURL } from 'node:url'
import { build, type Plugin } from 'vite'
import { withLock } from './lock.mjs'
import { root } from './setup.mjs'

const PROGRAMS = join(root, '.cache/program')
/** How long a program is kept after it was built. Unit: milliseconds. */
const KEEP_MS = 24 * 60 * 60 * 1000
const MAIN = 'cli/main'
/** The command, and the modules that its threads and child processes start with, by where the program has them. */
const ENTRIES = {
  [MAIN]: 'packages/cli/src/main.ts',
  'agent/hosting/host-main': 'packages/agent/src/hosting/host-main.ts',
  'agent/sources/registry': 'packages/agent/src/sources/registry.ts',
  'agent/sources/ethtool/ethtool': 'packages/agent/src/sources/ethtool/ethtool.ts',
  'agent/sources/doca/sources': 'packages/agent/src/sources/doca/sources.ts',
  'agent/sources/nvml/nvml': 'packages/agent/src/sources/nvml/nvml.ts',
  'store/worker/main': 'packages/console/server/store/worker/main.ts',
}
/** Modules that look for those beside themselves, and where the program has what they find. */
const PLACES: Readonly<Record<string, string>> = {
  'packages/agent/src/places.ts': 'agent/places.js',
  'packages/console/server/store/store.ts': 'store/store.js',
}
/** Everything that may become part of the program, and what makes it. */
const INPUTS = [
  'packages/*/src/**/*.ts',
  'packages/console/server/**/*.ts',
  'packages/*/package.json',
  'package-lock.json',
  'scripts/test-program.ts',
]

/**
 * Builds the program where its sources changed, and answers the path of its main module. Each state of the sources has
 * a folder of its own, because another run of the tests may still use the program that it built.
 */
export async function buildTestProgram(): Promise<string> {
  const name = hashOfInputs()
  const folder = join(PROGRAMS, name)
  mkdirSync(PROGRAMS, { recursive: true })
  await withLock(join(root, '.cache/program.lock'), async () => {
    if (existsSync(join(folder, 'package.json'))) return
    console.log('Building the command for the tests…')
    removeOld()
    await bundle(folder)
    // Written last: it says that the program is complete.
    writeFileSync(join(folder, 'package.json'), '{ "type": "module" }\n')
  })
  return join(folder, `${MAIN}.js`)
}

function removeOld(): void {
  for (const name of readdirSync(PROGRAMS)) {
    const folder = join(PROGRAMS, name)
    if (Date.now() - statSync(folder).mtimeMs > KEEP_MS) rmSync(folder, { recursive: true, force: true })
  }
}

function hashOfInputs(): string {
  const hash = createHash('sha256')
  const files = globSync(INPUTS, { cwd: root, exclude: (path) => path.includes('node_modules') })
  for (const file of files.filter((path) => !path.includes('.test.')).sort())
    hash.update(`${file}\0`).update(readFileSync(join(root, file)))
  return hash.digest('hex')
}

/** Most modules keep the address of their source: what they find by it lies beside that. */
const addressesIn = (folder: string): Plugin => ({
  name: 'addresses',
  transform(code, id) {
    if (id.includes('/node_modules/') || !code.includes('import.meta.url')) return undefined
    const place = PLACES[relative(root, id)]
    const path = place === undefined ? id : join(folder, place)
    return code.replaceAll('import.meta.url', JSON.stringify(pathToFileURL(path).href))
  },
})

async function bundle(folder: string): Promise<void> {
  await build({
    configFile: false,
    root,
    logLevel: 'warn',
    plugins: [addressesIn(folder)],
    resolve: { conditions: ['source', 'node', 'import', 'module', 'default'] },
    ssr: {
      // What is native, or starts threads from files of its own, stays where it is.
      external: ['koffi', 'pino', 'fastify', '@fastify/static', 're2js'],
      noExternal: true,
      resolve: { conditions: ['source', 'node', 'import', 'module', 'default'] },
    },
    build: {
      ssr: true,
      outDir: folder,
      emptyOutDir: true,
      target: 'node22',
      minify: false,
      rolldownOptions: {
        input: Object.fromEntries(Object.entries(ENTRIES).map(([name, path]) => [name, join(root, path)])),
        output: { entryFileNames: '[name].js', chunkFileNames: 'shared/[name]-[hash].js' },
      },
    },
  })
}
