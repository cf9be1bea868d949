import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type ClientRequest, get, type IncomingMessage } from 'node:http'
import { type TestContext, test } from 'node:test'
import type { History, QueryAnswer } from '@sonde/sdk/internal'
import { until } from '../../../sdk/test/helper.ts'
import { serveAgent } from '../../test/served-agent.ts'
import { LiveStreams } from './live-streams.ts'

const STEP_MS = 100

interface StreamEvent {
  readonly event: string
  readonly id: string
  readonly data: string
}

interface Points {
  readonly fromMs: number
  readonly toMs: number
  readonly times: readonly number[]
  readonly results: readonly { readonly series: readonly { readonly values: readonly (number | null)[] }[] }[]
}

/** A client of the stream that reads as a browser does. */
class StreamClient {
  readonly events: StreamEvent[] = []
  readonly request: ClientRequest
  isEnded = false
  #response: IncomingMessage | undefined

  private constructor(request: ClientRequest) {
    this.request = request
  }

  static async open(url: string, headers: Record<string, string> = {}): Promise<StreamClient> {
    const client = new StreamClient(get(url, { headers, agent: false }))
    client.request.on('error', () => {
      client.isEnded = true
    })
    const [response] = (await once(client.request, 'response')) as [IncomingMessage]
    assert.equal(response.statusCode, 200)
    assert.equal(response.headers['content-type'], 'text/event-stream')
    client.#response = response
    client.#read(response)
    return client
  }

  #read(response: IncomingMessage): void {
    let text = ''
    response.setEncoding('utf8')
    response.on('error', () => undefined)
    response.on('close', () => {
      this.isEnded = true
    })
    response.on('data', (chunk: string) => {
      text += chunk
      const blocks = text.split('\n\n')
      text = blocks.pop() ?? ''
      for (const block of blocks) this.events.push(eventOf(block))
    })
  }

  points(): Points[] {
    return this.events.filter(({ event }) => event === 'points').map(({ data }) => JSON.parse(data) as Points)
  }

  lastId(): string {
    return this.events.findLast(({ id }) => id !== '')?.id ?? ''
  }

  pause(): void {
    this.#response?.pause()
  }

  resume(): void {
    this.#response?.resume()
  }

  close(): void {
    this.request.destroy()
  }
}

function eventOf(block: string): StreamEvent {
  const lines = new Map(block.split('\n').map((line) => line.split(/: (.*)/s, 2) as [string, string]))
  return { event: lines.get('event') ?? '', id: lines.get('id') ?? '', data: lines.get('data') ?? '' }
}

function addressOf(address: string, form: object = {}): string {
  const q = { stepMs: STEP_MS, queries: [{ metric: 'steady_samples_total' }], ...form }
  return `${address}/api/v1/stream?q=${encodeURIComponent(JSON.stringify(q))}`
}

async function served(test: TestContext, options: Parameters<typeof serveAgent>[1] = {}) {
  const { agent, address } = await serveAgent(test, options)
  await until('a sample', () => agent.sources[0]?.state === 'reading')
  return { agent, address }
}

/** Fails unless the times of all messages are every step from the first to the last, once. */
function assertEveryStepOnce(points: readonly Points[]): void {
  const times = points.flatMap((message) => message.times)
  const first = times[0] as number
  assert.deepEqual(
    times,
    times.map((_, i) => first + i * STEP_MS),
  )
  for (const { toMs, times } of points) assert.equal(times.at(-1), toMs)
}

test('sends the state first, then every step once, with an id that is its time', async (t) => {
  const { address } = await served(t)
  const client = await StreamClient.open(addressOf(address))
  await until('ten messages', () => client.points().length >= 10)
  client.close()
  assert.equal(client.events[0]?.event, 'state')
  assert.equal(JSON.parse(client.events[0]?.data ?? '').version, 'test')
  assertEveryStepOnce(client.points())
  for (const { event, id, data } of client.events)
    if (event === 'points') assert.equal(id, String(JSON.parse(data).toMs))
  const { results } = client.points().at(-1) as Points
  assert.deepEqual(
    results[0]?.series.map(({ values }) => values.length),
    [1, 1],
  )
})

test('a client that was cut off goes on where it stopped: no step is missing, none comes twice', async (t) => {
  const { address } = await served(t)
  const whole = await StreamClient.open(addressOf(address))
  const first = await StreamClient.open(addressOf(address))
  await until('three messages', () => first.points().length >= 3)
  // In the midst of a message, as a network does it: without a word, from the socket.
  first.request.socket?.destroy()
  await until('the cut', () => first.isEnded)
  const lastId = first.lastId()
  const sofar = whole.points().length
  await until('steps that only the other one saw', () => whole.points().length >= sofar + 8)
  for (const [url, headers] of [
    [addressOf(address), { 'last-event-id': lastId }],
    [`${addressOf(address)}&lastEventId=${lastId}`, {}],
  ] as const) {
    const second = await StreamClient.open(url, headers as Record<string, string>)
    await until('five messages', () => second.points().length >= 5)
    second.close()
    const joined = [...first.points(), ...second.points()]
    assertEveryStepOnce(joined)
    const [missed] = second.points()
    assert.equal(missed?.fromMs, Number(lastId))
    assert.ok((missed?.times.length ?? 0) >= 8, 'what was missed comes in one message')
    const values = missed?.results[0]?.series.flatMap((series) => series.values) ?? []
    assert.ok(values.length >= 16 && !values.includes(null), 'with its values')
    assert.ok(!second.events.some(({ event }) => event === 'gap'))
  }
  whole.close()
})

test('a client that was away for longer than one may resume is told what it cannot have', async (t) => {
  const { address } = await served(t)
  const longAgoMs = Math.floor((Date.now() - 2 * 3_600_000) / STEP_MS) * STEP_MS
  const client = await StreamClient.open(addressOf(address), { 'last-event-id': String(longAgoMs) })
  await until('two messages', () => client.points().length >= 2)
  client.close()
  const gap = JSON.parse(client.events.find(({ event }) => event === 'gap')?.data ?? '{}')
  assert.equal(gap.fromMs, longAgoMs)
  assert.equal(gap.toMs, client.points()[0]?.fromMs)
  assert.match(gap.reason, /at most an hour/)
  assertEveryStepOnce(client.points())
})

test('a client is told when history cannot say what it missed, and goes on live', async (t) => {
  const history: History = { query: () => Promise.reject(new Error('the disk is gone')) }
  const { address } = await served(t, { history })
  const lastId = String(Math.floor((Date.now() - 5000) / STEP_MS) * STEP_MS)
  const client = await StreamClient.open(addressOf(address), { 'last-event-id': lastId })
  await until('two messages', () => client.points().length >= 2)
  client.close()
  const [told] = client.events
  assert.equal(told?.event, 'gap')
  const gap = JSON.parse(told?.data ?? '{}')
  assert.deepEqual({ fromMs: gap.fromMs, toMs: gap.toMs }, { fromMs: Number(lastId), toMs: client.points()[0]?.fromMs })
  assertEveryStepOnce(client.points())
})

test('a client that resumes asks a query like any other: it waits for its turn', async (t) => {
  const ends: (() => void)[] = []
  const answer: QueryAnswer = { fromMs: 0, toMs: 1, stepMs: 1, times: new Float64Array(0), results: [] }
  const history: History = { query: () => new Promise((resolve) => ends.push(() => resolve(answer))) }
  const { agent, address } = await served(t, { history, limits: { parallel_queries: 1 } })
  const resumed = `${addressOf(address)}&lastEventId=${Date.now() - 5000}`
  const query = fetch(`${address}/api/v1/query?q=${encodeURIComponent('{"queries":[{"metric":"m"}]}')}`)
  await until('a query', () => ends.length === 1)
  const opening = StreamClient.open(resumed)
  await until('the stream', () => agent.http.streams === 1)
  assert.equal(ends.length, 1)
  ends[0]?.()
  await (await query).text()
  await until('another query', () => ends.length === 2)
  ends[1]?.()
  const client = await opening
  await until('what was missed', () => client.points().length > 0)
  client.close()
})

test('an id from the future is taken as new', async (t) => {
  const { address } = await served(t)
  const client = await StreamClient.open(addressOf(address), { 'last-event-id': String(Date.now() + 3_600_000) })
  await until('two messages', () => client.points().length >= 2)
  client.close()
  assertEveryStepOnce(client.points())
})

test('a client that does not read costs bounded memory, and misses nothing when it reads again', async (t) => {
  // Some 300 kB a step: in a second it is more than a connection holds.
  const { agent, address } = await served(t, { devices: 2000 })
  const queryNow = t.mock.method(agent.recent, 'queryNow')
  const client = await StreamClient.open(addressOf(address))
  await until('a message', () => client.points().length > 0)
  client.pause()
  // While the client stands still the agent stops asking for its values: nothing is made that cannot be sent.
  let quiet = 0
  let calls = queryNow.mock.callCount()
  await until('the agent to wait for the client', async () => {
    await new Promise((resolve) => setTimeout(resolve, STEP_MS))
    quiet = queryNow.mock.callCount() === calls ? quiet + 1 : 0
    calls = queryNow.mock.callCount()
    return quiet >= 5
  })
  const pausedMs = Date.now()
  client.resume()
  await until('the steps of now', () => (client.points().at(-1)?.toMs ?? 0) > pausedMs + 1000)
  client.close()
  assertEveryStepOnce(client.points())
  const longest = Math.max(...client.points().map(({ times }) => times.length))
  assert.ok(longest >= 5, 'one message covers what was missed')
})

test('more streams than the limit are told to come back, and counted; a closed one makes room, and so does the oldest after a minute', async (t) => {
  const { agent, address } = await served(t, { limits: { stream_clients: 2 } })
  const clients = [await StreamClient.open(addressOf(address)), await StreamClient.open(addressOf(address))]
  const refused = await fetch(addressOf(address))
  assert.equal(refused.status, 503)
  assert.equal(refused.headers.get('retry-after'), '5')
  assert.match(
    await refused.text(),
    /"STR_LIMIT","message":"2 live streams are open; close one, or raise limits\.stream_clients"/,
  )
  assert.equal(agent.http.refused.get('stream_clients'), 1)
  const now = performance.now.bind(performance)
  const later = t.mock.method(performance, 'now', () => now() + 60_000)
  clients.push(await StreamClient.open(addressOf(address)))
  later.mock.restore()
  await until('the oldest leaves', () => clients[0]?.isEnded === true)
  const { event, data } = clients[0]?.events.at(-1) ?? {}
  assert.deepEqual([event, /"STR_LIMIT","message":"another client took the place/.test(data ?? '')], ['fault', true])
  assert.deepEqual([agent.http.streams, agent.http.refused.get('stream_replaced')], [2, 1])
  assert.equal(
    (await fetch(addressOf(address))).status,
    503,
    'the other one is as old, and the clock of the test is back',
  )
  clients[1]?.close()
  await until('room', () => agent.http.streams === 1)
  const third = await StreamClient.open(addressOf(address))
  for (const client of [...clients, third]) client.close()
  await until('all to be gone', () => agent.http.streams === 0)
})

test('a question that cannot be answered is refused before the stream opens', async (t) => {
  const { agent, address } = await served(t)
  t.mock.method(agent.recent, 'queryNow', () => {
    throw new Error('broken')
  })
  assert.equal((await fetch(addressOf(address))).status, 500)
  assert.equal(agent.http.streams, 0)
})

test('a question that can no longer be answered ends its stream with the reason, and nothing else', async (t) => {
  const { agent, address } = await served(t)
  const client = await StreamClient.open(addressOf(address))
  const other = await StreamClient.open(addressOf(address, { stepMs: 60_000 }))
  await until('a message', () => client.points().length > 0)
  const mock = t.mock.method(agent.recent, 'queryNow', () => {
    throw new Error('too many series all of a sudden')
  })
  await until('the end', () => client.isEnded)
  mock.mock.restore()
  assert.match(client.events.at(-1)?.data ?? '', /too many series all of a sudden/)
  assert.equal(client.events.at(-1)?.event, 'fault')
  assert.equal(other.isEnded, false)
  // An unexpected fault while a client resumes is counted and ends only that stream.
  const add = t.mock.method(LiveStreams.prototype, 'add', () => {
    throw new Error('no room in the set')
  })
  const failing = await StreamClient.open(addressOf(address))
  await until('the end', () => failing.isEnded)
  add.mock.restore()
  assert.equal(other.isEnded, false)
  other.close()
  const counted = async () =>
    /^sonde_fault_faults_total\{place="live"\} 0*1$/m.test(await fetchText(`${address}/metrics`))
  await until('the fault is counted', counted)
})

async function fetchText(address: string): Promise<string> {
  return (await fetch(address)).text()
}
