import assert from 'node:assert/strict'
import { once } from 'node:events'
import { get, type IncomingMessage } from 'node:http'
import { test } from 'node:test'
import type { History, QueryAnswer } from '@sonde/sdk/internal'
import { until } from '../../../sdk/test/helper.ts'
import { serveAgent } from '../../test/served-agent.ts'

const QUERY = `/api/v1/query?q=${encodeURIComponent('{"queries":[{"metric":"m"}]}')}`
const STREAM = `/api/v1/stream?q=${encodeURIComponent('{"queries":[{"metric":"steady_samples_total"}]}')}`
const NOTHING: QueryAnswer = { fromMs: 0, toMs: 1, stepMs: 1, times: new Float64Array(0), results: [] }

test('an answer that is under way when the server closes is read to its end', async (t) => {
  const held = Promise.withResolvers<QueryAnswer>()
  const history: History = { query: () => held.promise }
  const { agent, address, app } = await serveAgent(t, { history })
  const answer = fetch(address + QUERY)
  await until('the query', () => agent.http.queries === 1)
  const closed = app.close()
  await until('new requests to be turned away', async () => (await fetch(`${address}/healthz`)).status === 503)
  held.resolve(NOTHING)
  assert.equal((await answer).status, 200)
  assert.equal(((await (await answer).json()) as { toMs: number }).toMs, 1)
  await closed
})

test('an answer that does not come is cut off, and the server closes', async (t) => {
  const history: History = { query: () => new Promise(() => undefined) }
  const { agent, address, app } = await serveAgent(t, { history })
  const answer = fetch(address + QUERY).then(
    () => 'answered',
    () => 'cut off',
  )
  await until('the query', () => agent.http.queries === 1)
  await app.close()
  assert.equal(await answer, 'cut off')
})

test('a live stream ends at once when the server closes, and its client reads what was sent', async (t) => {
  const { address, app } = await serveAgent(t)
  const request = get(address + STREAM, { agent: false })
  const [response] = (await once(request, 'response')) as [IncomingMessage]
  await once(response, 'data')
  const ended = once(response.resume(), 'end')
  await app.close()
  await ended
  assert.ok(response.complete, 'the stream was cut off')
})
