import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { until } from '../../test/helper.ts'
import { counter, label, timestamp } from '../schema/field.ts'
import { defineType } from '../schema/record-type.ts'
import { wallNs } from '../source/clock.ts'
import type { SchemaOptions } from './config.ts'
import { createSchema, type Schema } from './schema.ts'

const job = defineType('job', 'A job', { time: timestamp(), queue: label(), done_total: counter('u64') })
const ANY = { endpoint: '127.0.0.1:0' }

function declared(t: TestContext, options: Partial<SchemaOptions>): Schema {
  const schema = createSchema({ name: 'jobs', ...options })
  schema.addType(job)
  t.after(() => schema.close().catch(() => undefined))
  return schema
}

async function linesOf(schema: Schema, path = '/metrics'): Promise<string[]> {
  const text = await (await fetch(`${schema.status().prometheus}${path}`)).text()
  return text.split('\n').filter((line) => /^[a-z]/.test(line))
}

function report(schema: Schema, id: string, tag: string, done: number, labels: Record<string, string> = {}): void {
  const source = schema.createSource({ id, tag, labels })
  source.report(job, { time: wallNs(), queue: 'mail', done_total: done })
  void source.flush()
}

/** A port that somebody else has. */
async function takenEndpoint(t: TestContext): Promise<string> {
  const other = createServer().listen(0, '127.0.0.1')
  await once(other, 'listening')
  t.after(() => other.close())
  return `127.0.0.1:${(other.address() as AddressInfo).port}`
}

test('a schema serves its metrics, told apart by source and tag unless the application says otherwise', async (t) => {
  const schema = declared(t, { prometheus: { ...ANY, constantLabels: { zone: 'a' } } })
  await schema.start()
  report(schema, 'app-1', 'batch', 1)
  report(schema, 'app-2', '', 2)
  report(schema, 'app-3', 'night', 3, { source: 'mine', site: 'x' })
  assert.deepEqual(await linesOf(schema), [
    'job_done_total{queue="mail",source="app-1",tag="batch",zone="a"} 1',
    'job_done_total{queue="mail",source="app-2",zone="a"} 2',
    'job_done_total{queue="mail",source="mine",tag="night",site="x",zone="a"} 3',
  ])
  const { address = '' } = { address: schema.status().prometheus }
  await schema.close()
  await assert.rejects(fetch(`${address}/metrics`))
})

test('PROMETHEUS_ENDPOINT is enough, false is none, and two schemas of a process share one listener', async (t) => {
  const endpoint = await takenEndpoint(t)
  const before = process.env.PROMETHEUS_ENDPOINT
  t.after(() => {
    if (before === undefined) delete process.env.PROMETHEUS_ENDPOINT
    else process.env.PROMETHEUS_ENDPOINT = before
  })
  process.env.PROMETHEUS_ENDPOINT = endpoint
  const none = declared(t, { prometheus: false })
  await none.start()
  assert.equal(none.status().prometheus, undefined)
  await assert.rejects(declared(t, {}).start(), { code: 'PRM_TAKEN', message: /\(PROMETHEUS_ENDPOINT\) is taken/ })

  const probe = createServer().listen(0, '127.0.0.1')
  await once(probe, 'listening')
  process.env.PROMETHEUS_ENDPOINT = `127.0.0.1:${(probe.address() as AddressInfo).port}`
  probe.close()
  await once(probe, 'close')
  const [one, two] = [declared(t, {}), declared(t, {})]
  await Promise.all([one.start(), two.start()])
  report(one, 'one', '', 1)
  report(two, 'two', '', 2)
  assert.equal((await linesOf(one)).length, 2)
  await one.close()
  assert.deepEqual(await linesOf(two), ['job_done_total{queue="mail",source="two"} 2'])
})

test('two schemas that report one series on one page: the second hears of it from flush and a warning, the first has nothing to hear', async (t) => {
  const warnings: string[] = []
  const note = ({ message }: Error) => void warnings.push(message)
  process.on('warning', note)
  t.after(() => process.off('warning', note))
  const probe = createServer().listen(0, '127.0.0.1')
  await once(probe, 'listening')
  const endpoint = `127.0.0.1:${(probe.address() as AddressInfo).port}`
  probe.close()
  await once(probe, 'close')
  const [one, two] = [declared(t, { prometheus: { endpoint } }), declared(t, { prometheus: { endpoint } })]
  await Promise.all([one.start(), two.start()])
  report(one, 'app', 'batch', 1)
  const source = two.createSource({ id: 'app', tag: 'batch' })
  source.report(job, { time: wallNs(), queue: 'mail', done_total: 2 })
  const cause =
    /prometheus does not show 1 record \(1 duplicate_series: another source reports the same series.*tag or label\)/
  await assert.rejects(source.flush(), { code: 'TEL_HIDDEN', message: cause, lost: 0, hidden: 1, pending: 0 })
  await one.flush()
  await until('a warning', () => warnings.length > 0)
  assert.match(
    warnings.join('\n'),
    /^prometheus of schema jobs does not show records as duplicate_series: another source .*$/,
  )
  await one.close()
  source.report(job, { time: wallNs(), queue: 'mail', done_total: 3 })
  await two.close()
})

test('where another process has the port, the service gets the records, or nothing is opened', async (t) => {
  const endpoint = await takenEndpoint(t)
  const socketsDir = mkdtempSync(join(tmpdir(), 'sonde-prometheus-'))
  t.after(() => rmSync(socketsDir, { recursive: true, force: true }))
  const schema = declared(t, {
    prometheus: { endpoint, whenTaken: 'service' },
    ipc: { socketsDir, socketTimeoutMs: 10 },
  })
  await schema.start()
  assert.deepEqual(
    schema.status().sinks.map(({ name }) => name),
    ['ipc'],
  )
  const failing = declared(t, { prometheus: { endpoint } })
  await assert.rejects(failing.start(), { code: 'PRM_TAKEN' })
  assert.equal(failing.status().state, 'declared')
})

test('a schema that cannot open its other sinks gives its port back, and may be started again', async (t) => {
  const probe = createServer().listen(0, '127.0.0.1')
  await once(probe, 'listening')
  const endpoint = `127.0.0.1:${(probe.address() as AddressInfo).port}`
  probe.close()
  await once(probe, 'close')
  const schema = declared(t, { prometheus: { endpoint }, export: { files: { dataRoot: '/dev/null/x' } } })
  for (let i = 0; i < 2; i++) await assert.rejects(schema.start(), { code: 'FIL_ROOT' })
  const other = createServer().listen(Number(endpoint.split(':')[1]), '127.0.0.1')
  await once(other, 'listening')
  other.close()
})

test('workers of node:cluster share no port: one serves its metrics, and the others are told what to do', async (t) => {
  const probe = createServer().listen(0, '127.0.0.1')
  await once(probe, 'listening')
  const endpoint = `127.0.0.1:${(probe.address() as AddressInfo).port}`
  probe.close()
  await once(probe, 'close')
  const main = fileURLToPath(new URL('../../test/cluster-main.ts', import.meta.url))
  const flags = ['--conditions=source', '--disable-warning=ExperimentalWarning']
  const primary = spawn(process.execPath, [...flags, main, '3', endpoint], { stdio: ['ignore', 'pipe', 'inherit'] })
  // Its workers end with it.
  t.after(() => primary.kill('SIGKILL'))
  let said = ''
  primary.stdout.on('data', (chunk: Buffer) => {
    said += chunk.toString()
  })
  await until('every worker spoke', () => said.split('\n').length === 4)
  const [serving = [], ...refused] = said
    .trimEnd()
    .split('\n')
    .sort((a, b) => a.indexOf('PRM_TAKEN') - b.indexOf('PRM_TAKEN'))
    .map((line) => [line.split(' ', 1)[0], line])
  assert.match(serving[1] ?? '', /^\d+ http:\/\/127\.0\.0\.1:\d+$/)
  for (const [, line = ''] of refused)
    assert.match(
      line,
      /^\d+ PRM_TAKEN .* is taken; every worker of node:cluster has metrics .*to the agent, or serve them in the primary/,
    )
  for (let i = 0; i < 8; i++) {
    const page = await (await fetch(`http://${endpoint}/metrics`, { headers: { connection: 'close' } })).text()
    assert.match(page, new RegExp(`^worker_up\\{.*worker="${serving[0]}"`, 'm'), 'always the same process')
  }
})
