import assert from 'node:assert/strict'
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { basename, join } from 'node:path'
import { after, before, test } from 'node:test'
import { npmCommand, root } from '../../scripts/setup.mjs'
import { metricsOf } from '../ask.ts'
import { until } from '../sonde-process.ts'
import { endGroup, isRunningUnder, programsWith } from './processes.ts'

const START_LIMIT_MS = 120_000
const NOT_IN_A_CLONE = new Set(['node_modules', 'dist', '.cache', '.git'])
const [NPM, NPM_ARGS] = npmCommand()

/** A fresh clone, beside the packages that it shares: hard links do not cross file systems. */
let clone = ''

before(() => {
  mkdirSync(join(root, '.cache'), { recursive: true })
  clone = mkdtempSync(join(root, '.cache/clone-'))
  const filter = (path: string) => !NOT_IN_A_CLONE.has(basename(path))
  for (const name of ['package.json', 'package-lock.json', 'packages', 'scripts', 'docs'])
    cpSync(join(root, name), join(clone, name), { recursive: true, verbatimSymlinks: true, filter })
  execFileSync('cp', ['-al', join(root, 'node_modules'), clone])
  // What is called by name is linked by npm at install, and so here.
  rmSync(join(clone, 'node_modules/.bin'), { recursive: true })
  execFileSync(NPM, [...NPM_ARGS, 'rebuild', '--ignore-scripts', '--loglevel=error'], { cwd: clone, stdio: 'pipe' })
})

after(() => rmSync(clone, { recursive: true }))

/** Each way to call the command in a clone: the program, its first arguments, and the folder that somebody is in. */
const WAYS: Readonly<Record<string, readonly [program: string, first: readonly string[], folder: string]>> = {
  'npx sonde, in a folder below,': [NPM, [...NPM_ARGS, 'exec', '--offline', '--', 'sonde'], 'docs'],
  'node_modules/.bin/sonde': ['node_modules/.bin/sonde', [], '.'],
  'packages/cli/bin/sonde': ['packages/cli/bin/sonde', [], '.'],
}

for (const [way, [program, first, folder]] of Object.entries(WAYS)) {
  test(`${way} runs the command in a fresh clone`, () => {
    const printed = execFileSync(program, [...first, 'explain', '--help'], {
      cwd: join(clone, folder),
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    assert.match(printed, /^Usage: sonde explain /)
  })
}

test('npx sonde runs its sources in a fresh clone, under the Node that the clone installs, and ends with npx', async (t) => {
  const args = [...NPM_ARGS, 'exec', '--offline', '--', 'sonde', 'agent', '--listen', '127.0.0.1:0']
  const env = { ...process.env, SONDE_CONFIG: '', SONDE_SERVICE_ENABLED: 'false' }
  const child = spawn(NPM, args, { cwd: clone, env, stdio: ['ignore', 'pipe', 'pipe'], detached: true })
  t.after(() => endGroup(child.pid))
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (output += chunk))
  const address = await until('the ready line', START_LIMIT_MS, () => {
    assert.equal(child.exitCode, null, `it ended: ${output}`)
    return /ready on (http:\S+)/.exec(output)?.[1]
  })
  const node = join(clone, `node_modules/node-${process.platform}-${process.arch}/bin/node`)
  assert.ok(isRunningUnder(node, join(clone, 'packages/cli/src/main.ts')))
  assert.deepEqual(programsWith(join(clone, 'scripts/sonde.mjs')), [], 'no launcher stays behind')
  assert.match(await metricsOf({ address }), /^netdev_rx_bytes_total\{device="lo"\} \d+$/m)
  // Nobody holds the streams any more once all processes are gone.
  const ended = once(child, 'close')
  child.kill('SIGTERM')
  await ended
  assert.doesNotMatch(output, /error/i)
})
