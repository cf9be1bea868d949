import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Hint } from '@sonde/sdk/api'
import { readingOfNow } from '../../devices/device-reading.ts'
import { testGpu, testNic } from '../../devices/test-devices.ts'
import { testHint } from '../../devices/test-hints.ts'
import { gpuFacts } from '../gpu/gpu-facts.ts'
import { nicFacts } from '../nic/nic-facts.ts'
import type { DeviceReadings } from './device-readings.ts'
import { awaitedFact, judgeBy } from './facts.ts'

const STORM = testHint({ sentence: 'mlx5_3 counts 402 sequence errors/s, its siblings 0, limit 100/s' })

/** A device with 402 for every number, and the given hints. */
function readings(hints: readonly Hint[]): DeviceReadings {
  const value = () => readingOfNow(402)
  return {
    newest: value,
    last: () => 402,
    mean: value,
    exact: () => '45',
    infos: () => [],
    all: () => [],
    judge: judgeBy(hints, 'NIC 3'),
  }
}

test('a fact has the colour and the words of the hint that its metric shows, and no other fact has any', () => {
  const told = nicFacts(testNic(3), readings([STORM])).flatMap(({ label, tone, caption }) =>
    tone ? [{ label, tone, caption }] : [],
  )
  assert.deepEqual(told, [{ label: 'Sequence errors', tone: 'critical', caption: 'losing packets' }])
})

test('what no rule sees is a number without colour, also the XID of an application', () => {
  const facts = [...nicFacts(testNic(3), readings([])), ...gpuFacts(testGpu(3), readings([]))]
  assert.deepEqual(
    facts.filter(({ tone }) => tone !== undefined),
    [],
  )
  assert.ok(facts.some(({ label, value }) => label === 'Last XID' && value === '45'))
})

test('sentence 8: the last XID has the words of a hint only where the hint is about that XID', () => {
  const matchers = [{ label: 'xid', op: '=~', value: '48|64|94|95|140' }] as const
  const evidence = [{ metric: 'nvml_xid_events_total', function: 'rate', matchers }] as const
  const memory = testHint({ rule: 'ecc_uncorrected', device: 'gpu-3', evidence })
  const xidOf = (xid: string) => {
    const facts = gpuFacts(testGpu(3), { ...readings([memory]), exact: () => xid })
    return facts.find(({ label }) => label === 'Last XID')
  }
  assert.deepEqual(xidOf('45'), { label: 'Last XID', value: '45', caption: 'stays until the driver restarts' })
  assert.deepEqual([xidOf('48')?.tone, xidOf('48')?.caption], ['critical', 'memory errors'])
})

test('while samples are awaited a fact keeps its label, and a fact that needs none all of it', () => {
  const fixed = { label: 'Switch', value: 'none', caption: 'alone', isFixed: true }
  assert.deepEqual(awaitedFact(fixed), fixed)
  const [link, ...others] = nicFacts(testNic(3), readings([STORM])).map(awaitedFact)
  assert.deepEqual(link, { label: 'Link', value: '\u00a0', caption: '\u00a0' })
  assert.deepEqual(
    others.filter(({ value, tone }) => value !== '\u00a0' || tone !== undefined),
    [],
  )
})
