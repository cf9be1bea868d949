import assert from 'node:assert/strict'
import type { ServerResponse } from 'node:http'
import { type TestContext, test } from 'node:test'
import { serveAgent } from '../../test/served-agent.ts'
import { LiveRound, subscriptionTo } from './live-round.ts'
import { LiveStream } from './live-stream.ts'

/** A connection whose client reads when the test says so. */
function slowConnection() {
  const written: string[] = []
  const state = { writableLength: 0, isDestroyed: false }
  const out = {
    get writableLength() {
      return state.writableLength
    },
    write: (text: string) => written.push(text),
    end: () => undefined,
    destroy() {
      state.isDestroyed = true
    },
  }
  return { state, written, out: out as unknown as ServerResponse }
}

/** A stream with one step a second and a clock of the test. */
async function openStream(t: TestContext) {
  const { agent } = await serveAgent(t)
  t.mock.timers.enable({ apis: ['Date'], now: 1_790_000_000_000 })
  const connection = slowConnection()
  const query = { metric: 'm', function: 'last', matchers: [], by: undefined, aggregate: 'sum' } as const
  const stream = new LiveStream(agent, connection.out, subscriptionTo([query], 1000))
  await stream.advance(new LiveRound(agent))
  const windows = () =>
    connection.written
      .filter((text) => text.startsWith('event: points'))
      .map((text) => JSON.parse(text.slice(text.indexOf('{'))) as { fromMs: number; toMs: number })
      .map(({ fromMs, toMs }) => (toMs - fromMs) / 1000)
  return {
    agent,
    stream,
    ...connection,
    windows,
    wait: async (seconds: number) => {
      for (let i = 0; i < seconds; i++) {
        t.mock.timers.tick(1000)
        await stream.advance(new LiveRound(agent))
      }
    },
  }
}

test('nothing is made while something waits for its client; then one message covers it all', async (t) => {
  const { state, wait, windows, stream } = await openStream(t)
  await wait(3)
  assert.deepEqual(windows(), [1, 1, 1])
  state.writableLength = 1
  await wait(20)
  assert.deepEqual(windows(), [1, 1, 1])
  state.writableLength = 0
  await wait(2)
  assert.deepEqual(windows(), [1, 1, 1, 21, 1])
  assert.equal(state.isDestroyed, false)
  stream.close()
})

test('a client that takes nothing for 30 s is cut off and counted', async (t) => {
  const { agent, state, wait, stream } = await openStream(t)
  await wait(1)
  state.writableLength = 1
  await wait(29)
  assert.equal(state.isDestroyed, false)
  await wait(5)
  assert.equal(state.isDestroyed, true)
  assert.equal(agent.http.refused.get('stream_stalled'), 1)
  stream.close()
})

test('a clock that jumps forward is a gap that is told', async (t) => {
  const { written, wait, windows, stream } = await openStream(t)
  await wait(1)
  // An hour passes at once, as for a process that was suspended: memory holds 300 s.
  t.mock.timers.setTime(Date.now() + 3_600_000)
  await wait(1)
  const gap = written.find((text) => text.startsWith('event: gap'))
  assert.match(gap ?? '', /stood still for longer than memory reaches back/)
  assert.equal(windows().at(-1), 300)
  stream.close()
})

test('a clock that is set back goes on from where it is', async (t) => {
  const { written, wait, windows, stream } = await openStream(t)
  await wait(2)
  const realNow = Date.now
  t.mock.method(Date, 'now', () => realNow() - 3_600_000)
  await wait(4)
  assert.deepEqual(windows().slice(-2), [1, 1])
  assert.ok(!written.some((text) => text.startsWith('event: gap')))
  stream.close()
})

test('after close nothing is written', async (t) => {
  const { written, wait, stream } = await openStream(t)
  await wait(1)
  stream.close()
  const { length } = written
  await wait(5)
  assert.equal(written.length, length)
})

test('hints of which only the numbers changed are sent once a second', async (t) => {
  const { agent, stream, written } = await openStream(t)
  const sent = () => written.filter((text) => text.startsWith('event: hints')).length
  let version = 1000
  t.mock.getter(agent.hints, 'version', () => version)
  t.mock.getter(agent.hints, 'turns', () => 1000)
  await stream.advance(new LiveRound(agent))
  const first = sent()
  for (let look = 1; look <= 12; look++) {
    version++
    t.mock.timers.tick(250)
    await stream.advance(new LiveRound(agent))
    assert.equal(sent(), first + Math.floor(look / 4), `after ${look * 250} ms`)
  }
  stream.close()
})
