import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { LaneSamples, SamplesRequest } from '../../api/event-samples.ts'
import { SampleCache } from './sample-cache.ts'
import { START_MS } from './test-lanes.ts'

const bounds = { fromMs: START_MS, toMs: START_MS + 10_000 }
const view = { fromMs: START_MS + 5_000, toMs: START_MS + 5_010 }

function makeCache(isExact: (key: string, request: SamplesRequest) => boolean = () => false) {
  const asked: SamplesRequest[] = []
  const errors: unknown[] = []
  const state = { isFailing: false }
  const cache = new SampleCache(
    'a-node:7',
    async (request) => {
      asked.push(request)
      if (state.isFailing) throw new Error('away')
      const lanes = request.lanes.map((key): LaneSamples => {
        const column = Float64Array.of(request.points)
        return {
          key,
          isExact: isExact(key, request),
          times: Float64Array.of(request.fromMs),
          lows: column,
          highs: column,
        }
      })
      return { ...request, lanes }
    },
    { onSamples: () => undefined, onError: (error) => errors.push(error) },
  )
  return { cache, asked, errors, state }
}

test('a view is drawn from the whole until what was asked for it is here', async () => {
  const { cache, asked } = makeCache()
  await cache.loadWhole(['a', 'b'], bounds, 600)
  const whole = cache.samplesFor('a', view)
  assert.equal(whole, cache.wholeOf('a'))
  await cache.loadPart(['a'], view, bounds, 600)
  assert.deepEqual([asked[1]?.lanes, asked[1]?.fromMs, asked[1]?.toMs], [['a'], view.fromMs - 10, view.toMs + 10])
  assert.notEqual(cache.samplesFor('a', view), whole)
  assert.equal(cache.samplesFor('a', bounds), whole, 'a part does not stand for the whole')
})

test('moving within what is here asks for nothing', async () => {
  const { cache, asked } = makeCache()
  await cache.loadWhole(['a'], bounds, 600)
  await cache.loadPart(['a'], view, bounds, 600)
  await cache.loadPart(['a'], { fromMs: view.fromMs + 8, toMs: view.toMs + 8 }, bounds, 600)
  assert.equal(asked.length, 2)
  await cache.loadPart(['a'], { fromMs: view.fromMs + 15, toMs: view.toMs + 15 }, bounds, 600)
  assert.equal(asked.length, 3)
})

test('a lane of which every sample is here is not asked for again', async () => {
  const { cache, asked } = makeCache((key) => key === 'slow')
  await cache.loadWhole(['slow', 'fast'], bounds, 600)
  await cache.loadPart(['slow', 'fast'], view, bounds, 600)
  assert.deepEqual(asked[1]?.lanes, ['fast'])
  assert.equal(cache.samplesFor('slow', view), cache.wholeOf('slow'))
})

test('a question that failed is told and may be asked again', async () => {
  const { cache, asked, errors, state } = makeCache()
  state.isFailing = true
  await cache.loadWhole(['a'], bounds, 600)
  assert.equal((errors[0] as Error).message, 'away')
  state.isFailing = false
  await cache.loadWhole(['a'], bounds, 600)
  assert.equal(asked.length, 2)
  assert.equal(errors.at(-1), undefined)
  assert.ok(cache.wholeOf('a'))
})

test('an answer about 64 lanes stays below a megabyte', async () => {
  const { cache, asked } = makeCache()
  await cache.loadWhole(
    Array.from({ length: 64 }, (_, at) => `lane-${at}`),
    bounds,
    4_000,
  )
  assert.ok(asked[0]!.points >= 800, `${asked[0]?.points} points`)
  assert.ok(asked[0]!.points * 64 * 16 <= 1_000_000)
})
