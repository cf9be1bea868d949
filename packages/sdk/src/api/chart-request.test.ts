import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { SondeError } from '../errors.ts'
import { type ChartParameters, chartRequest } from './chart-request.ts'

const NOW_MS = Date.UTC(2026, 0, 31, 12)
const LIMITS = { services: 3, cells: 250_000 }
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
