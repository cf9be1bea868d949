import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { SourcePeriods } from '@sonde/sdk/api'
import { everyMsOf, saidPeriodOf } from './said-period.ts'

const said = (type: string, device: string, sampleUs: number | null, reportUs: number): SourcePeriods => {
  return { type, device, sampleUs, drainUs: null, reportUs }
}
const PERIODS = [
  said('', '', null, 1_000_000),
  said('', 'mlx5_0', 100, 1_000_000),
  said('port', '', null, 5_000_000),
  said('port', 'mlx5_1', null, 2_000_000),
]

test('what is said of a type counts most, then of a device, then of everything', () => {
  const reportS = (type: string, device?: string) =>
    (saidPeriodOf(PERIODS, { type, ...(device === undefined ? {} : { device }) })?.reportUs ?? 0) / 1e6
  assert.deepEqual([reportS('port', 'mlx5_1/1'), reportS('port', 'mlx5_0'), reportS('other')], [2, 5, 1])
  assert.equal(saidPeriodOf(PERIODS, { type: 'sample', device: 'mlx5_0/1' })?.sampleUs, 100)
  assert.equal(saidPeriodOf([], { type: 'port' }), undefined)
})

test('rules see samples of a ring as they are taken, and records as they are reported', () => {
  const [all, device] = PERIODS as [SourcePeriods, SourcePeriods]
  assert.deepEqual([everyMsOf(device, true), everyMsOf(device, false), everyMsOf(all, true)], [0.1, 1000, 1000])
})
