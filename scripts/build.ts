// `npm run build [-- --pack FOLDER]`: makes what is published in each package's `dist`; with `--pack` as archives too.

import { spawnSync } from 'node:child_process'
import {
  copyFileSync,
  cpSync,
  existsSync,
  globSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { build } from 'vite'
import { readAddresses, repositoryFields } from './addresses.ts'
import { buildProgram, PAGE_PLACE, PROGRAMS, toLatin1 } from './program.ts'
import { npmCommand, root, setUpWeb } from './setup.mjs'

/**
 * In the order of the arrows: each is compiled against the declarations of those before it. Programs are what processes
 * and threads begin with, and `places`, which tells where those are and must stay where it is itself.
 */
const PACKAGES = [
  { name: 'sdk', source: 'src', programs: [] },
  { name: 'agent', source: 'src', programs: ['places', ...PROGRAMS.agent] },
  { name: 'console', source: 'server', programs: ['places', ...PROGRAMS.console].map((path) => `server/${path}`) },
]
/** The command, which is one program with all of them. */
const COMMAND = 'cli'

/** What is read of a `package.json`. */
interface Manifest {
  readonly exports: Readonly<Record<string, { readonly default: string }>>
}

/** In declarations: `from './a.ts'`, `import './a.ts'`, `import('./a.ts')`. */
const RELATIVE_IMPORT = /(?:from |import |import\()['"](\.[^'"]+)['"]/g

const { values } = parseArgs({ options: { pack: { type: 'string' } } })

for (const { name, source, programs } of PACKAGES) {
  const folder = join(root, 'packages', name)
  emptyDist(folder)
  compile(folder, source, name)
  await bundle(folder, programs)
  console.log(`built packages/${name}`)
}
if (!(await setUpWeb())) process.exit(1)
const command = join(root, 'packages', COMMAND, 'dist')
await buildProgram(command)
cpSync(join(root, 'packages/console/dist/web'), join(command, PAGE_PLACE), { recursive: true })
console.log(`built packages/${COMMAND}`)
if (values.pack !== undefined) pack(resolve(values.pack))

/** The page is left: it is built only when its inputs changed. */
function emptyDist(folder: string): void {
  const dist = join(folder, 'dist')
  if (!existsSync(dist)) return
  for (const name of readdirSync(dist)) if (name !== 'web') rmSync(join(dist, name), { recursive: true })
}

/** Compiles a package without what only tests use. A page beside the server keeps the server's folder in `dist`. */
function compile(folder: string, source: string, name: string): void {
  const sourceDir = join(folder, source)
  const config = {
    extends: join(root, 'tsconfig.base.json'),
    compilerOptions: {
      rootDir: source === 'src' ? sourceDir : folder,
      outDir: join(folder, 'dist'),
      noEmit: false,
      declaration: true,
      rewriteRelativeImportExtensions: true,
      customConditions: [],
      typeRoots: [join(root, 'node_modules/@types')],
    },
    include: [sourceDir],
    exclude: ['*.test.ts', '*.test-d.ts', 'test-*.ts', 'conformance.ts', 'fixtures'].map((pattern) =>
      join(sourceDir, '**', pattern),
    ),
  }
  const configFile = join(root, `.cache/tsconfig.${name}.json`)
  mkdirSync(join(root, '.cache'), { recursive: true })
  writeFileSync(configFile, JSON.stringify(config, undefined, 2))
  run(process.execPath, [join(root, 'node_modules/typescript/bin/tsc'), '-p', configFile])
}

/**
 * Puts the modules of a package into a file for each of its entries: a module on its own takes 50 kB of every process
 * that loads it. Comments are in the declarations, which stay as they are.
 */
async function bundle(folder: string, programs: readonly string[]): Promise<void> {
  const dist = join(folder, 'dist')
  const { exports } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Manifest
  const exported = Object.values(exports).map((entry) =>
    relative(dist, join(folder, entry.default)).slice(0, -'.js'.length),
  )
  const made = join(root, '.cache/bundle')
  await build({
    configFile: false,
    root: dist,
    logLevel: 'warn',
    ssr: { external: true },
    build: {
      ssr: true,
      outDir: made,
      emptyOutDir: true,
      target: 'node22',
      rolldownOptions: {
        input: Object.fromEntries([...exported, ...programs].map((entry) => [entry, join(dist, `${entry}.js`)])),
        output: {
          entryFileNames: '[name].js',
          chunkFileNames: 'shared-[hash].js',
          comments: { jsdoc: false, legal: false },
        },
      },
    },
  })
  dropDeclarations(dist, exported)
  for (const path of globSync('**/*.js', { cwd: dist, exclude: ['web'] })) rmSync(join(dist, path))
  for (const path of globSync('**/*.js', { cwd: made })) {
    mkdirSync(dirname(join(dist, path)), { recursive: true })
    copyFileSync(join(made, path), join(dist, path))
    toLatin1(join(dist, path))
  }
}

/** Removes declarations that those of the entries do not refer to: no program can get at them. */
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

/** Packs copies that hold what is published and nothing else: npm takes a manifest as it is. */
function pack(folder: string): void {
  mkdirSync(folder, { recursive: true })
  const staged = [...PACKAGES.map(({ name }) => name), COMMAND].map(stage)
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
  copyFileSync(join(folder, 'README.md'), join(staged, 'README.md'))
  copyFileSync(join(root, 'LICENSE'), join(staged, 'LICENSE'))
  const manifest = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
  Object.assign(manifest, repositoryFields(readAddresses(), `packages/${name}`))
  delete manifest.devDependencies
  // The condition `source` leads to TypeScript that is not published.
  for (const entry of Object.values<Record<string, string>>(manifest.exports ?? {})) delete entry.source
  manifest.gitHead = spawnSync('git', ['rev-parse', 'HEAD'], { cwd: folder, encoding: 'utf8' }).stdout?.trim() ?? ''
  writeFileSync(join(staged, 'package.json'), `${JSON.stringify(manifest, undefined, 2)}\n`)
  return staged
}

/** Runs a program that says itself what is wrong. */
function run(command: string, args: string[]): void {
  const { status } = spawnSync(command, args, { cwd: root, stdio: 'inherit' })
  if (status !== 0) process.exit(1)
}
