import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, existsSync, mkdirSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, type TestContext, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { createSchema, defineType, FlushError, gauge, label, timestamp, wallNs } from '@sonde/sdk'
import { noteName, SOCKET_NAME } from '@sonde/sdk/internal'
import { ask, metricsOf, numberOn } from '../ask.ts'
import { assertStops, runSonde, type SondeProcess, startSonde, temporaryDir, until } from '../sonde-process.ts'

const CLIENT = fileURLToPath(new URL('service-client-main.ts', import.meta.url))
const LIMIT_MS = 30_000
/** A service in the folder that is usual below a directory. */
const inRuntimeDir = (path: string) => ({ SONDE_SERVICE_ENABLED: 'true', XDG_RUNTIME_DIR: path })

interface Application {
  readonly child: ChildProcess
  output(): string
  /** Steps that are acknowledged. */
  acked(): number
  /** Waits until it was acknowledged once more than before. */
  next(): Promise<number>
}

/** An application in a process of its own; it ends with the test. */
function application(t: TestContext, socketsDir: string, worker = 'a'): Application {
  const flags = ['--conditions=source', '--disable-warning=ExperimentalWarning']
  const child = spawn(process.execPath, [...flags, CLIENT, socketsDir, worker], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  t.after(() => child.kill('SIGKILL'))
  let text = ''
  child.stdout.on('data', (chunk: Buffer) => {
    text += chunk.toString()
  })
  const acked = () => Number([...text.matchAll(/^acked (\d+)/gm)].at(-1)?.[1] ?? 0)
  const next = async () => {
    const before = acked()
    return until(`an acknowledgement: ${text.slice(-300)}`, LIMIT_MS, () => acked() > before && acked())
  }
  return { child, output: () => text, acked, next }
}

async function started(
  t: TestContext,
  args: readonly string[],
  env: Readonly<Record<string, string>>,
): Promise<SondeProcess> {
  const sonde = await startSonde([...args, '--only-simulated', '--simulate'], { env })
  t.after(() => sonde.stop('SIGKILL'))
  return sonde
}

/** The latest number of steps of a worker that a query finds; 0 if there is none. */
async function stepsOf(sonde: SondeProcess, worker = 'a'): Promise<number> {
  const matchers = [{ label: 'worker', value: worker }]
  const form = { fromMs: Date.now() - 120_000, toMs: Date.now() + 1000, stepMs: 1000 }
  const { results } = await ask<{ results: { series: { values: (number | null)[] }[] }[] }>(sonde, '/api/v1/query', {
    ...form,
    queries: [{ metric: 'training_steps_total', function: 'max', matchers }],
  })
  return Math.max(0, ...(results[0]?.series[0]?.values ?? []).map((value) => value ?? 0))
}

function sharedFilesOf({ child }: Application): string[] {
  return readdirSync('/dev/shm').filter((name) => name.startsWith(`sonde-${child.pid}-`))
}

test('an application is seen in metrics and history without configuration, and is told that what it reported is durable', async (t) => {
  const dir = temporaryDir()
  t.after(dir.remove)
  const env = inRuntimeDir(dir.path)
  const sonde = await started(t, ['up', '--data-dir', join(dir.path, 'data')], env)
  const sockets = join(dir.path, 'sonde')
  assert.ok(existsSync(join(sockets, SOCKET_NAME)))
  const app = application(t, sockets)
  const steps = await app.next()
  assert.match(app.output(), /^acked \d+ durable (shared|inline) 0$/m)
  const page = await metricsOf(sonde)
  assert.match(page, /^training_steps_total\{worker="a"[^}]*\} 0*[1-9]/m)
  assert.ok((await stepsOf(sonde)) >= steps)
  const { types } = await ask<{ types: { name: string }[] }>(sonde, '/api/v1/types')
  assert.ok(types.some(({ name }) => name === 'training'))
  const { clients } = await ask<{ clients: { pid: number; program: string }[] }>(sonde, '/api/v1/sources')
  assert.deepEqual(
    clients.map(({ pid, program }) => [pid, program]),
    [[app.child.pid, 'service-client-main.ts']],
  )
  // The agent is killed and comes again: the application goes on by itself, and nothing that was acknowledged is gone.
  const acked = await app.next()
  await sonde.stop('SIGKILL')
  const again = await started(t, ['up', '--data-dir', join(dir.path, 'data')], {
    ...env,
    SONDE_EXPORT_PROMETHEUS_SERIES_LIMIT: '100',
  })
  assert.ok((await stepsOf(again)) >= acked)
  const later = await app.next()
  assert.ok(later > acked)
  app.child.kill('SIGKILL')
  await once(app.child, 'close')
  await until('its series left', LIMIT_MS, async () => !(await metricsOf(again)).includes('training_steps_total{'))
  assert.ok((await stepsOf(again)) >= later, 'its history stays')
  await reportTooManySeries(sockets)
  await assertStops(again)
  const { output } = await runSonde(['read', '--store', join(dir.path, 'data'), '--type', 'shelf', '--format', 'csv'])
  assert.equal(output.match(/,shelf \d+,/g)?.length, 300, `each record is stored once: ${output.slice(0, 500)}`)
  assert.ok(!existsSync(join(sockets, SOCKET_NAME)))
})

/**
 * A program that reports again where records were lost: with more series than `/metrics` takes, it loses none, and so
 * reports none twice.
 */
async function reportTooManySeries(socketsDir: string): Promise<void> {
  const schema = createSchema({ name: 'store', ipc: { socketsDir } })
  const shelf = schema.addType(
    defineType('shelf', 'A shelf', { time: timestamp(), name: label(), books: gauge('u32') }),
  )
  await schema.start()
  const source = schema.createSource({ id: 'shelves', tag: '' })
  const report = () => {
    for (let i = 0; i < 300; i++) source.report(shelf, { time: wallNs(), name: `shelf ${i}`, books: i })
  }
  report()
  const error = await source.flush().catch((error: unknown) => error)
  assert.ok(error instanceof FlushError, String(error))
  if (error.lost > 0) report()
  assert.deepEqual([error.code, error.lost, error.hidden, error.pending], ['TEL_HIDDEN', 0, 250, 0])
  assert.deepEqual(schema.status().ipc.hidden, { series_limit: 250 })
  await schema.close()
}

/** Reports ten times a second, and never flushes; ends with the first warning. */
const UNFLUSHED = `
import { createSchema, defineType, timestamp, value, wallNs } from '@sonde/sdk'
const schema = createSchema({ name: 'lonely', ipc: { socketsDir: process.argv[1] } })
const n = schema.addType(defineType('n', '', { time: timestamp(), n: value('u32') }))
await schema.start()
const source = schema.createSource({ tag: '' })
const timer = setInterval(() => source.report(n, { time: wallNs(), n: 1 }), 100)
process.once('warning', ({ code, message }) => {
  clearInterval(timer)
  console.log(code, message)
})
`

describe('an agent in the usual folder:', () => {
  const dir = temporaryDir()
  const sockets = join(dir.path, 'sonde')
  let sonde: SondeProcess
  before(async () => {
    sonde = await startSonde(['agent', '--only-simulated', '--simulate'], { env: inRuntimeDir(dir.path) })
  })
  after(async () => {
    await sonde.stop('SIGKILL')
    dir.remove()
  })

  test('of two applications that report one series the second is told, and the log of the agent names it, once', async (t) => {
    const first = application(t, sockets, 'same')
    await first.next()
    const second = application(t, sockets, 'same')
    const told =
      /^away TEL_HIDDEN .* ipc: ipc does not show 1 record \(1 duplicate_series: another process reports the same series, .* another id, tag or label\)$/m
    await until(`the second is told: ${second.output()}`, LIMIT_MS, () => told.test(second.output()))
    const line = /prometheus drops records of source trainer with tag test as duplicate_series: another source reports/
    await until('a line of the log', LIMIT_MS, () => line.test(sonde.output()))
    await first.next()
    assert.doesNotMatch(first.output(), /away/, 'the first loses nothing')
    assert.equal(sonde.output().match(/PRM_LOST/g)?.length, 1)
  })

  test('an application with a wrong folder of sockets that never flushes is warned, with both folders', async (t) => {
    const wrong = join(dir.path, 'wrong')
    const flags = ['--conditions=source', '--disable-warning=ExperimentalWarning', '--input-type=module']
    const child = spawn(process.execPath, [...flags, '--eval', UNFLUSHED, wrong], {
      cwd: import.meta.dirname,
      env: { ...process.env, XDG_RUNTIME_DIR: dir.path },
    })
    t.after(() => child.kill('SIGKILL'))
    let said = ''
    child.stdout.on('data', (chunk: Buffer) => {
      said += chunk.toString()
    })
    await until('a warning', LIMIT_MS, () => said.includes('\n'))
    assert.match(
      said,
      new RegExp(`^IPC_NOBODY ipc of schema lonely is not connected.* no service answers in ${wrong};`),
    )
    assert.match(said, new RegExp(`listens in ${join(dir.path, 'sonde')}[,:].* set socketsDir`))
  })

  test('applications that are killed leave nothing in shared memory, and the service serves others on', async (t) => {
    const others = application(t, sockets, 'stays')
    // The first records go before the service has seen the file.
    await until('its memory is shared', LIMIT_MS, () => /^acked \d+ memory shared 0$/m.test(others.output()))
    for (let i = 0; i < 5; i++) {
      const app = application(t, sockets, `killed${i}`)
      await app.next()
      app.child.kill('SIGKILL')
      await once(app.child, 'close')
      assert.deepEqual(sharedFilesOf(app), [])
      await others.next()
    }
    assert.deepEqual(sharedFilesOf(others), [])
    await until('one client is left', LIMIT_MS, async () => {
      return numberOn(await metricsOf(sonde), 'sonde_service_clients') === 1
    })
    await assertStops(sonde)
  })
})

test('a folder of sockets that cannot be used is a warning that names it, and the agent goes on', async (t) => {
  const dir = temporaryDir()
  t.after(dir.remove)
  const open = join(dir.path, 'open')
  mkdirSync(open)
  chmodSync(open, 0o777)
  const env = { SONDE_SERVICE_ENABLED: 'true', SONDE_SERVICE_SOCKETS_DIR: open, XDG_RUNTIME_DIR: dir.path }
  const sonde = await started(t, ['agent'], env)
  assert.match(sonde.output(), new RegExp(`"level":40,.*${open} is writable by everybody`))
  const { service } = await ask<{ service: { state: string; reason: string } }>(sonde, '/api/v1/node')
  assert.equal(service.state, 'failing')
  assert.match(service.reason, /service\.sockets_dir/)
  // As soon as it can be used it is.
  chmodSync(open, 0o770)
  await until('the socket is there', LIMIT_MS, () => existsSync(join(open, SOCKET_NAME)))
  const isTold = () => existsSync(join(dir.path, 'sonde', noteName(open)))
  await until('who looks in the usual folder is told', LIMIT_MS, isTold)
  await application(t, open).next()
  await assertStops(sonde)
  assert.ok(!isTold())
})

test('an application that looks in another folder than the service is told both', async (t) => {
  const dir = temporaryDir()
  t.after(dir.remove)
  const there = join(dir.path, 'there')
  const sonde = await started(t, ['agent'], { ...inRuntimeDir(dir.path), SONDE_SERVICE_SOCKETS_DIR: there })
  const before = process.env.XDG_RUNTIME_DIR
  process.env.XDG_RUNTIME_DIR = dir.path
  t.after(() => {
    if (before === undefined) delete process.env.XDG_RUNTIME_DIR
    else process.env.XDG_RUNTIME_DIR = before
  })
  const lost = join(dir.path, 'elsewhere')
  const app = application(t, lost)
  await until('it says where', LIMIT_MS, () => app.output().includes(lost) && app.output().includes(there))
  await assertStops(sonde)
})

test('the example of an application that finds no service says so in a line when it is ended', async (t) => {
  const dir = temporaryDir()
  t.after(dir.remove)
  const example = fileURLToPath(new URL('../../examples/app-over-ipc.ts', import.meta.url))
  const flags = ['--conditions=source', '--disable-warning=ExperimentalWarning']
  const child = spawn(process.execPath, [...flags, example, dir.path], { stdio: ['ignore', 'pipe', 'pipe'] })
  t.after(() => child.kill('SIGKILL'))
  let said = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    said += text
  })
  await once(child.stdout, 'data')
  child.kill('SIGTERM')
  const [code] = await once(child, 'close')
  // A warning of the process that nobody answers comes before, where the end took longer than a second.
  const [line, ...others] = said.split('\n').filter((line) => line.startsWith('schema bakery'))
  assert.match(line ?? said, /^schema bakery: not everything was kept: .*no service answers in /)
  assert.deepEqual([code, others], [1, []])
})
