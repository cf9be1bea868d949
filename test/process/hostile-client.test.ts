// What one client of the service may not do to the process, or to another client.
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import {
  createIpc,
  createSource,
  defineType,
  gauge,
  type IpcSink,
  label,
  type Source,
  timestamp,
  wallNs,
} from '@sonde/sdk'
import { RawClient } from '../../packages/agent/test/raw-client.ts'
import { type SondeProcess, startSonde, temporaryDir, until } from '../sonde-process.ts'

const LIMIT_MS = 20_000

const heatType = defineType('heat', 'What a client reports', {
  time: timestamp(),
  place: label(),
  celsius: gauge('f64'),
})

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

/** `sonde up` with its store, and an application that reports to it. */
async function served(t: TestContext): Promise<{ sonde: SondeProcess; socketsDir: string; honest: Honest }> {
  const dir = temporaryDir()
  t.after(() => dir.remove())
  const socketsDir = join(dir.path, 'sockets')
  const env = { SONDE_SERVICE_ENABLED: 'true', SONDE_SERVICE_SOCKETS_DIR: socketsDir }
  const sonde = await startSonde(['up', '--data-dir', dir.path, '--log-level', 'warn'], { env })
  t.after(() => sonde.stop('SIGKILL'))
  const sink = createIpc({ socketsDir, program: 'honest' })
  t.after(() => sink.close())
  const source = createSource({ id: 'honest', emit: (batch) => sink.accept(batch) })
  await report({ sink, source })
  return { sonde, socketsDir, honest: { sink, source } }
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
    const raw = await RawClient.enter(socketsDir, leap)
    raw.announce(heatType, texts)
    raw.page(1, 1, bytes)
    raw.page(0, 1, bytes, { sequence: leap })
    assert.equal(await raw.refused(), 'IPC_FRAME', `page ${leap}`)
  }
  const patient = await RawClient.enter(socketsDir, 7n)
  patient.announce(heatType, texts)
  const last = 8190n * 2n ** 40n
  for (let sequence = 1n; sequence <= last; sequence += 2n ** 40n) patient.page(0, 1, bytes, { sequence })
  await patient.heard('ack', ({ sequence }) => sequence > last - 2n ** 40n)
  await metricOf(sonde, /^sonde_service_missing_pages_total [0-9.e+]{10,}$/m)
  patient.close()
  await assertUnhurt({ sonde, honest })
})
