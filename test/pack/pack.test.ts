import assert from 'node:assert/strict'
import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, globSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { isBuiltin } from 'node:module'
import { join, resolve } from 'node:path'
import { after, before, test } from 'node:test'
import { npmCommand, root } from '../../scripts/setup.mjs'
import { ask, metricsOf } from '../ask.ts'
import { temporaryDir, until } from '../sonde-process.ts'
import { endGroup, isRunningUnder } from './processes.ts'
import { testSdkAlone } from './sdk-alone.ts'

const PACKAGES = { sdk: '@sonde/sdk', cli: 'sonde' } as const
const OLDEST_NODE = '22.18.0'
const START_LIMIT_MS = 120_000

/** Where everything of this file lives: archives, an empty folder with them installed, and the oldest Node. */
const dir = temporaryDir()
const archives = join(dir.path, 'archives')
const user = join(dir.path, 'user')

/** Runs a program to its end; what it printed is the failure where it fails. */
function run(command: string, args: readonly string[], cwd: string): string {
  try {
    return execFileSync(command, args, { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'], maxBuffer: 1 << 26 })
  } catch (error) {
    const { stdout = '', stderr = '' } = error as { stdout?: string; stderr?: string }
    throw new Error(`${command} ${args.join(' ')} failed:\n${stdout}${stderr}`)
  }
}

function npm(args: readonly string[], cwd: string): string {
  const [command, first] = npmCommand()
  return run(command, [...first, ...args], cwd)
}

/** Installs into a folder, from npm's cache where it can. */
function install(cwd: string, specs: readonly string[]): void {
  mkdirSync(cwd, { recursive: true })
  writeFileSync(join(cwd, 'package.json'), '{ "name": "user", "private": true, "type": "module" }\n')
  npm(['install', '--prefer-offline', '--no-audit', '--no-fund', '--ignore-scripts', '--loglevel=error', ...specs], cwd)
}

function installed(name: keyof typeof PACKAGES): string {
  return join(user, 'node_modules', PACKAGES[name])
}

before(() => {
  const flags = ['--conditions=source', '--disable-warning=ExperimentalWarning']
  run(process.execPath, [...flags, join(root, 'scripts/build.ts'), '--pack', archives], root)
  install(
    user,
    readdirSync(archives).map((name) => join(archives, name)),
  )
})

after(() => dir.remove())

test('the archives hold what is used, a README and a licence, and nothing of tests', () => {
  assert.equal(readdirSync(archives).length, 2)
  for (const name of Object.keys(PACKAGES) as (keyof typeof PACKAGES)[]) {
    const folder = installed(name)
    const files = globSync('**/*', { cwd: folder, exclude: (path) => path === 'node_modules' })
    assert.ok(existsSync(join(folder, 'LICENSE')), `${name} has no licence`)
    assert.match(readFileSync(join(folder, 'README.md'), 'utf8'), /^# \S/)
    const extra = files.filter((file) =>
      /(?<!self-)\btest|fixture|conformance|tsbuildinfo|(?<!\.d)\.ts$|\.map$/i.test(file),
    )
    assert.deepEqual(extra, [], `${name} holds what only developers use`)
    assert.deepEqual(
      readdirSync(folder)
        .filter((file) => file !== 'node_modules')
        .sort(),
      ['LICENSE', 'README.md', ...(name === 'cli' ? ['bin'] : []), 'dist', 'package.json'],
    )
  }
  assert.ok(existsSync(join(installed('cli'), 'dist/web/index.html')), 'the page is built in')
  const licences = readFileSync(join(installed('cli'), 'dist/LICENCES.txt'), 'utf8')
  for (const library of ['fastify', 'yaml', 'semver']) assert.match(licences, new RegExp(`^${library} \\d`, 'm'))
})

test('everything that a manifest names is there, and what is imported is a dependency', () => {
  for (const name of Object.keys(PACKAGES) as (keyof typeof PACKAGES)[]) {
    const folder = installed(name)
    const manifest = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
    assert.equal(manifest.license, 'Apache-2.0')
    assert.equal(manifest.type, 'module')
    assert.ok(manifest.keywords.length > 0)
    assert.match(manifest.engines.node, />=22\.18/)
    for (const [entry, conditions] of Object.entries<Record<string, string>>(manifest.exports ?? {})) {
      assert.deepEqual(Object.keys(conditions), ['types', 'default'], `${name} ${entry}: types come first`)
      for (const file of Object.values(conditions))
        assert.ok(existsSync(resolve(folder, file)), `${name} ${entry}: ${file}`)
    }
    for (const file of Object.values<string>(manifest.bin ?? {}))
      assert.match(readFileSync(resolve(folder, file), 'utf8'), /^#!\/bin\/sh\n/)
    const known = new Set([...Object.keys(manifest.dependencies ?? {}), manifest.name])
    for (const file of globSync('dist/**/*.{js,d.ts}', { cwd: folder, exclude: (path) => path.includes('web') })) {
      for (const specifier of importsOf(readFileSync(join(folder, file), 'utf8'))) {
        if (specifier.startsWith('.')) {
          const target = resolve(folder, file, '..', specifier)
          assert.ok(
            existsSync(target) || existsSync(target.replace(/\.ts$/, '.d.ts')),
            `${name}/${file} imports ${specifier}`,
          )
        } else if (!isBuiltin(specifier)) {
          const wanted = specifier
            .split('/')
            .slice(0, specifier.startsWith('@') ? 2 : 1)
            .join('/')
          assert.ok(known.has(wanted), `${name}/${file} imports ${specifier}, no dependency`)
        }
      }
    }
  }
})

function importsOf(text: string): string[] {
  const statement = /^(?:import|export)\s(?:[^'"`;]*?\sfrom\s*)?['"]([^'"]+)['"]|\bimport\(['"]([^'"]+)['"]\)/gm
  return [...text.matchAll(statement)].map((match) => match[1] ?? match[2] ?? '')
}

/** The Node of this process, and the oldest one that is promised to work. */
function nodes(): Record<string, () => string> {
  return {
    [process.versions.node]: () => process.execPath,
    [OLDEST_NODE]: () => {
      const folder = join(dir.path, 'oldest-node')
      const name = `node-${process.platform}-${process.arch}`
      const node = join(folder, 'node_modules', name, 'bin/node')
      if (!existsSync(node)) install(folder, [`${name}@${OLDEST_NODE}`])
      return node
    },
  }
}

testSdkAlone({ archives, user: join(dir.path, 'sdk-alone'), nodes: nodes(), install, run })

for (const [version, find] of Object.entries(nodes())) {
  test(`npx sonde up runs in an empty folder under Node ${version}`, async (t) => {
    const node = find()
    const [command, first] = npmCommand()
    const data = join(dir.path, `data-${version}`)
    // npx starts the command by its first line: with the Node that PATH finds.
    const path = `${resolve(node, '..')}:${process.env.PATH}`
    const args = [...first, 'exec', '--offline', '--', 'sonde', 'up', '--listen', '127.0.0.1:0', '--data-dir', data]
    const child = spawn(command, args, {
      cwd: user,
      env: { ...process.env, PATH: path, SONDE_CONFIG: '' },
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: true,
    })
    t.after(() => endGroup(child.pid))
    let output = ''
    let errors = ''
    child.stdout.on('data', (chunk: Buffer) => {
      output += chunk
    })
    child.stderr.on('data', (chunk: Buffer) => {
      errors += chunk
    })
    const address = await until('the ready line', START_LIMIT_MS, () => {
      assert.equal(child.exitCode, null, `it ended: ${output}${errors}`)
      return /ready on (http:\S+)/.exec(output)?.[1]
    })
    assert.ok(isRunningUnder(node, data), `the command runs under ${node}`)
    await assertServes(address)
    assert.ok(existsSync(join(data, 'store.db')))
    const ended = once(child, 'close')
    process.kill(-(child.pid ?? 0), 'SIGTERM')
    await ended
    assert.doesNotMatch(errors, /Warning/, "nothing of Node's own on stderr")
    assert.equal(output.trimEnd().split('\n').length, 1, output)
  })
}

test('the program that asks the kernel about its clock is in the archive, and runs', () => {
  const [program = ''] = globSync('dist/**/clock-main.js', { cwd: installed('cli') })
  const clock = JSON.parse(run(process.execPath, [join(installed('cli'), program)], user))
  assert.ok(clock.max_error_seconds > 0, JSON.stringify(clock))
})

test('the command refuses a Node below that of the manifest, with a sentence', () => {
  const { engines } = JSON.parse(readFileSync(join(installed('cli'), 'package.json'), 'utf8'))
  const [, oldest = ''] = /^>=(\d+\.\d+)$/.exec(engines.node) ?? []
  const [major, minor] = oldest.split('.').map(Number)
  const version = `${major}.${(minor ?? 0) - 1}.9`
  const older = `Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '${version}' } })`
  const command = JSON.stringify(join(installed('cli'), 'dist/main.js'))
  const { status, stderr } = spawnSync(process.execPath, ['--eval', `${older}; import(${command})`], {
    encoding: 'utf8',
  })
  const wanted = `sonde: Sonde needs Node ${oldest} or newer, and this is ${version}; run it with a newer Node\n`
  assert.deepEqual([status, stderr], [1, wanted])
})

async function assertServes(address: string): Promise<void> {
  assert.equal((await fetch(`${address}/healthz`)).status, 200)
  const metrics = await metricsOf({ address })
  assert.match(metrics, /^netdev_rx_bytes_total\{device="lo"\} \d+$/m)
  const page = await (await fetch(`${address}/`)).text()
  const [, script = ''] = /<script[^>]+src="([^"]+\.js)"/.exec(page.replaceAll('/start.js', '')) ?? []
  const { status, headers } = await fetch(new URL(script, address))
  assert.equal(status, 200, `the script of the page, ${script}`)
  assert.match(headers.get('content-type') ?? '', /javascript/)
  const parts = globSync('dist/web/assets/*.js', { cwd: installed('cli') })
  assert.ok(parts.length > 1, 'pages are files of their own')
  for (const part of parts) {
    const { status } = await fetch(new URL(part.replace('dist/web', ''), address), { method: 'HEAD' })
    assert.equal(status, 200, part)
  }
  await until('history from the store', START_LIMIT_MS, async () => {
    const { store } = await ask<{ store: { state: string; ackedMs: number } }>({ address }, '/api/v1/node')
    assert.equal(store.state, 'writing')
    return store.ackedMs > 0
  })
  const q = encodeURIComponent('{"stepMs":1000,"queries":[{"metric":"netdev_rx_bytes_total","by":[]}]}')
  await until('a value of the past', START_LIMIT_MS, async () => {
    const { results } = await ask<Answer>({ address }, `/api/v1/query?q=${q}`)
    return results[0]?.series[0]?.values.some((value) => value !== null)
  })
}

interface Answer {
  readonly results: readonly { readonly series: readonly { readonly values: readonly (number | null)[] }[] }[]
}
