import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { SondeError } from '@sonde/sdk'
import type { NodeAnswer } from '@sonde/sdk/api'
import { gridOf, type History, type QueryRequest } from '@sonde/sdk/internal'
import { until } from '../../../sdk/test/helper.ts'
import { HttpStats } from '../pipeline/http-stats.ts'
import { createHttpServer } from './http-server.ts'
import { polledStreamRoute } from './polled-stream.ts'
import { QueryPlaces } from './query-places.ts'
import { UnreadAnswers } from './unread-answers.ts'

/** Serves a stream over a history, and gives the reader of its text. */
async function streaming(t: TestContext, query: History['query'], more = '') {
  const http = new HttpStats()
  const app = createHttpServer({
    http,
    log: { error: () => undefined, debug: () => undefined },
    connectionCount: 100,
    isEndless: () => true,
    admit: () => undefined,
    moreOf: () => Promise.resolve(''),
  })
  const unread = new UnreadAnswers(http)
  const places = new QueryPlaces(http, 2)
  polledStreamRoute(app, { history: { query }, http, places, unread, state: () => ({ node: 'here' }) as NodeAnswer })
  t.after(() => app.close())
  const address = await app.listen({ host: '127.0.0.1', port: 0 })
  const asked = encodeURIComponent(JSON.stringify({ stepMs: 1000, queries: [{ metric: 'm' }] }))
  const open = (suffix = more) => fetch(`${address}/api/v1/stream?q=${asked}${suffix}`)
  return { http, places, open }
}

/** Reads until a text has come. */
async function readUntil(response: Response, wanted: string): Promise<string> {
  let text = ''
  for await (const chunk of response.body ?? []) {
    text += Buffer.from(chunk).toString()
    if (text.includes(wanted)) break
  }
  return text
}

function answerTo({ fromMs, toMs, stepMs }: QueryRequest) {
  return { fromMs, toMs, stepMs, times: gridOf(fromMs, toMs, stepMs), results: [] }
}

test('a stream tells the state first, then every step once, without a hole between answers', async (t) => {
  const requests: QueryRequest[] = []
  const { open } = await streaming(t, async (request) => {
    requests.push(request)
    return answerTo(request)
  })
  const beganMs = Math.floor(Date.now() / 1000) * 1000 - 10_000
  const response = await open(`&lastEventId=${beganMs}`)
  const text = await readUntil(response, 'event: points')
  assert.match(text, /^event: state\ndata: {"node":"here"}\n\nevent: points\nid: \d+\n/)
  assert.equal(requests[0]?.fromMs, beganMs)
  const id = Number(/id: (\d+)/.exec(text)?.[1])
  assert.equal(requests[0]?.toMs, id)
  await readUntil(await open(`&lastEventId=${id - 3000}`), 'event: points')
  assert.equal(requests.at(-1)?.fromMs, id - 3000)
})

test('who was away for longer than an hour is told of the gap', async (t) => {
  const { open } = await streaming(t, async (request) => answerTo(request))
  const text = await readUntil(await open('&lastEventId=1000000000'), 'event: points')
  assert.match(text.slice(0, 400), /event: gap\ndata: {"fromMs":1000000000,"toMs":\d+,"reason":"[^"]+"}/)
})

test('a history that fails is asked again, and nothing of what came meanwhile is missed', async (t) => {
  const requests: QueryRequest[] = []
  const { open } = await streaming(t, async (request) => {
    requests.push(request)
    if (requests.length === 1) throw new SondeError('QRY_BACKEND', 'down')
    return answerTo(request)
  })
  const beganMs = Math.floor(Date.now() / 1000) * 1000 - 5000
  await readUntil(await open(`&lastEventId=${beganMs}`), 'event: points')
  assert.deepEqual([requests[0]?.fromMs, requests[1]?.fromMs], [beganMs, beganMs])
})

test('who is far behind waits while others ask, and misses nothing', async (t) => {
  const requests: QueryRequest[] = []
  const { places, open } = await streaming(t, async (request) => {
    requests.push(request)
    return answerTo(request)
  })
  const beganMs = Math.floor(Date.now() / 1000) * 1000 - 3_000_000
  const others = Promise.withResolvers<void>()
  const other = { host: 'elsewhere', connection: '1', isGone: () => false }
  const asked = [1, 2].map(() => places.take(other, () => others.promise))
  const response = await open(`&lastEventId=${beganMs}`)
  await until('its turn', () => places.waitingCount === 1)
  assert.equal(requests.length, 0)
  others.resolve()
  await Promise.all(asked)
  await readUntil(response, 'event: points')
  assert.equal(requests[0]?.fromMs, beganMs)
})

test('a question that cannot be answered ends its stream with the reason', async (t) => {
  const { open } = await streaming(t, () => Promise.reject(new SondeError('QRY_FORM', 'a gauge')))
  const text = await (await open(`&lastEventId=${Date.now() - 5000}`)).text()
  assert.match(text, /event: fault\ndata: {"code":"QRY_FORM","message":"a gauge"}/)
})

test('as many streams as may are open, one more is refused and counted', async (t) => {
  const { http, open } = await streaming(t, async (request) => answerTo(request))
  const opened = await Promise.all(Array.from({ length: 64 }, () => open()))
  assert.ok(opened.every(({ status }) => status === 200))
  const refused = await open()
  assert.equal(refused.status, 503)
  assert.equal(http.refused.get('stream_clients'), 1)
  await Promise.all(opened.map(({ body }) => body?.cancel()))
})
