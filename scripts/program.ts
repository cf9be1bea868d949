// Bundles the command and its libraries into one program, because each separate module costs a process 50 kB, and time
// at each start. This program is published, and tests start it. See ADR 23.

import { cpSync, globSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { build, type Plugin } from 'vite'
import { root } from './setup.mjs'

/**
 * The modules that start processes and threads, by their path in the program. `places.ts` of a package finds them from
 * the top folder of the program, where the shared files are.
 */
const ENTRIES = {
  main: 'packages/cli/src/main.ts',
  ...entriesIn('packages/agent/src', [
    'hosting/host-main',
    'traceback/book/read-main',
    'simulated-past/past-main',
    'sources/registry',
    'sources/ethtool/sources',
    'sources/doca/sources',
    'sources/nvml/nvml',
    'sources/kubernetes/kubernetes',
    'self-test/main',
    'sources/host/clock-main',
  ]),
  ...entriesIn('packages/console/server', ['store/worker/main']),
}
/** Libraries that stay dependencies: native code, starting threads from their own files, or loaded only when needed. */
const EXTERNAL = ['@node-rs/crc32', 'koffi', 'pino', 're2js']
/** Fastify loads these for schemas of routes and for simulated requests, and gRPC for services that show its state. */
const UNUSED = [
  ...['@fastify/ajv-compiler', '@fastify/fast-json-stringify-compiler', 'light-my-request'],
  '@grpc/proto-loader',
]
const CONDITIONS = ['source', 'node', 'import', 'module', 'default']

/** Where the program has the page; the caller puts it there. */
export const PAGE_PLACE = 'web'

/**
 * Writes the program into a folder. Beside the folder it wants a `package.json` with the version.
 *
 * @param more Further modules that start processes, by their path in the program.
 */
export async function buildProgram(folder: string, more: Readonly<Record<string, string>> = {}): Promise<void> {
  await build({
    configFile: false,
    root,
    logLevel: 'warn',
    plugins: [without(UNUSED), plainBuiltins(), builtModules(), licences()],
    resolve: { conditions: CONDITIONS },
    ssr: { external: EXTERNAL, noExternal: true, resolve: { conditions: CONDITIONS } },
    build: {
      ssr: true,
      outDir: folder,
      emptyOutDir: true,
      target: 'node22',
      minify: false,
      rolldownOptions: {
        input: Object.fromEntries(
          Object.entries({ ...ENTRIES, ...more }).map(([name, path]) => [name, join(root, path)]),
        ),
        output: {
          entryFileNames: '[name].js',
          chunkFileNames: 'shared-[name]-[hash].js',
          comments: { jsdoc: false, legal: false },
        },
      },
    },
  })
  for (const path of globSync('**/*.js', { cwd: folder })) toLatin1(join(folder, path))
  const description = JSON.parse(readFileSync(join(root, 'docs/openapi.json'), 'utf8'))
  writeFileSync(join(folder, 'openapi.json'), JSON.stringify(description))
  cpSync(join(root, 'deploy/helm/sonde'), join(folder, 'chart'), { recursive: true })
}

function entriesIn(folder: string, paths: readonly string[]): Record<string, string> {
  return Object.fromEntries(paths.map((path) => [path, `${folder}/${path}.ts`]))
}

const BEYOND_LATIN1 = /[^\0-\xff]/g

/**
 * Escapes characters outside Latin-1, because one such character makes V8 keep the whole file with two bytes for each
 * character. Without comments, only strings and patterns contain them.
 */
export function toLatin1(path: string): void {
  const escaped = (unit: string): string => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`
  writeFileSync(path, readFileSync(path, 'utf8').replace(BEYOND_LATIN1, escaped))
}

/** Leaves modules out of the program; what loads them all the same gets an error that names them. */
function without(names: readonly string[]): Plugin {
  const mark = '\0unused:'
  return {
    name: 'without',
    enforce: 'pre',
    resolveId: (id) => (names.includes(id) ? mark + id : undefined),
    load(id) {
      if (!id.startsWith(mark)) return undefined
      return `throw new Error(${JSON.stringify(`${id.slice(mark.length)} is not part of this program`)})`
    },
  }
}

const BUILTIN_IMPORT = /^import (?:(?:\* as )?([\w$]+))?(?:, )?(?:\{ ?([^}]+?) ?\})? ?(?:from )?"(node:[\w/]+)";$/gm

/**
 * Gets the modules of Node by a call. An `import` of one reads all of its exports, and some of them load more: those of
 * `node:http` load a client that Sonde does not use, which takes 50 ms and 6 MB of each process.
 */
function plainBuiltins(): Plugin {
  return {
    name: 'plain-builtins',
    renderChunk: (code) =>
      code.replace(BUILTIN_IMPORT, (_line, whole?: string, names?: string, id = '') => {
        const call = `process.getBuiltinModule(${JSON.stringify(id)})`
        const pattern = names === undefined ? undefined : `{ ${names.replaceAll(' as ', ': ')} }`
        return [whole, pattern].flatMap((left) => (left === undefined ? [] : [`const ${left} = ${call};`])).join(' ')
      }),
  }
}

/** In a program, modules that are found by their place are built too. */
function builtModules(): Plugin {
  return {
    name: 'built-modules',
    renderChunk: (code) => code.replace(/(new URL\("[^"]+)\.ts(", import\.meta\.url\))/g, '$1.js$2'),
  }
}

/** Writes down the licences of the libraries that have become part of the program, as those ask for. */
function licences(): Plugin {
  return {
    name: 'licences',
    generateBundle(_options, bundle) {
      const modules = Object.values(bundle).flatMap((part) => (part.type === 'chunk' ? part.moduleIds : []))
      const folders = modules.flatMap((id) => /^.*\/node_modules\/(?:@[^/]+\/)?[^/]+/.exec(id)?.[0] ?? [])
      const texts = [...new Set(folders)].sort().map(licenceOf)
      this.emitFile({ type: 'asset', fileName: 'LICENCES.txt', source: texts.join('\n\n') })
    },
  }
}

function licenceOf(folder: string): string {
  const { name, version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
  const file = readdirSync(folder).find((name) => /^licen[cs]e/i.test(name))
  const text = file === undefined ? '' : `\n\n${readFileSync(join(folder, file), 'utf8').trim()}`
  return `${name} ${version} · ${license}${text}`
}
