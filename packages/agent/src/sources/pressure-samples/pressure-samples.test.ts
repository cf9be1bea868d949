import assert from 'node:assert/strict'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { absenceType } from '@sonde/sdk/internal'
import { until } from '../../../../sdk/test/helper.ts'
import { bringUpSamples, eventInAgent, overwrite } from '../../../test/fast-samples.ts'
import type { Test } from '../../rules/rule.ts'
import { testSource } from '../conformance.ts'
import { TestedSource, TestNode } from '../test-node.ts'
import { pressureSamples } from './pressure-samples.ts'
import { hostPressureSampleType, hostPressureSamplingType } from './type.ts'

const TREE = new URL('fixtures/guest', import.meta.url)
const LABELS = { resource: 'io' }
const FILE = 'proc/pressure/io'
const WATCHED = { type: hostPressureSampleType, field: 'waiting_seconds_total', labels: LABELS }

testSource(pressureSamples, { tree: TREE, unreported: [hostPressureSampleType] })

const text = (waitingUs: number) =>
  `some avg10=0.00 avg60=0.00 avg300=0.00 total=${waitingUs}\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=0\n`
/** True while tasks wait for more than half of the time. */
const waits: Test = { kind: 'rate_gt', perSecond: 0.5, overNs: 15e6, offSamples: 1 }

async function bringUp(t: TestContext, tests: readonly Test[]) {
  const node = new TestNode(t, TREE)
  const up = await bringUpSamples(t, { definition: pressureSamples, node, watched: WATCHED }, tests)
  const step = (ms: number, waitingUs: number) => up.step(ms, () => node.write(FILE, text(waitingUs)))
  return { ...up, node, step }
}

test('a stall of 40 ms, which one sample a second cannot see, begins and ends at its time', async (t) => {
  const { step, said, edges } = await bringUp(t, [waits])
  await step(20, 0)
  await step(20, 0)
  await step(20, 18_000)
  await step(20, 36_000)
  await step(20, 36_000)
  assert.deepEqual(said(), ['rate_gt 0 + 60', 'rate_gt 0 - 100'])
  assert.equal(edges[0]?.device, 'io')
})

test('the same stall in one sample a second is nothing', async (t) => {
  const { step, said } = await bringUp(t, [waits])
  for (const us of [0, 36_000, 36_000]) await step(1000, us)
  assert.deepEqual(said(), [])
})

test('rules on one resource see no other', async (t) => {
  const { node, step, said } = await bringUp(t, [waits])
  await step(20, 0)
  node.write('proc/pressure/cpu', text(20_000))
  await step(20, 0)
  node.write('proc/pressure/cpu', text(40_000))
  await step(20, 0)
  assert.deepEqual(said(), [])
})

test('a kernel that does not tell when every task waited lacks that with a reason, and it is never 0', async (t) => {
  const node = new TestNode(t, TREE)
  node.write('proc/pressure/cpu', 'some avg10=0.00 avg60=0.00 avg300=0.00 total=7\n')
  const tested = new TestedSource(pressureSamples, node.paths)
  t.after(() => tested.source.close())
  const lacks = await tested.sampleOf(absenceType)
  const lack = lacks.find(({ series, field }) => series.includes('cpu') && field === 'stalled_seconds_total')
  assert.match(lack?.reason ?? '', /pressure\/cpu does not say/)
})

test('a kernel that does not keep the pressure of a resource says so, and the others are sampled', async (t) => {
  const node = new TestNode(t, TREE)
  node.remove(FILE)
  const tested = new TestedSource(pressureSamples, node.paths)
  t.after(() => tested.source.close())
  await tested.source.sample()
  const taken = tested.take()
  const [lack] = taken.filter(({ type, record }) => type === absenceType && String(record.series).includes('io'))
  assert.match(String(lack?.record.reason), /this kernel does not measure that pressure/)
  const sampled = taken.filter(({ type }) => type === hostPressureSamplingType).map(({ record }) => record.resource)
  assert.deepEqual(sampled, ['cpu', 'memory'])
})

test('a node without pressure stall information is absent', async (t) => {
  const node = new TestNode(t, TREE)
  node.remove('proc/pressure')
  const tested = new TestedSource(pressureSamples, node.paths)
  t.after(() => tested.source.close())
  const probe = await tested.source.probe()
  assert.equal(probe.state, 'absent')
})

test('in an agent: a rule on pressure opens an event, whose lanes have its samples', {
  timeout: 60_000,
}, async (t) => {
  const node = new TestNode(t, TREE)
  node.write(FILE, text(1_000_000))
  const { event, lanes } = await eventInAgent(t, {
    ...{ sources: [pressureSamples], node, until, watched: WATCHED },
    rule: { comparison_type: 'dt_gt', comparison_value: 1, delta_samples: 1, deactivate_samples: 1 },
    happens: () => overwrite(join(node.root, FILE), text(9_000_000)),
  })
  assert.deepEqual([event.rule, event.source], ['burst', 'pressure_samples'])
  const lane = lanes.find(({ type, name }) => type === 'host_pressure_sample' && name.startsWith('waiting_seconds'))
  assert.ok(lane !== undefined && lane.resolutionMs < 1000)
})
