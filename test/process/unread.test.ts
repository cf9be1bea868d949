// What clients that read nothing, or little, may not take from others: queries, and memory.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { createIpc, createSource, wallNs } from '@sonde/sdk'
import { heatType } from '../../packages/agent/test/heat.ts'
import { ask, metricsOf, numberOn } from '../ask.ts'
import { type SondeProcess, startSonde, temporaryDir, until } from '../sonde-process.ts'

const LIMIT_MS = 60_000
const PARALLEL = 2
/** Series, queries and points of an answer of 25 MB, nearly as many values as are allowed: no socket takes it whole. */
const SERIES = 800
const QUERIES = 40
const POINTS = 60
const STEP_MS = 60_000
const PLACE_CHARACTERS = 200
/** Some 40 MiB each are held of them: a few more than may be held together. */
const UNREAD_COUNT = 7
const CUT_COUNT = 2

interface Answer {
  readonly times: readonly number[]
  readonly results: readonly { readonly series: readonly { readonly values: readonly unknown[] }[] }[]
}

/** `sonde up` with enough series for the largest answer there is. */
async function served(t: TestContext): Promise<SondeProcess> {
  const dir = temporaryDir()
  const socketsDir = join(dir.path, 'sockets')
  const sonde = await startSonde(['up', '--data-dir', dir.path, '--log-level', 'error'], {
    env: {
      SONDE_SERVICE_ENABLED: 'true',
      SONDE_SERVICE_SOCKETS_DIR: socketsDir,
      SONDE_LIMITS_PARALLEL_QUERIES: String(PARALLEL),
    },
  })
  const sink = createIpc({ socketsDir })
  t.after(async () => {
    await sink.close().catch(() => undefined)
    await sonde.stop('SIGKILL')
    dir.remove()
  })
  const source = createSource({ id: 'hot', emit: (batch) => sink.accept(batch) })
  // Within the last whole step, whenever that ends.
  const time = wallNs() - BigInt(2 * STEP_MS) * 1_000_000n
  for (let i = 0; i < SERIES; i++)
    source.report(heatType, { time, place: String(i).padEnd(PLACE_CHARACTERS, '.'), celsius: 1 })
  source.flush()
  await sink.flush()
  const isThere = async () =>
    (await ask<Answer>(sonde, '/api/v1/query', hour(SMALL))).results[0]?.series.length === SERIES
  await until('what the client reported', LIMIT_MS, isThere)
  return sonde
}

const SMALL = [{ metric: 'heat_celsius' }]
const LARGE = Array.from({ length: QUERIES }, () => SMALL).flat()

/** A question about the last hour. */
function hour(queries: readonly object[]): object {
  const toMs = Date.now()
  return { fromMs: toMs - POINTS * STEP_MS, toMs, stepMs: STEP_MS, queries }
}

/** Sends a request, and reads nothing but the first bytes of the answer, which it gives. */
async function unread(t: TestContext, { address }: SondeProcess, request: string): Promise<[Socket, string]> {
  const { hostname, port } = new URL(address)
  const socket = connect(Number(port), hostname).on('error', () => undefined)
  t.after(() => socket.destroy())
  socket.write(request)
  const [first] = (await once(socket, 'data', { signal: AbortSignal.timeout(LIMIT_MS) })) as [Buffer]
  socket.pause()
  return [socket, first.toString('latin1')]
}

function asRequest(body: object, more = ''): string {
  const text = JSON.stringify(body)
  const headers = `host: localhost\r\ncontent-type: application/json\r\n${more}content-length: ${text.length}\r\n`
  return `POST /api/v1/query HTTP/1.1\r\n${headers}\r\n${text}`
}

async function cutCount(sonde: SondeProcess): Promise<number> {
  return numberOn(await metricsOf(sonde), 'sonde_http_refused_requests_total{reason="answer_stalled"}') ?? 0
}

test('who reads no answer takes no query from others, and loses its own answers when they hold too much', async (t) => {
  const sonde = await served(t)
  const ways = ['', 'accept: application/x-sonde-columns\r\n']
  for (let i = 0; i < UNREAD_COUNT; i++) {
    const [, head] = await unread(t, sonde, asRequest(hour(LARGE), ways[i % ways.length]))
    assert.match(head, /^HTTP\/1\.1 200 /)
    if (i % PARALLEL === 1) await ask(sonde, '/api/v1/query', hour(SMALL))
  }
  const nowMs = Date.now()
  await ask(sonde, `/api/v1/incidents?from=${nowMs - 60_000}&to=${nowMs}`)
  const [result] = (await ask<Answer>(sonde, '/api/v1/query', hour(LARGE))).results
  assert.deepEqual(
    [result?.series.length, result?.series[0]?.values.length],
    [SERIES, POINTS],
    'who reads has it whole',
  )
  await until('cut answers', LIMIT_MS, async () => (await cutCount(sonde)) >= CUT_COUNT)
})

test('streams that resume an hour back and are not read hold no more than other answers', async (t) => {
  const sonde = await served(t)
  for (let i = 0; i < UNREAD_COUNT; i++) {
    const question = encodeURIComponent(JSON.stringify({ stepMs: STEP_MS, queries: LARGE }))
    const path = `/api/v1/stream?q=${question}&lastEventId=${Date.now() - 3_590_000}`
    const [, head] = await unread(t, sonde, `GET ${path} HTTP/1.1\r\nhost: localhost\r\n\r\n`)
    assert.match(head, /^HTTP\/1\.1 200 /)
  }
  await until('cut streams', LIMIT_MS, async () => (await cutCount(sonde)) >= CUT_COUNT)
  await ask(sonde, '/api/v1/query', hour(SMALL))
})
