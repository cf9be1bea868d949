// Builds the library that is published: the SDK as JavaScript with its declarations.

import { spawnSync } from 'node:child_process'
import { globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { build } from 'vite'
import { toLatin1 } from './program.ts'
import { root } from './setup.mjs'

const SDK = join(root, 'packages/sdk')

/** The files of an entry of a package. An entry without `default` exists only in this repository. */
export interface ExportEntry {
  source?: string
  default?: string
}

/** In declarations: `from './a.ts'`, `import './a.ts'`, `import('./a.ts')`. */
const RELATIVE_IMPORT = /(?:from |import |import\()['"](\.[^'"]+)['"]/g

/**
 * Writes the SDK into a folder, one file for each entry: each module of its own takes 50 kB of every process that loads
 * it.
 */
export async function buildLibrary(dist: string): Promise<void> {
  const { exports } = JSON.parse(readFileSync(join(SDK, 'package.json'), 'utf8'))
  const entries = Object.values<ExportEntry>(exports).flatMap((entry) =>
    entry.source === undefined || entry.default === undefined
      ? []
      : [[relative('dist', entry.default).slice(0, -'.js'.length), join(SDK, entry.source)] as const],
  )
  await build({
    configFile: false,
    root: SDK,
    logLevel: 'warn',
    ssr: { external: true },
    build: {
      ssr: true,
      outDir: dist,
      emptyOutDir: true,
      target: 'node22',
      minify: false,
      rolldownOptions: {
        input: Object.fromEntries(entries),
        output: {
          entryFileNames: '[name].js',
          chunkFileNames: 'shared-[hash].js',
          comments: { jsdoc: false, legal: false },
        },
      },
    },
  })
  for (const path of globSync('**/*.js', { cwd: dist })) toLatin1(join(dist, path))
  writeDeclarations(dist)
  dropDeclarations(
    dist,
    entries.map(([name]) => name),
  )
}

/** Writes the declarations of the SDK, with their comments, and without what only tests use. */
function writeDeclarations(dist: string): void {
  const source = join(SDK, 'src')
  const config = {
    extends: join(root, 'tsconfig.base.json'),
    compilerOptions: {
      rootDir: source,
      outDir: dist,
      noEmit: false,
      declaration: true,
      emitDeclarationOnly: true,
      rewriteRelativeImportExtensions: true,
      customConditions: [],
      typeRoots: [join(root, 'node_modules/@types')],
    },
    include: [source],
    exclude: ['*.test.ts', '*.test-d.ts', 'test-*.ts', 'conformance.ts', 'fixtures'].map((pattern) =>
      join(source, '**', pattern),
    ),
  }
  // Two builds at once have a file each.
  const configFile = join(root, `.cache/tsconfig.sdk.${process.pid}.json`)
  mkdirSync(dirname(configFile), { recursive: true })
  writeFileSync(configFile, JSON.stringify(config, undefined, 2))
  const compiler = join(root, 'node_modules/typescript/bin/tsc')
  const { status } = spawnSync(process.execPath, [compiler, '-p', configFile], { cwd: root, stdio: 'inherit' })
  rmSync(configFile)
  if (status !== 0) process.exit(1)
}

/** Removes declarations that no entry refers to: no program can import them. */
function dropDeclarations(dist: string, entries: readonly string[]): void {
  const reached = new Set<string>()
  const left = entries.map((entry) => join(dist, `${entry}.d.ts`))
  for (let path = left.pop(); path !== undefined; path = left.pop()) {
    if (reached.has(path)) continue
    reached.add(path)
    for (const [, specifier = ''] of readFileSync(path, 'utf8').matchAll(RELATIVE_IMPORT)) {
      left.push(join(dirname(path), specifier.replace(/\.[jt]s$/, '.d.ts')))
    }
  }
  for (const path of globSync('**/*.d.ts', { cwd: dist })) if (!reached.has(join(dist, path))) rmSync(join(dist, path))
}
