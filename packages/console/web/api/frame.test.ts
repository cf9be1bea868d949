import assert from 'node:assert/strict'
import { mock, test } from 'node:test'
import type { MetricQuery, QueryAnswer, QueryBody } from '@sonde/sdk/api'
import { ApiError } from './client.ts'
import { Frame, type FrameWorld, queryKey } from './frame.ts'
import type { StreamHandlers, StreamNews, StreamRequest } from './live-stream.ts'

const BYTES: MetricQuery = { metric: 'bytes', function: 'rate' }
const DROPS: MetricQuery = { metric: 'drops', function: 'rate' }
const NO_NEWS: StreamNews = { onNode: () => undefined, onHints: () => undefined }

/** A server that answers every query with one series. The test writes its streams. */
function createWorld(refused: readonly string[] = []) {
  const requests: QueryBody[] = []
  const streams: { request: StreamRequest; handlers: StreamHandlers; isOpen: boolean }[] = []
  let failure: ApiError | undefined
  let paints: (() => void)[] | undefined
  const world: FrameWorld = {
    postQuery: async (request) => {
      requests.push(request)
      if (failure) throw failure
      if (request.queries.some(({ metric }) => refused.includes(metric))) {
        throw new ApiError('QRY_UNKNOWN_METRIC', 422, 'not known')
      }
      return answerTo(request.queries, request.toMs, request.stepMs)
    },
    openLiveStream: (request, handlers) => {
      const stream = { request, handlers, isOpen: true }
      streams.push(stream)
      return {
        close: () => {
          stream.isOpen = false
        },
      }
    },
    isHidden: () => false,
    nextPaint: (show) => (paints ? paints.push(show) : show()),
  }
  return {
    world,
    requests,
    streams,
    fail: (error: ApiError | undefined) => {
      failure = error
    },
    /** Holds all paints until the returned function is called. */
    holdPaints: () => {
      const held: (() => void)[] = []
      paints = held
      return () => {
        for (const show of held.splice(0)) show()
      }
    },
  }
}

function answerTo(queries: readonly MetricQuery[], toMs: number, stepMs: number): QueryAnswer {
  const last = Math.floor(toMs / stepMs) * stepMs
  const meta = { unit: '', role: 'counter', help: '', resolutionMs: stepMs, clock: 'wall', notes: [] } as const
  return {
    fromMs: last - stepMs,
    toMs: last,
    stepMs,
    times: Float64Array.of(last - stepMs, last),
    results: queries.map(({ metric, function: fn }) => ({
      ...meta,
      metric,
      function: fn,
      series: [{ labels: {}, values: Float64Array.of(1, 2), resetsMs: [] }],
    })),
  }
}

/** Waits for timers without delay and the work that they start. */
async function settle(): Promise<void> {
  for (let i = 0; i < 20; i++) await new Promise((resolve) => setImmediate(resolve))
}

/** Waits for a condition, at most two seconds. */
async function until(what: string, isSo: () => boolean): Promise<void> {
  const limitMs = Date.now() + 2_000
  while (!isSo()) {
    assert.ok(Date.now() < limitMs, `not in time: ${what}`)
    await new Promise((resolve) => setImmediate(resolve))
  }
}

const LIVE = { kind: 'live', windowMs: 60_000 } as const

test('what is asked in one turn goes out in one request, and is kept up by one stream', async () => {
  const { world, requests, streams } = createWorld()
  const frame = new Frame(LIVE, 1_000, NO_NEWS, world)
  frame.want([BYTES])
  frame.want([DROPS, BYTES])
  await until('an answer', () => frame.getSnapshot().grid !== undefined)
  assert.equal(requests.length, 1)
  assert.deepEqual(requests[0]?.queries, [BYTES, DROPS])
  await until('a stream', () => streams.length === 1)
  assert.equal(streams[0]?.request.afterMs, frame.getSnapshot().newestMs)
  frame.close()
  assert.equal(streams[0]?.isOpen, false)
})

test('more queries than one request and one stream take go into several, and all are kept up', async () => {
  const { world, requests, streams } = createWorld()
  const hints: unknown[] = []
  const frame = new Frame(LIVE, 1_000, { ...NO_NEWS, onHints: (answer) => hints.push(answer) }, world)
  const queries = Array.from({ length: 130 }, (_, at): MetricQuery => ({ metric: `m${at}`, function: 'rate' }))
  frame.want(queries)
  await until('all streams', () => streams.length === 3)
  assert.deepEqual(
    [requests, streams.map(({ request }) => request)].map((all) => all.map((request) => request.queries.length)),
    [
      [64, 64, 2],
      [64, 64, 2],
    ],
  )
  const { newestMs } = frame.getSnapshot()
  const [first, second, third] = streams.map(({ handlers }) => handlers)
  for (const handlers of [first, second]) handlers?.onOpen(true)
  assert.equal(frame.getSnapshot().streamOpen, undefined, 'one stream is not yet open')
  third?.onOpen(true)
  assert.equal(frame.getSnapshot().streamOpen, true)
  first?.onPoints(answerTo(queries.slice(0, 64), newestMs + 1_000, 1_000))
  third?.onPoints(answerTo(queries.slice(128), newestMs + 1_000, 1_000))
  for (const handlers of [first, second, third]) handlers?.onHints({} as never)
  assert.equal(hints.length, 1, 'news come once')
  frame.setVisible(false)
  frame.setVisible(true)
  assert.deepEqual(
    streams.map(({ isOpen }) => isOpen),
    [false, false, false, true, true, true],
  )
  assert.equal(streams[3]?.request.afterMs, newestMs, 'the second stream is a point behind')
  second?.onOpen(false)
  frame.close()
})

test('points of the stream are added to the answer', async () => {
  const { world, streams } = createWorld()
  const frame = new Frame(LIVE, 1_000, NO_NEWS, world)
  frame.want([BYTES])
  await until('a stream', () => streams.length === 1)
  const before = frame.getSnapshot()
  streams[0]!.handlers.onPoints(answerTo([BYTES], before.newestMs + 1_000, 1_000))
  const after = frame.getSnapshot()
  assert.equal(after.newestMs, before.newestMs + 1_000)
  assert.equal(after.grid?.length, 3)
  assert.notEqual(after, before)
  frame.close()
})

test('messages that pile up before the page is painted cost one drawing', async () => {
  const { world, streams, holdPaints } = createWorld()
  const frame = new Frame(LIVE, 1_000, NO_NEWS, world)
  frame.want([BYTES])
  await until('a stream', () => streams.length === 1)
  const paint = holdPaints()
  let told = 0
  frame.subscribe(() => told++)
  const { newestMs } = frame.getSnapshot()
  for (const ahead of [1_000, 2_000, 3_000]) {
    streams[0]!.handlers.onPoints(answerTo([BYTES], newestMs + ahead, 1_000))
  }
  assert.equal(told, 0)
  paint()
  assert.equal(told, 1)
  assert.equal(frame.getSnapshot().newestMs, newestMs + 3_000)
  assert.equal(frame.getSnapshot().grid?.length, 5)
  // A reopened stream resumes after all received points, shown or not.
  streams[0]!.handlers.onPoints(answerTo([BYTES], newestMs + 4_000, 1_000))
  frame.setVisible(false)
  frame.setVisible(true)
  assert.equal(streams.at(-1)?.request.afterMs, newestMs + 4_000)
  frame.close()
})

test('what the stream cannot have is a gap in every column, and told', async () => {
  const { world, streams } = createWorld()
  const frame = new Frame(LIVE, 1_000, NO_NEWS, world)
  frame.want([BYTES])
  await until('a stream', () => streams.length === 1)
  const { newestMs } = frame.getSnapshot()
  const gap = { fromMs: newestMs, toMs: newestMs + 5_000, reason: 'the stream stood still' }
  streams[0]!.handlers.onGap(gap)
  assert.deepEqual(frame.getSnapshot().streamGaps, [gap])
  streams[0]!.handlers.onPoints(answerTo([BYTES], newestMs + 7_000, 1_000))
  const { grid } = frame.getSnapshot()
  const [column] = grid!.results.get(queryKey(BYTES))!.columns.values()
  assert.deepEqual([...grid!.slice(column!)], [1, 2, ...new Array<number>(5).fill(Number.NaN), 1, 2])
  frame.close()
})

test('a stream that the server ends says why until points come again', async () => {
  const { world, streams } = createWorld()
  const frame = new Frame(LIVE, 1_000, NO_NEWS, world)
  frame.want([BYTES])
  await until('a stream', () => streams.length === 1)
  streams[0]!.handlers.onFault(new ApiError('QRY_COST_LIMIT', 0, 'too many series'))
  assert.equal(frame.getSnapshot().streamFault?.message, 'too many series')
  streams[0]!.handlers.onPoints(answerTo([BYTES], frame.getSnapshot().newestMs + 1_000, 1_000))
  assert.equal(frame.getSnapshot().streamFault, undefined)
  frame.close()
})

test('a question that the server refuses fails alone', async () => {
  const { world } = createWorld(['drops'])
  const frame = new Frame(LIVE, 1_000, NO_NEWS, world)
  frame.want([BYTES, DROPS])
  await until('both to settle', () => frame.getSnapshot().queryErrors.size === 1)
  await until('an answer', () => frame.getSnapshot().grid !== undefined)
  assert.equal(frame.getSnapshot().queryErrors.get(queryKey(DROPS))?.code, 'QRY_UNKNOWN_METRIC')
  assert.ok(frame.getSnapshot().grid?.results.has(queryKey(BYTES)))
  assert.equal(frame.getSnapshot().error, undefined)
  frame.close()
})

test('a server that is out of reach is asked again, and the error goes when it answers', async () => {
  const { world, requests, fail } = createWorld()
  mock.timers.enable({ apis: ['setTimeout'] })
  try {
    fail(new ApiError('WEB_UNREACHABLE', 0, 'does not answer'))
    const frame = new Frame(LIVE, 1_000, NO_NEWS, world)
    frame.want([BYTES])
    mock.timers.tick(0)
    await settle()
    assert.equal(frame.getSnapshot().error?.code, 'WEB_UNREACHABLE')
    fail(undefined)
    mock.timers.tick(999)
    await settle()
    assert.equal(requests.length, 1)
    mock.timers.tick(1)
    await settle()
    assert.equal(requests.length, 2)
    assert.equal(frame.getSnapshot().error, undefined)
    assert.ok(frame.getSnapshot().grid)
    frame.close()
  } finally {
    mock.timers.reset()
  }
})

test('what waits for its answer is told, and an error of it stays while the stream carries others', async () => {
  const { world, streams, fail } = createWorld()
  const frame = new Frame(LIVE, 1_000, NO_NEWS, world)
  frame.want([BYTES])
  assert.ok(frame.awaitedSinceMs !== undefined)
  await until('a stream', () => streams.length === 1)
  assert.equal(frame.awaitedSinceMs, undefined)
  fail(new ApiError('WEB_UNREACHABLE', 0, 'does not answer'))
  const release = frame.want([DROPS])
  await until('the failure', () => frame.getSnapshot().error !== undefined)
  streams[0]!.handlers.onPoints(answerTo([BYTES], frame.getSnapshot().newestMs + 1_000, 1_000))
  assert.equal(frame.getSnapshot().error?.code, 'WEB_UNREACHABLE')
  assert.ok(frame.awaitedSinceMs !== undefined)
  release()
  await until('nothing that failed is asked', () => frame.getSnapshot().error === undefined)
  assert.equal(frame.awaitedSinceMs, undefined)
  frame.close()
})

test('a question that nobody asks any more is forgotten, and the frame is idle after the last one', async () => {
  const { world, streams } = createWorld()
  const frame = new Frame(LIVE, 1_000, NO_NEWS, world)
  const releaseBytes = frame.want([BYTES])
  const releaseDrops = frame.want([DROPS])
  await until('an answer', () => streams.length === 1)
  releaseDrops()
  assert.equal(frame.getSnapshot().grid?.results.has(queryKey(DROPS)), false)
  await until('a stream without it', () => streams.length === 2)
  assert.deepEqual(streams[1]?.request.queries, [BYTES])
  assert.equal(frame.idle, false)
  releaseBytes()
  assert.equal(frame.idle, true)
  frame.close()
})

test('a fixed range has no stream; a live one rests while nobody looks', async () => {
  const fixed = createWorld()
  const still = new Frame({ kind: 'fixed', fromMs: 0, toMs: 60_000 }, 1_000, NO_NEWS, fixed.world)
  still.want([BYTES])
  await until('an answer', () => still.getSnapshot().grid !== undefined)
  await settle()
  assert.equal(fixed.streams.length, 0)
  const live = createWorld()
  const frame = new Frame(LIVE, 1_000, NO_NEWS, live.world)
  frame.want([BYTES])
  await until('a stream', () => live.streams.length === 1)
  frame.setVisible(false)
  assert.equal(live.streams[0]?.isOpen, false)
  frame.setVisible(true)
  assert.equal(live.streams.length, 2)
  still.close()
  frame.close()
})
