import assert from 'node:assert/strict'
import { connect } from 'node:net'
import { hostname } from 'node:os'
import { type TestContext, test } from 'node:test'
import type { EventAnswer, SamplesHeader } from '@sonde/sdk/api'
import { until } from '../../../sdk/test/helper.ts'
import { type EdgeCommand, SOURCES } from '../../test/edge-source.ts'
import { askEvents, eventPath } from '../../test/events-in.ts'
import { serveAgent } from '../../test/served-agent.ts'

/** An agent with one closed event, and its answers. */
async function start(
  t: TestContext,
  during: (command: (one: EdgeCommand) => Promise<unknown>, address: string) => Promise<void> = async () => undefined,
) {
  const { agent, address } = await serveAgent(t, { sources: SOURCES, traceback: { before_ms: 200, after_ms: 50 } })
  const source = agent.sources.find(({ name }) => name === 'edges')
  assert.ok(source !== undefined)
  const command = (one: EdgeCommand) => source.command(one)
  await until('samples from before', async () => {
    const taps = await source.taps().catch(() => [])
    return taps.length === 2 && taps.every(({ count }) => count > 3000)
  })
  await command({ kind: 'edge', rule: 'r', device: 'e0', isStart: true })
  await during(command, address)
  await command({ kind: 'edge', rule: 'r', device: 'e0', isStart: false })
  const { id } = await until('it is closed', async () => {
    const answer = await askEvents(address, 'state=ended')
    return answer.events[0]
  })
  const event = (await (await fetch(`${address}${eventPath(id)}/lanes`)).json()) as EventAnswer
  return {
    address,
    id,
    event,
    samples: (query: string) => samplesOf(`${address}${eventPath(id)}/samples?${query}`),
  }
}

async function samplesOf(url: string) {
  const answer = await fetch(url)
  assert.equal(answer.status, 200, await answer.clone().text())
  assert.equal(answer.headers.get('content-type'), 'application/vnd.sonde.samples')
  const buffer = await answer.arrayBuffer()
  const headBytes = new DataView(buffer).getUint32(0, true)
  const head = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 4, headBytes))) as SamplesHeader
  let at = (4 + headBytes + 7) & ~7
  const columns = head.columns.map(({ kind, length }) => {
    const column = kind === 'f64' ? new Float64Array(buffer, at, length) : new Float32Array(buffer, at, length)
    at += (column.byteLength + 7) & ~7
    return column
  })
  assert.equal(at, buffer.byteLength)
  return { head, columns }
}

const laneOf = ({ lanes }: EventAnswer, device: string, name: string) => {
  const lane = lanes.find((one) => one.device === device && one.name === name)
  assert.ok(lane !== undefined, `${device} ${name} among ${lanes.map((one) => one.name).join(', ')}`)
  return lane
}

test('an event has a lane for each signal of the node, and the marks of its window', async (t) => {
  const { event, id } = await start(t)
  const bytes = laneOf(event, 'e0', 'bytes_total')
  assert.deepEqual(
    [bytes.role, bytes.unit, bytes.source, bytes.type, bytes.gaps],
    ['counter', 'bytes', 'edges', 'edge_sample', []],
  )
  assert.ok(Math.abs(bytes.resolutionMs - 0.1) < 0.001, String(bytes.resolutionMs))
  assert.equal(laneOf(event, 'e1', 'level').role, 'gauge')
  assert.equal(laneOf(event, 'e0', 'reads_total').type, 'edge_state')
  assert.ok(event.lanes.every(({ name }) => name !== 'sample' && name !== 'time'))
  assert.deepEqual([event.lanesKept, event.lanesLeftOut], [event.lanes.length, 0])
  assert.deepEqual(
    event.marks.map(({ event: of, isStart }) => [of, isStart]),
    [
      [id, true],
      [id, false],
    ],
  )
})

test('an open event has lanes and samples of what is recorded so far, and they grow', async (t) => {
  await start(t, async (_command, address) => {
    const open = async (): Promise<EventAnswer | undefined> => {
      const { events } = await askEvents(address, 'state=open')
      if (events[0] === undefined) return undefined
      return (await (await fetch(`${address}${eventPath(events[0].id)}/lanes`)).json()) as EventAnswer
    }
    const first = await until('a window', async () => {
      const answer = await open()
      return answer?.event.window !== undefined && answer
    })
    const { event } = first
    assert.deepEqual([event.endMs, event.end], [undefined, undefined], 'it is open')
    assert.ok(event.window !== undefined && Math.abs(event.startMs - event.window.fromMs - 200) < 0.01)
    const { key } = laneOf(first, 'e0', 'bytes_total')
    const { fromMs, toMs } = event.window
    const { head } = await samplesOf(
      `${address}${eventPath(event.id)}/samples?lanes=${key}&from=${fromMs}&to=${toMs}&points=20`,
    )
    assert.ok((head.lanes[0]?.samples ?? 0) > 1000, `${head.lanes[0]?.samples} samples of 200 ms and more`)
    await until('more of it', async () => ((await open())?.event.window?.toMs ?? 0) > toMs)
  })
})

test('zoomed in, each point is a sample; a counter is its increase a second', async (t) => {
  const { event, samples } = await start(t)
  const [bytes, level] = [laneOf(event, 'e0', 'bytes_total').key, laneOf(event, 'e0', 'level').key]
  const fromMs = event.event.startMs - 20
  const { head, columns } = await samples(`lanes=${bytes},${level}&from=${fromMs}&to=${fromMs + 10}&points=500`)
  const [ofBytes, ofLevel] = head.lanes
  assert.ok(ofBytes?.times !== undefined && ofLevel !== undefined && ofBytes.isExact)
  assert.equal(ofLevel.times, ofBytes.times, 'lanes of a series share their times')
  const times = columns[ofBytes.times] as Float64Array
  assert.ok(ofBytes.samples >= 99 && ofBytes.samples <= 101, String(ofBytes.samples))
  assert.equal(times.length, ofBytes.samples + 2)
  assert.ok((times[0] as number) < 0 && (times.at(-1) as number) > 10)
  const rates = columns[ofBytes.lows] as Float64Array
  // The neighbour has one before it as well: nothing but its rate may be unknown.
  for (const rate of rates.subarray(1)) assert.ok(Math.abs(rate - 1e10) < 1e5, String(rate))
  const levels = columns[ofLevel.lows] as Float64Array
  for (let i = 1; i < levels.length; i++) assert.equal(levels[i], ((levels[i - 1] as number) + 1) % 100)
})

test('of more samples than points, each point is the least and the greatest value', async (t) => {
  const { event, samples } = await start(t)
  const { key } = laneOf(event, 'e0', 'level')
  const { fromMs } = event.event.window ?? { fromMs: 0 }
  const { head, columns } = await samples(`lanes=${key}&from=${fromMs}&to=${fromMs + 200}&points=20`)
  const [lane] = head.lanes
  assert.ok(lane !== undefined && !lane.isExact)
  assert.equal(lane.times, undefined)
  const [lows, highs] = [columns[lane.lows], columns[lane.highs]] as [Float32Array, Float32Array]
  assert.equal(lows.length, 20)
  // A stretch of 10 ms has each of a hundred levels, but for the first and the last sample of it.
  for (let i = 0; i < 20; i++)
    assert.ok((lows[i] as number) <= 1 && (highs[i] as number) >= 98, `${lows[i]} ${highs[i]}`)
})

test('samples that are missing are a gap of the lane, and no increase', async (t) => {
  const { event, samples } = await start(t, async (command) => {
    await command({ kind: 'skip', samples: 500 })
    await new Promise((resolve) => setTimeout(resolve, 100))
  })
  const lane = laneOf(event, 'e0', 'bytes_total')
  assert.equal(lane.gaps.length, 1)
  const [gap] = lane.gaps
  assert.ok(
    gap !== undefined && gap.samples === 500 && Math.abs(gap.toMs - gap.fromMs - 50.1) < 0.1,
    JSON.stringify(gap),
  )
  assert.equal(event.event.leftOut, 1000, 'of both devices')
  const { head, columns } = await samples(`lanes=${lane.key}&from=${gap.fromMs - 2}&to=${gap.toMs + 2}&points=100`)
  const values = columns[head.lanes[0]?.lows ?? -1] as Float64Array
  assert.equal([...values.subarray(1)].filter(Number.isNaN).length, 1)
})

test('what is asked wrongly is refused with what is allowed', async (t) => {
  const { address, id, event } = await start(t)
  const key = event.lanes[0]?.key
  const cases: [string, number, string][] = [
    ['incidents?state=shut', 400, 'QRY_FORM'],
    ['incidents?limit=0', 400, 'QRY_FORM'],
    ['incidents?from=b', 400, 'QRY_FORM'],
    ['incidents?from=2&to=1', 400, 'QRY_FORM'],
    ['incidents/12', 404, 'INC_UNKNOWN'],
    ['incidents/..%2f..', 404, 'INC_UNKNOWN'],
    [`incidents/${hostname()}:12/samples?lanes=0.1`, 404, 'TRB_UNKNOWN'],
    [`incidents/${hostname()}:${id}/samples`, 400, 'QRY_FORM'],
    [`incidents/${hostname()}:${id}/samples?lanes=9999.1`, 400, 'QRY_FORM'],
    [`incidents/${hostname()}:${id}/samples?lanes=__proto__`, 400, 'QRY_FORM'],
    [`incidents/${hostname()}:${id}/samples?lanes=${key}&points=1`, 400, 'QRY_FORM'],
    [`incidents/${hostname()}:${id}/samples?lanes=${key}&from=5&to=5`, 400, 'QRY_FORM'],
  ]
  for (const [path, status, code] of cases) {
    const answer = await fetch(`${address}/api/v1/${path}`)
    assert.equal(answer.status, status, path)
    assert.equal(((await answer.json()) as { error: { code: string } }).error.code, code, path)
  }
})

test('the stream tells the incidents at the start, and takes a place among the live streams', async (t) => {
  const { address, agent } = await serveAgent(t, { sources: SOURCES, limits: { stream_clients: 1 } })
  const cancel = new AbortController()
  t.after(() => cancel.abort())
  const answer = await fetch(`${address}/api/v1/incidents/stream`, { signal: cancel.signal })
  assert.equal(answer.headers.get('content-type'), 'text/event-stream')
  const reader = answer.body?.pipeThrough(new TextDecoderStream()).getReader()
  const { value = '' } = (await reader?.read()) ?? {}
  assert.match(value, /^event: incidents\ndata: \{"nowMs":/)
  assert.equal(agent.http.streams, 1)
  const refused = await fetch(`${address}/api/v1/incidents/stream`)
  assert.equal(refused.status, 503)
  cancel.abort()
  await until('the place is free', () => agent.http.streams === 0)
})

test('clients that do not read the stream take no memory and are cut off; those that read go on', async (t) => {
  const { agent, address } = await serveAgent(t, { sources: SOURCES, limits: { stream_clients: 40 } })
  const source = agent.sources.find(({ name }) => name === 'edges')
  await until('the source reads', () => source?.state === 'reading')
  const { hostname, port } = new URL(address)
  const slow = Array.from({ length: 32 }, () => {
    const socket = connect(Number(port), hostname)
    socket.on('error', () => undefined)
    socket.write(`GET /api/v1/incidents/stream HTTP/1.1\r\nHost: ${hostname}:${port}\r\n\r\n`)
    // It reads nothing: what is sent fills the buffers of the system.
    socket.pause()
    return socket
  })
  t.after(() => {
    for (const socket of slow) socket.destroy()
  })
  await until('all have a place', () => agent.http.streams === 32)
  // Lists of a hundred long events, again and again.
  const rule = 'r'.repeat(200)
  for (let index = 0; index < 200; index++)
    agent.traceback.onEdge('edges', {
      ...{ rule, device: `e${index}`, event: 256 * (index + 1) + 1, isStart: true },
      ...{ monoNs: process.hrtime.bigint(), errorNs: 0n },
    })
  const cancel = new AbortController()
  t.after(() => cancel.abort())
  const answer = await fetch(`${address}/api/v1/incidents/stream`, { signal: cancel.signal })
  const reader = answer.body?.pipeThrough(new TextDecoderStream()).getReader()
  let read = ''
  await until('three messages', async () => {
    read += (await reader?.read())?.value ?? ''
    return read.split('event: incidents').length > 3
  })
  const held = agent.http.streams
  assert.ok(held <= 33, String(held))
})

test('64 questions for samples at a time are answered or refused with a sentence, and none is held up for good', async (t) => {
  const { address, id, event } = await start(t)
  const keys = event.lanes.map(({ key }) => key).join(',')
  const ask = () => fetch(`${address}${eventPath(id)}/samples?lanes=${keys}&points=20000`)
  const answers = await Promise.all(Array.from({ length: 64 }, ask))
  const bodies = await Promise.all(answers.map((answer) => answer.arrayBuffer()))
  const served = answers.filter(({ status }) => status === 200)
  assert.ok(served.length >= 32, `${served.length} served`)
  for (const [at, { status }] of answers.entries())
    if (status !== 200) {
      assert.equal(status, 503)
      assert.match(Buffer.from(bodies[at] as ArrayBuffer).toString(), /QRY_BUSY/)
    }
  assert.equal((await ask()).status, 200, 'places are given back')
})
