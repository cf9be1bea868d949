// What one client of the service may not do to the process, or to another client.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { closeSync, existsSync, openSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import {
  createIpc,
  createSource,
  defineType,
  gauge,
  type IpcSink,
  labelNumber,
  type Source,
  timestamp,
  wallNs,
} from '@sonde/sdk'
import { definitionOf } from '@sonde/sdk/internal'
import { heatType } from '../../packages/agent/test/heat.ts'
import { RawClient } from '../../packages/agent/test/raw-client.ts'
import { type SondeProcess, startSonde, temporaryDir, until } from '../sonde-process.ts'

const MODE = 0o600
const LIMIT_MS = 20_000
/** Answers that fit into no buffer of a socket. */
const UNREAD_COUNT = 20_000
/** Questions that fit into the buffers of a socket, and whose answers do not. */
const STUCK_COUNT = 1500
const REPLACED_COUNT = 20
/** Descriptors that `sonde up` opens now and then: a file of its store, an answer to this test. */
const BETWEEN_COUNT = 5

/** One record of `heat`, as it lies in a page, and the texts of its source. */
function heatPage(): { bytes: Buffer; texts: readonly string[] } {
  let bytes = Buffer.alloc(0)
  const source = createSource({ id: 'a', emit: (batch) => (bytes = Buffer.from(batch.bytes)) })
  source.report(heatType, { time: wallNs(), place: 'hostile', celsius: 1 })
  source.flush()
  return { bytes, texts: source.symbols.since(0) }
}

interface Honest {
  readonly sink: IpcSink
  readonly source: Source
}

interface Served {
  readonly sonde: SondeProcess
  readonly socketsDir: string
  /** Folder of what it keeps. */
  readonly dir: string
  readonly honest: Honest
  /** Ends it at once, and starts it again. */
  restart(): Promise<SondeProcess>
}

/** `sonde up` with its store, and an application that reports to it. */
async function served(t: TestContext): Promise<Served> {
  const dir = temporaryDir()
  t.after(() => dir.remove())
  const socketsDir = join(dir.path, 'sockets')
  const env = { SONDE_SERVICE_ENABLED: 'true', SONDE_SERVICE_SOCKETS_DIR: socketsDir }
  const start = async () => {
    const started = await startSonde(['up', '--data-dir', dir.path, '--log-level', 'warn'], { env })
    t.after(() => started.stop('SIGKILL'))
    return started
  }
  const sonde = await start()
  const restart = async () => {
    await sonde.stop('SIGKILL')
    return start()
  }
  const sink = createIpc({ socketsDir, program: 'honest' })
  t.after(() => sink.close())
  const source = createSource({ id: 'honest', emit: (batch) => sink.accept(batch) })
  await report({ sink, source })
  return { sonde, socketsDir, dir: dir.path, honest: { sink, source }, restart }
}

/** The honest application reports a record and is acknowledged. */
async function report({ sink, source }: Honest): Promise<void> {
  source.report(heatType, { time: wallNs(), place: 'oven', celsius: 180 })
  source.flush()
  await sink.flush()
}

async function assertUnhurt({ sonde, honest }: { sonde: SondeProcess; honest: Honest }): Promise<void> {
  await report(honest)
  assert.deepEqual([...honest.sink.stats.dropped], [])
  const metrics = await (await fetch(`${sonde.address}/metrics`)).text()
  assert.match(metrics, /^heat_celsius\{place="oven"[^}]*\} 0*180$/m)
  assert.equal(sonde.child.exitCode, null, sonde.output())
}

/** The whole text of a metric once it was reported anew. */
async function metricOf({ address }: SondeProcess, pattern: RegExp): Promise<string> {
  return until(
    String(pattern),
    LIMIT_MS,
    async () => pattern.exec(await (await fetch(`${address}/metrics`)).text())?.[0],
  )
}

test('a leap of the sequence is refused, leaps that add up fill no counter, and both end nobody but their client', async (t) => {
  const { sonde, socketsDir, honest } = await served(t)
  const { bytes, texts } = heatPage()
  for (const leap of [2n ** 64n - 1n, 2n ** 53n, 2n ** 53n - 1n]) {
    const raw = await RawClient.enter(socketsDir)
    raw.announce(heatType, texts)
    raw.page(1, 1, bytes)
    raw.page(0, 1, bytes, { sequence: leap })
    assert.equal(await raw.refused(), 'IPC_FRAME', `page ${leap}`)
  }
  const patient = await RawClient.enter(socketsDir)
  patient.announce(heatType, texts)
  const last = 8190n * 2n ** 40n
  for (let sequence = 1n; sequence <= last; sequence += 2n ** 40n) patient.page(0, 1, bytes, { sequence })
  await patient.heard('ack', ({ sequence }) => sequence > last - 2n ** 40n)
  await metricOf(sonde, /^sonde_service_missing_pages_total [0-9.e+]{10,}$/m)
  patient.close()
  await assertUnhurt({ sonde, honest })
})

test('nobody poses as another client: its id alone opens nothing, also after a restart, and its secret is shown nowhere', async (t) => {
  const { sonde, socketsDir, dir, honest, restart } = await served(t)
  const { bytes, texts } = heatPage()
  const victim = await RawClient.enter(socketsDir)
  const { client, secret } = await victim.identity
  const shown = await (await fetch(`${sonde.address}/api/v1/sources`)).text()
  assert.ok(shown.includes(client.toString(16)), 'its id is published')
  for (const guess of ['0'.repeat(64), secret.replace(/^./, (digit) => (digit === '0' ? '1' : '0'))]) {
    const thief = await RawClient.open(socketsDir)
    thief.hello({ client, secret: guess })
    assert.equal(await thief.refused(), 'IPC_SECRET')
  }
  const line =
    sonde
      .output()
      .split('\n')
      .find((text) => text.includes('IPC_SECRET')) ?? ''
  assert.equal(line.match(/"pid":/g)?.length, 1, `the log says who it was, and no key comes twice: ${line}`)
  victim.announce(heatType, texts)
  victim.page(1, 1, bytes)
  await victim.heard('ack', ({ sequence }) => sequence === 1n)
  const pages = ['/metrics', '/api/v1/sources', '/api/v1/node'].map(async (path) =>
    (await fetch(sonde.address + path)).text(),
  )
  for (const text of [...(await Promise.all(pages)), sonde.output()]) assert.ok(!text.includes(secret.slice(0, 16)))
  assert.equal(statSync(join(dir, 'service.key')).mode & 0o777, MODE)
  const restarted = await restart()
  const again = await RawClient.enter(socketsDir, { client, secret })
  assert.equal((await again.heard('welcome')).lastSequence, 1n)
  again.close()
  await assertUnhurt({ sonde: restarted, honest })
})

test('a file is read only where its client can write it, and the service takes no file away', async (t) => {
  const { sonde, socketsDir, honest } = await served(t)
  const file = `/dev/shm/sonde-${process.pid}-victim`
  t.after(() => rmSync(file, { force: true }))
  const content = Buffer.alloc(4096, 'what is in the file of somebody else ')
  writeFileSync(file, content, { mode: MODE, flag: 'wx' })
  const raw = await RawClient.enter(socketsDir)
  raw.announce(heatType, heatPage().texts)
  raw.send({ kind: 'attach', body: { file, slots: 1, slotBytes: 4096 } })
  await raw.heard('challenge')
  raw.send({ kind: 'proof', body: {} })
  assert.deepEqual(await raw.heard('attached'), { ok: false, reason: 'the file does not begin with the nonce' })
  assert.deepEqual(readFileSync(file), content)
  // A file of its own is challenged anew, and stays until its client takes it away.
  raw.frames.length = 0
  raw.send({ kind: 'attach', body: { file, slots: 1, slotBytes: 4096 } })
  const { nonce } = await raw.heard('challenge')
  const descriptor = openSync(file, 'r+')
  writeFileSync(descriptor, Buffer.from(nonce, 'hex'))
  closeSync(descriptor)
  raw.send({ kind: 'proof', body: {} })
  assert.equal((await raw.heard('attached')).ok, true)
  assert.ok(existsSync(file))
  raw.close()
  await assertUnhurt({ sonde, honest })
})

test('clients that declare all the types they can leave room for the types of others', async (t) => {
  const { sonde, socketsDir, honest } = await served(t)
  const greedy = await Promise.all(Array.from({ length: 12 }, () => RawClient.enter(socketsDir)))
  for (const [client, raw] of greedy.entries()) {
    const types = Array.from({ length: 256 }, (_, index) => {
      const type = defineType(`greedy_${client}_${index}`, '', { value: gauge('u64') })
      return { index, fingerprint: type.fingerprint, definition: definitionOf(type) }
    })
    raw.send(
      { kind: 'types', body: types },
      { kind: 'source', body: { index: 0, id: 'greedy', tag: '', labels: {}, schema: '' } },
    )
    raw.page(1, 1, Buffer.alloc(8), { type: 255 })
    await raw.heard('ack')
  }
  const sink = createIpc({ socketsDir, program: 'newcomer' })
  const source = createSource({ id: 'newcomer', emit: (batch) => sink.accept(batch) })
  for (let i = 0; i < 20; i++) {
    source.report(defineType(`honest_${i}`, 'Of a newcomer', { time: timestamp(), celsius: gauge('f64') }), {
      time: wallNs(),
      celsius: i,
    })
  }
  source.flush()
  await sink.flush()
  assert.deepEqual([...sink.stats.dropped], [])
  await metricOf(sonde, /^honest_19_celsius[^\n]* 0*19$/m)
  await sink.close()
  await assertUnhurt({ sonde, honest })
})

test('an expression that is slow on what a client reports is refused, and takes no turn of the others', async (t) => {
  const { sonde, socketsDir, honest } = await served(t)
  const sink = createIpc({ socketsDir })
  const hostile = createSource({ id: 'hostile', emit: (batch) => sink.accept(batch) })
  for (let i = 0; i < 20; i++)
    hostile.report(heatType, { time: wallNs(), place: `${i}${'ab'.repeat(2040)}`, celsius: 1 })
  hostile.flush()
  await sink.flush()
  const matchers = [{ label: 'place', op: '!~', value: '.(a|b)*a(a|b){200}c' }]
  const query = { fromMs: Date.now() - 60_000, toMs: Date.now(), queries: [{ metric: 'heat_celsius', matchers }] }
  for (let i = 0; i < 5; i++) {
    const headers = { 'content-type': 'application/json' }
    const asked = { method: 'POST', headers, body: JSON.stringify({ ...query, toMs: query.toMs + i }) }
    const answer = await fetch(`${sonde.address}/api/v1/query`, asked)
    const { error } = (await answer.json()) as { error?: { code: string; message: string } }
    assert.deepEqual([answer.status, error?.code], [400, 'QRY_FORM'], error?.message)
    await report(honest)
  }
  await sink.close()
  await assertUnhurt({ sonde, honest })
})

test('clients that never stop sending take no turn of the others', async (t) => {
  const { sonde, socketsDir, honest } = await served(t)
  const { bytes, texts } = heatPage()
  let isOver = false
  const flood = async () => {
    const raw = await RawClient.enter(socketsDir)
    raw.announce(heatType, texts, 'flood')
    for (let sequence = 1; !isOver; sequence++) {
      raw.page(sequence, 1, bytes)
      if (raw.socket.writableNeedDrain) await once(raw.socket, 'drain')
    }
    raw.close()
  }
  const floods = Array.from({ length: 4 }, flood)
  for (let i = 0; i < 20; i++) await report(honest)
  isOver = true
  await Promise.all(floods)
  await assertUnhurt({ sonde, honest })
})

/** A client that asks for something that is refused, again and again, and reads no answer. */
async function askInVain(socketsDir: string, times: number, before?: RawClient): Promise<RawClient> {
  const raw = await RawClient.enter(socketsDir, await before?.identity)
  raw.socket.pause()
  const ask = { kind: 'attach', body: { file: `/dev/shm/${'x'.repeat(190)}`, slots: 1, slotBytes: 4096 } } as const
  for (let i = 0; i < times; i++) raw.send(ask)
  return raw
}

test('a client that reads no answer is not read either, until it does', async (t) => {
  const { sonde, socketsDir, honest } = await served(t)
  const raw = await askInVain(socketsDir, UNREAD_COUNT)
  t.after(() => raw.close())
  // What waits is less and less for as long as the service reads.
  for (let before = Number.POSITIVE_INFINITY; raw.socket.writableLength < before; ) {
    before = raw.socket.writableLength
    for (let i = 0; i < 20; i++) await report(honest)
  }
  assert.ok(raw.socket.writableLength > 0, 'the service read everything, and keeps the answers')
  await assertUnhurt({ sonde, honest })
  raw.socket.resume()
  const answers = () => raw.frames.filter(({ kind }) => kind === 'attached').length
  await until('each is answered', LIMIT_MS, () => answers() === UNREAD_COUNT)
})

test('a connection whose client reads nothing is closed when another takes its place', async (t) => {
  const { sonde, socketsDir, honest } = await served(t)
  const descriptors = () => readdirSync(`/proc/${sonde.child.pid}/fd`).length
  const before = descriptors()
  let last: RawClient | undefined
  for (let i = 0; i <= REPLACED_COUNT; i++) {
    const raw = await askInVain(socketsDir, STUCK_COUNT, last)
    t.after(() => raw.close())
    last = raw
    // Until then the service has read everything that it reads.
    for (let j = 0; j < 5; j++) await report(honest)
  }
  await until('one of them is left', LIMIT_MS, () => descriptors() <= before + 1 + BETWEEN_COUNT)
  assert.match(await metricOf(sonde, /^sonde_service_clients .*$/m), / 0*2$/)
  await assertUnhurt({ sonde, honest })
})

test('a client that reports all the series it can leaves room for those of others, whose records are acknowledged before, and takes no long turn when it leaves', async (t) => {
  const { sonde, socketsDir, honest } = await served(t)
  const flood = defineType('heat_of_all', 'Shared by both', { place: labelNumber('u32'), celsius: gauge('u32') })
  const { recordBytes } = flood.layout
  const offset = flood.labels[0]?.offset ?? 0
  const raw = await RawClient.enter(socketsDir)
  raw.announce(flood)
  for (let page = 0; page < 6; page++) {
    const bytes = Buffer.alloc(10_000 * recordBytes)
    for (let i = 0; i < 10_000; i++) bytes.writeUInt32LE(page * 10_000 + i, i * recordBytes + offset)
    raw.page(page + 1, 10_000, bytes)
  }
  await report(honest)
  assert.ok(!raw.frames.some(({ kind, body }) => kind === 'ack' && body.sequence === 6n), 'its own waits')
  await raw.heard('ack', ({ sequence }) => sequence === 6n)
  const lines = async () =>
    (await (await fetch(`${sonde.address}/metrics`)).text()).match(/^heat_of_all_celsius\{/gm)?.length
  assert.equal(await lines(), 25_000, 'half of the series of a type')
  honest.source.report(flood, { place: 999_999, celsius: 7 })
  await report(honest)
  await metricOf(sonde, /^heat_of_all_celsius\{place="999999"[^}]*\} 0*7$/m)
  raw.close()
  await until('only the honest series stays', LIMIT_MS, async () => (await lines()) === 1)
  await assertUnhurt({ sonde, honest })
})
