import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createSource, defineType, gauge, label, optional, timestamp } from '@sonde/sdk'
import { chartRequest } from '@sonde/sdk/internal'
import { openStore } from '../../test/open-store.ts'
import { chartsOf } from './charts.ts'
import { serviceMatchers } from './matchers.ts'

const LIMITS = { services: 3, cells: 250_000 }

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
  instance: label(),
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
      source.report(appGpuType, { time, app: 'chat', instance: 'a', service: 'x.y', util_ratio: i / 100, ...more })
      source.report(appGpuType, { time, app: 'chat', instance: 'a', service: 'xzy', util_ratio: 10, ...more })
      source.report(appGpuType, { time, app: 'other', instance: 'a', service: 'x.y', util_ratio: 20, ...more })
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

test('a service on two nodes has the mean over its pods, not over its nodes, and each pod once', async (t) => {
  const { store, close } = await openStore()
  t.after(close)
  const source = createSource({ id: 'pods', intervalMs: 15_000, emit: (batch) => store.accept(batch) })
  const endMs = Math.floor(Date.now() / 60_000) * 60_000
  const startMs = endMs - 120_000
  for (let at = startMs + 15_000; at <= endMs; at += 15_000) {
    const common = { time: BigInt(at) * 1_000_000n, app: 'chat', service: 'x.y' }
    const ofNode = (util: number, pods: number) => {
      return { util_ratio: util, util_min_ratio: util - 0.1, util_max_ratio: util + 0.1, util_pods: pods }
    }
    source.report(appGpuType, { ...common, instance: 'a', ...ofNode(0.8, 3) })
    // Its pods end after the first minute.
    if (at <= startMs + 60_000) source.report(appGpuType, { ...common, instance: 'b', ...ofNode(0.4, 1) })
  }
  await source.flush()
  await store.flush()
  const request = chartRequest(
    'chat',
    ['x.y'],
    { start: String(startMs), end: String(endMs), period: '60', fields: 'gpu-util' },
    { limits: LIMITS, intervalMs: 15_000, nowMs: endMs },
  )
  const [util] = (await chartsOf(store, request)).services[0]?.metrics ?? []
  assert.deepEqual(util?.avg, [70, 80])
  assert.deepEqual(util?.count, [4, 3])
  assert.deepEqual(
    [util?.min, util?.max].map((list) => list?.map((value) => value && Math.round(value))),
    [
      [30, 70],
      [90, 90],
    ],
  )
})
