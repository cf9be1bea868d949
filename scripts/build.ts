// `npm run build [-- --pack FOLDER]`: builds the published packages into their `dist`, and packs them with `--pack`.
// The SDK is a library. The command is a program that contains the agent and the console, which are not published.

import { spawnSync } from 'node:child_process'
import { copyFileSync, cpSync, existsSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { build } from 'vite'
import { readAddresses, repositoryFields } from './addresses.ts'
import { buildProgram, PAGE_PLACE, toLatin1 } from './program.ts'
import { npmCommand, root, setUpWeb } from './setup.mjs'

/** The published packages. */
const PUBLISHED = ['sdk', 'cli'] as const
const SDK = join(root, 'packages/sdk')

/** The files of an entry of a package. An entry without `default` exists only in this repository. */
interface ExportEntry {
  source?: string
  default?: string
}

/** In declarations: `from './a.ts'`, `import './a.ts'`, `import('./a.ts')`. */
const RELATIVE_IMPORT = /(?:from |import |import\()['"](\.[^'"]+)['"]/g

const { values } = parseArgs({ options: { pack: { type: 'string' } } })

await buildLibrary()
console.log('built packages/sdk')
if (!(await setUpWeb())) process.exit(1)
const command = join(root, 'packages/cli/dist')
await buildProgram(command)
cpSync(join(root, 'packages/console/dist/web'), join(command, PAGE_PLACE), { recursive: true })
console.log('built packages/cli')
if (values.pack !== undefined) pack(resolve(values.pack))

/** Builds one file for each entry of the SDK: each module of its own takes 50 kB of every process that loads it. */
async function buildLibrary(): Promise<void> {
  const dist = join(SDK, 'dist')
  const { exports } = JSON.parse(readFileSync(join(SDK, 'package.json'), 'utf8'))
  const entries = Object.values<ExportEntry>(exports).flatMap((entry) =>
    entry.source === undefined || entry.default === undefined
      ? []
      : [[relative(dist, join(SDK, entry.default)).slice(0, -'.js'.length), join(SDK, entry.source)] as const],
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
  const configFile = join(root, '.cache/tsconfig.sdk.json')
  mkdirSync(join(root, '.cache'), { recursive: true })
  writeFileSync(configFile, JSON.stringify(config, undefined, 2))
  run(process.execPath, [join(root, 'node_modules/typescript/bin/tsc'), '-p', configFile])
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

/** Packs copies that contain only published files, because npm packs a manifest unchanged. */
function pack(folder: string): void {
  mkdirSync(folder, { recursive: true })
  const staged = PUBLISHED.map(stage)
  const [command, args] = npmCommand()
  run(command, [...args, 'pack', '--ignore-scripts', '--loglevel=error', '--pack-destination', folder, ...staged])
}

function stage(name: string): string {
  const folder = join(root, 'packages', name)
  const staged = join(root, '.cache/pack', name)
  rmSync(staged, { recursive: true, force: true })
  mkdirSync(staged, { recursive: true })
  for (const part of ['bin', 'dist'].filter((name) => existsSync(join(folder, name))))
    cpSync(join(folder, part), join(staged, part), { recursive: true })
  for (const file of ['README.md', 'LICENSE']) copyFileSync(join(folder, file), join(staged, file))
  const manifest = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
  Object.assign(manifest, repositoryFields(readAddresses(), `packages/${name}`))
  delete manifest.devDependencies
  for (const [name, entry] of Object.entries<ExportEntry>(manifest.exports ?? {})) {
    // The condition `source` leads to TypeScript that is not published.
    delete entry.source
    if (entry.default === undefined) delete manifest.exports[name]
  }
  manifest.gitHead = spawnSync('git', ['rev-parse', 'HEAD'], { cwd: folder, encoding: 'utf8' }).stdout?.trim() ?? ''
  writeFileSync(join(staged, 'package.json'), `${JSON.stringify(manifest, undefined, 2)}\n`)
  return staged
}

/** Runs a program that prints its own errors. */
function run(command: string, args: string[]): void {
  const { status } = spawnSync(command, args, { cwd: root, stdio: 'inherit' })
  if (status !== 0) process.exit(1)
}
