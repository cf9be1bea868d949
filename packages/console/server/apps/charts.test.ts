import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createSource, defineType, gauge, label, optional, SondeError, timestamp } from '@sonde/sdk'
import { openStore } from '../../test/open-store.ts'
import { type ChartParameters, chartRequest, chartsOf } from './charts.ts'
import { serviceMatchers } from './matchers.ts'

const NOW_MS = Date.UTC(2026, 0, 31, 12)
const LIMITS = { services: 3, concurrent: 1, cells: 250_000 }
const NOTHING: ChartParameters = { start: undefined, end: undefined, period: undefined, fields: undefined }

function ask(asked: Partial<ChartParameters>, intervalMs = 0, services: readonly string[] = ['decode']) {
  return chartRequest('chat', services, { ...NOTHING, ...asked }, { limits: LIMITS, intervalMs, nowMs: NOW_MS })
}

test('a request that says nothing is about the last half hour, in steps that samples fit into', () => {
  const { startMs, endMs, periodMs, fields } = ask({}, 15_000)
  assert.deepEqual([startMs, endMs, periodMs], [NOW_MS - 1_800_000, NOW_MS, 15_000])
  assert.deepEqual([fields.length, fields.some((field) => field === 'gpu-mem-total')], [8, false])
})

describe('a window has at most 300 points, and steps of whole samples:', () => {
  for (const [windowMs, intervalMs, periodMs] of [
    [300_000, 15_000, 15_000],
    [1_800_000, 15_000, 15_000],
    [3_600_000, 15_000, 15_000],
    [86_400_000, 15_000, 300_000],
    [86_400_000, 25_000, 300_000],
    [86_400_000, 35_000, 315_000],
    [300_000, 1000, 5000],
    [300_000, 0, 5000],
  ] as const) {
    test(`${windowMs / 1000} s of samples every ${intervalMs / 1000} s`, () => {
      const asked = { start: String(NOW_MS - windowMs), end: String(NOW_MS) }
      assert.equal(ask(asked, intervalMs).periodMs, periodMs)
    })
  }
})

describe('times are', () => {
  const noon = Date.UTC(2026, 0, 31, 11, 59, 30)
  for (const [text, ms] of [
    [String(noon), noon],
    ['2026-01-31T11:59:30Z', noon],
    ['2026-01-31T11:59:30', noon],
    ['2026-01-31T12:59:30.250+01:00', noon + 250],
    ['2026-01-31', Date.UTC(2026, 0, 31)],
    ['20260131.115930', noon],
    ['20260131.115930.123456789', noon + 123],
    ['20260131.115930.5', noon + 500],
  ] as const) {
    test(`${text}`, () => assert.equal(ask({ start: text }).startMs, ms))
  }
  for (const text of [
    '',
    'x 1',
    'Jan 2026',
    '2026-02-30T00:00:00Z',
    '20260230.000000',
    '20261301.000000',
    '-1',
    '1e3',
    '20260131.1159',
  ]) {
    test(`not ${JSON.stringify(text)}`, () => {
      assert.throws(
        () => ask({ start: text }),
        (error) => error instanceof SondeError && /start is ".*ISO 8601/.test(error.message),
      )
    })
  }
})

test('fields come in the order of the request, each once', () => {
  assert.deepEqual(ask({ fields: 'gpu-power-w,gpu-util' }).fields, ['gpu-power-w', 'gpu-util'])
  assert.throws(() => ask({ fields: 'gpu-util,gpu-util' }), /each once/)
  assert.throws(() => ask({ fields: '' }), /gpu-power-w/)
})

test('services and values are limited, and the error says what to do', () => {
  assert.throws(() => ask({}, 0, ['a', 'b', 'c', 'd']), /APP_CAP|allowed: 3, or raise limits.gpu_metrics_max_pods/)
  const day = { start: String(NOW_MS - 86_400_000), period: '20' }
  assert.equal(ask(day, 0, ['a', 'b', 'c']).periodMs, 20_000)
  const cells = { limits: { ...LIMITS, cells: 3 * 4321 * 8 - 1 }, intervalMs: 0, nowMs: NOW_MS }
  assert.throws(
    () => chartRequest('chat', ['a', 'b', 'c'], { ...NOTHING, ...day }, cells),
    /longer period or fewer services/,
  )
})

test('names that are expressions match themselves alone', () => {
  assert.deepEqual(serviceMatchers('a', ['x.y', 'z']), [
    { label: 'app', op: '=', value: 'a' },
    { label: 'service', op: '=~', value: 'x\\.y|z' },
  ])
  assert.equal(
    serviceMatchers(
      'a',
      Array.from({ length: 100 }, (_, i) => `service-${i}`),
    ).length,
    1,
  )
})

const value = () => optional(gauge('f64'))
const appGpuType = defineType('app_gpu', 'Rows of services', {
  time: timestamp(),
  app: label(),
  service: label(),
  util_ratio: value(),
  util_min_ratio: value(),
  util_max_ratio: value(),
  util_pods: gauge('u32'),
})

test('series have the mean of a step, and least, most and count at its end; a gap is null', async (t) => {
  const { store, close } = await openStore()
  t.after(close)
  const source = createSource({ id: 'pods', intervalMs: 15_000, emit: (batch) => store.accept(batch) })
  const endMs = Math.floor(Date.now() / 60_000) * 60_000 - 60_000
  const startMs = endMs - 600_000
  for (let at = startMs + 15_000, i = 0; at <= endMs; at += 15_000, i++) {
    const time = BigInt(at) * 1_000_000n
    const isGap = at > startMs + 240_000 && at <= startMs + 420_000
    if (!isGap) {
      const more = { util_min_ratio: (i - 1) / 100, util_max_ratio: (i + 1) / 100, util_pods: 3 }
      source.report(appGpuType, { time, app: 'chat', service: 'x.y', util_ratio: i / 100, ...more })
      source.report(appGpuType, { time, app: 'chat', service: 'xzy', util_ratio: 10, ...more })
      source.report(appGpuType, { time, app: 'other', service: 'x.y', util_ratio: 20, ...more })
    }
  }
  await source.flush()
  await store.flush()
  const request = chartRequest(
    'chat',
    ['none', 'x.y'],
    { start: String(startMs), end: String(endMs), period: '60', fields: 'gpu-util,gpu-power-w' },
    { limits: LIMITS, intervalMs: 15_000, nowMs: endMs },
  )
  const { services, times } = await chartsOf(store, request)
  assert.deepEqual(
    times,
    Array.from({ length: 10 }, (_, i) => startMs + (i + 1) * 60_000),
  )
  assert.deepEqual(services[0], { name: 'none', metrics: [] })
  assert.deepEqual(
    services[1]?.metrics.map(({ name }) => name),
    ['gpu-util'],
    'nothing is known of power',
  )
  const [util] = services[1]?.metrics ?? []
  // Four samples a minute, counted by i from 0: first their mean, then the last one.
  const expected = (of: (last: number) => number) =>
    Array.from({ length: 10 }, (_, minute) => (minute >= 4 && minute < 7 ? null : of(minute * 4 + 3)))
  assert.deepEqual(
    util?.avg,
    expected((last) => last - 1.5),
  )
  assert.deepEqual(
    util?.min,
    expected((last) => last - 1),
  )
  assert.deepEqual(
    util?.max,
    expected((last) => last + 1),
  )
  assert.deepEqual(
    util?.count,
    expected(() => 3),
  )
})
