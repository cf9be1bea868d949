import assert from 'node:assert/strict'
import { test } from 'node:test'
import { defineType, label, timestamp, value } from '@sonde/sdk'
import type { Watch } from '../rules/watch.ts'
import { SourceOutlet } from './source-outlet.ts'

const sampleType = defineType('my_sample', 'A sample', { time: timestamp(), device: label(), n: value('u64') })

function watchOf(name: string, overSamples: number): Watch {
  return {
    signals: [{ name: 'n', type: 'my_sample', field: 'n', labels: {}, isCounter: true }],
    rules: [{ name, signal: 0, test: { kind: 'dt_gt', value: 1n, overSamples, offSamples: 1 } }],
  }
}

test('rules that one ring cannot hold leave all rings with those before', () => {
  const outlet = new SourceOutlet({
    ...{ name: 'tested', intervalMs: 1000, paths: { procfs: '/proc', sysfs: '/sys' }, emit: () => undefined },
    stats: { failed: { add: () => undefined }, dropped: new Map() },
  })
  outlet.context.sampled(sampleType, 'long', 1000)
  outlet.context.sampled(sampleType, 'short', 10)
  outlet.watch(watchOf('before', 5))
  assert.throws(() => outlet.watch(watchOf('after', 100)), { code: 'AGT_TAP' })
  assert.deepEqual(
    outlet.taps().map(({ device, rules }) => [device, rules]),
    [
      ['long', ['before']],
      ['short', ['before']],
    ],
  )
})
