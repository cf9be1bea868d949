import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { absenceType } from '@sonde/sdk/internal'
import { until } from '../../../../sdk/test/helper.ts'
import { bringUpSamples, eventInAgent, overwrite } from '../../../test/fast-samples.ts'
import type { Test } from '../../rules/rule.ts'
import { testSource } from '../conformance.ts'
import { TestedSource, TestNode } from '../test-node.ts'
import { rdmaPortSamples } from './rdma-port-samples.ts'
import { rdmaPortSampleType, rdmaPortSamplingType } from './type.ts'

const TREE = new URL('fixtures/port', import.meta.url)
const LABELS = { rdma_device: 'mlx5_4', port: '1' }
const COUNTERS = 'sys/class/infiniband/mlx5_4/ports/1/counters'
const WATCHED = { type: rdmaPortSampleType, field: 'xmit_wait_ticks_total', labels: LABELS }
/** A file that refuses reads, like counters that the firmware hides. */
const REFUSES = '/sys/class/net/lo/speed'

testSource(rdmaPortSamples, {
  tree: TREE,
  unreported: [rdmaPortSampleType],
  series: {
    type: rdmaPortSamplingType,
    labels: LABELS,
    leave: (node) => node.remove('sys/class/infiniband/mlx5_4'),
  },
})

/** Starts rules on the ticks that a port waited; a step may set the ticks. */
async function bringUp(t: TestContext, tests: readonly Test[]) {
  const node = new TestNode(t, TREE)
  const up = await bringUpSamples(t, { definition: rdmaPortSamples, node, watched: WATCHED }, tests)
  const step = (ms: number, value?: number) =>
    up.step(ms, () => value !== undefined && node.write(`${COUNTERS}/port_xmit_wait`, `${value}\n`))
  return { ...up, node, step }
}

const rate = (perSecond: number): Test => ({ kind: 'rate_gt', perSecond, overNs: 40e6, offSamples: 1 })

test('a port that may not send for 50 ms, which one sample a second cannot see, begins and ends at its time', async (t) => {
  const { step, said, edges } = await bringUp(t, [rate(1e6)])
  for (let at = 0; at < 3; at++) await step(50, 4000)
  // 100 000 ticks in 50 ms are 2 000 000 a second, but 100 000 a second over the whole second around them.
  await step(50, 104_000)
  for (let at = 0; at < 3; at++) await step(50, 104_000)
  assert.deepEqual(said(), ['rate_gt 0 + 200', 'rate_gt 0 - 250'])
  assert.equal(edges[0]?.device, 'mlx5_4/1')
})

test('the same wait in one sample a second is nothing', async (t) => {
  const { step, said } = await bringUp(t, [rate(1e6)])
  await step(1000, 4000)
  for (let at = 0; at < 2; at++) await step(1000, 104_000)
  assert.deepEqual(said(), [])
})

test('each sample is new, however soon it comes: the firmware is asked for each', async (t) => {
  const same: Test = { kind: 'gt', value: 5n, onSamples: 3, offSamples: 1 }
  const { step, said } = await bringUp(t, [same])
  for (let at = 0; at < 3; at++) await step(2)
  assert.deepEqual(said(), ['gt 0 + 6'])
})

test('words of four octets are bytes in samples too', async (t) => {
  const { step, rows } = await bringUp(t, [])
  await step(50)
  assert.deepEqual([rows()[0]?.xmit_data_bytes_total, rows()[0]?.rcv_data_bytes_total], [64n, 128n])
})

test('a counter that a port does not have is absent with a reason, and one that left is a gap of its rules', async (t) => {
  const { node, step, rows, said } = await bringUp(t, [{ kind: 'lt', value: 5n, onSamples: 1, offSamples: 1 }])
  await step(50)
  node.remove(`${COUNTERS}/port_xmit_wait`)
  await step(50)
  assert.equal(rows().at(-1)?.xmit_wait_ticks_total, undefined)
  assert.deepEqual(said(), [])
  const tested = new TestedSource(rdmaPortSamples, node.paths)
  t.after(() => tested.source.close())
  const lacks = await tested.sampleOf(absenceType)
  const of = (device: string) =>
    lacks.find(({ series, field }) => series.includes(device) && field === 'rcv_data_bytes_total')
  assert.equal(of('mlx5_4'), undefined)
  assert.match(of('mlx5_5')?.reason ?? '', /the driver has no port_rcv_data of this port/)
})

test('a counter that the firmware refuses is not asked for at every sample', {
  skip: existsSync(REFUSES) ? false : `${REFUSES} is not there`,
}, async (t) => {
  const { node, step, rows } = await bringUp(t, [])
  node.link(`${COUNTERS}/port_xmit_wait`, REFUSES)
  // The read is refused at the first, second and fourth sample. It is allowed from the fifth on, and read again at the
  // eighth.
  for (let at = 0; at < 4; at++) await step(50)
  node.remove(`${COUNTERS}/port_xmit_wait`)
  node.write(`${COUNTERS}/port_xmit_wait`, '7\n')
  for (let at = 0; at < 4; at++) await step(50)
  const waits = rows().map(({ xmit_wait_ticks_total: value }) => value)
  assert.deepEqual(waits, [...Array(7).fill(undefined), 7n])
})

test('a counter at the most it can hold is named in what is reported', async (t) => {
  const node = new TestNode(t, TREE)
  node.write(`${COUNTERS}/port_xmit_wait`, `${2 ** 32 - 1}\n`)
  const tested = new TestedSource(rdmaPortSamples, node.paths)
  t.after(() => tested.source.close())
  const [record] = (await tested.sampleOf(rdmaPortSamplingType)).filter(({ rdma_device }) => rdma_device === 'mlx5_4')
  assert.deepEqual([record?.saturated_counters, record?.saturated], [1, 'port_xmit_wait'])
})

test('in an agent: a rule on a port counter opens an event, whose lanes have its samples', {
  timeout: 60_000,
}, async (t) => {
  const node = new TestNode(t, TREE)
  const { event, lanes } = await eventInAgent(t, {
    ...{ sources: [rdmaPortSamples], node, until, watched: WATCHED },
    rule: { comparison_type: 'dt_gt', comparison_value: 100, delta_samples: 1, deactivate_samples: 1 },
    happens: () => overwrite(join(node.root, COUNTERS, 'port_xmit_wait'), '1000000\n'),
  })
  assert.deepEqual([event.rule, event.source], ['burst', 'rdma_port_samples'])
  const wait = lanes.find(({ type, name }) => type === 'rdma_port_sample' && name.startsWith('xmit_wait_ticks_total'))
  assert.ok(wait !== undefined)
  assert.ok(wait.resolutionMs < 1000, `${wait.resolutionMs} ms`)
})
