import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { SondeError } from '@sonde/sdk'
import { parseQueries } from '@sonde/sdk/internal'
import { until } from '../../../sdk/test/helper.ts'
import { serveAgent } from '../../test/served-agent.ts'
import { LiveRound, subscriptionTo } from './live-round.ts'
import { StreamSlots } from './stream-slots.ts'

const RATE = { metric: 'steady_samples_total', function: 'rate' }
const LAST = { metric: 'steady_samples_total' }

async function sampled(t: TestContext, limits: object = {}) {
  const { agent, address } = await serveAgent(t, { limits })
  await until('a sample', () => agent.sources[0]?.state === 'reading')
  return { agent, address }
}

/** A subscription as a client gives it. */
function subscribe(stepMs: number, ...queries: object[]) {
  return subscriptionTo(parseQueries(queries), stepMs)
}

/** What refuses a subscription. */
function refusal(streams: StreamSlots, subscription: ReturnType<typeof subscribe>): SondeError {
  try {
    streams.take(subscription)
  } catch (error) {
    assert.ok(error instanceof SondeError)
    return error
  }
  assert.fail('was admitted')
}

test('what several ask in one round is evaluated once, also where they ask more beside it', async (t) => {
  const { agent } = await sampled(t)
  const queryNow = t.mock.method(agent.recent, 'queryNow')
  const round = new LiveRound(agent)
  const toMs = Math.floor(Date.now() / 1000) * 1000
  const one = await round.points(subscribe(1000, RATE, LAST), toMs - 1000, toMs)
  assert.equal(queryNow.mock.callCount(), 2)
  // Defaults that are written out make it no other question.
  const same = await round.points(subscribe(1000, RATE, { ...LAST, function: 'last', matchers: [] }), toMs - 1000, toMs)
  assert.equal(same, one)
  assert.equal(queryNow.mock.callCount(), 2)
  const more = JSON.parse(await round.points(subscribe(1000, LAST, { metric: 'm' }), toMs - 1000, toMs))
  assert.deepEqual(more.results[0], JSON.parse(one).results[1])
  assert.deepEqual(more.times, JSON.parse(one).times)
  assert.equal(queryNow.mock.callCount(), 3)
  // Of other steps, and on another grid, it is another question.
  await round.points(subscribe(1000, RATE), toMs - 2000, toMs)
  await round.points(subscribe(500, RATE), toMs - 1000, toMs)
  assert.equal(queryNow.mock.callCount(), 5)
})

test('an answer that is put together of shared ones alone has its times', async (t) => {
  const { agent } = await sampled(t)
  const round = new LiveRound(agent)
  await round.points(subscribe(1000, RATE, LAST), 1000, 3000)
  assert.deepEqual(JSON.parse(await round.points(subscribe(1000, LAST), 1000, 3000)).times, [2000, 3000])
})

test('between two answers the main loop gets its turn', async (t) => {
  const { agent } = await sampled(t)
  const order: string[] = []
  // Later than any true time: the turn may have begun by that of the clock.
  t.mock.method(performance, 'now', () => order.length * 1e9)
  t.mock.method(agent.recent, 'queryNow', ({ queries }: { queries: { metric: string }[] }) => {
    order.push(queries[0]?.metric ?? '')
    if (order.length === 1) setImmediate(() => order.push('something else'))
    return { fromMs: 0, toMs: 1000, stepMs: 1000, times: new Float64Array([1000]), results: [{ series: [] }] }
  })
  await new LiveRound(agent).points(subscribe(1000, { metric: 'a' }, { metric: 'b' }), 0, 1000)
  assert.deepEqual(order, ['a', 'something else', 'b'])
})

test('more different queries a second than the limit are refused and counted; what others ask already is let in', async (t) => {
  const { agent } = await sampled(t, { stream_queries_per_s: 20 })
  const streams = new StreamSlots(agent)
  const leave = streams.take(subscribe(100, RATE))
  streams.take(subscribe(200, RATE, LAST))
  const error = refusal(streams, subscribe(1000, RATE))
  assert.equal(error.code, 'STR_LIMIT')
  assert.equal(
    error.message,
    'the live streams evaluate 20 different queries a second, and this one adds 1; allowed: 20. Take a larger stepMs or fewer queries, or raise limits.stream_queries_per_s',
  )
  assert.equal(agent.http.refused.get('stream_queries'), 1)
  const leaveToo = streams.take(subscribe(100, RATE, RATE))
  leave.release()
  refusal(streams, subscribe(100, LAST))
  leaveToo.release()
  streams.take(subscribe(100, LAST))
  assert.equal(agent.http.streams, 2)
  const now = performance.now.bind(performance)
  t.mock.method(performance, 'now', () => now() + 60_000)
  // A stream above the limit of all streams together replaces none.
  refusal(streams, subscribe(100, RATE, LAST, { metric: 'more' }))
  assert.equal(agent.http.streams, 2)
  streams.take(subscribe(100, { metric: 'more' }))
  assert.equal(agent.http.streams, 2, 'one left for it')
})

test('a client is told with 503 that the streams ask too much', async (t) => {
  const { agent, address } = await sampled(t, { stream_queries_per_s: 5 })
  const q = encodeURIComponent(JSON.stringify({ stepMs: 100, queries: [LAST] }))
  const response = await fetch(`${address}/api/v1/stream?q=${q}`)
  assert.equal(response.status, 503)
  assert.match(await response.text(), /"STR_LIMIT","message":"the live streams evaluate 0 .* adds 10; allowed: 5\./)
  assert.equal(agent.http.streams, 0)
})
