import assert from 'node:assert/strict'
import { cpSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { until } from '../../../../sdk/test/helper.ts'
import { bringUpSamples, eventInAgent, overwrite } from '../../../test/fast-samples.ts'
import type { Test } from '../../rules/rule.ts'
import { testSource } from '../conformance.ts'
import { rdma } from '../rdma/rdma.ts'
import { TestNode } from '../test-node.ts'
import { rdmaSamples } from './rdma-samples.ts'
import { rdmaSampleType, rdmaSamplingType } from './type.ts'

const TREE = new URL('fixtures/port', import.meta.url)
const LABELS = { rdma_device: 'mlx5_4', port: '1' }
const HW = 'sys/class/infiniband/mlx5_4/ports/1/hw_counters'

testSource(rdmaSamples, {
  tree: TREE,
  unreported: [rdmaSampleType],
  series: {
    type: rdmaSamplingType,
    labels: LABELS,
    leave: (node) => node.remove('sys/class/infiniband/mlx5_4'),
  },
})

const rate = (perSecond: number): Test => ({ kind: 'rate_gt', perSecond, overNs: 15e6, offSamples: 1 })

const WATCHED = { type: rdmaSampleType, field: 'np_cnp_sent_total', labels: LABELS }

/** Starts rules on one counter; a step may set it. */
async function bringUp(t: TestContext, tests: readonly Test[]) {
  const node = new TestNode(t, TREE)
  const up = await bringUpSamples(t, { definition: rdmaSamples, node, watched: WATCHED }, tests)
  const step = (ms: number, value?: number) =>
    up.step(ms, () => value !== undefined && node.write(`${HW}/np_cnp_sent`, `${value}\n`))
  return { ...up, node, step }
}

test('a spike of 20 ms, which one sample a second cannot see, begins and ends at its time', async (t) => {
  const { node, step, said, edges } = await bringUp(t, [rate(10_000)])
  node.write(`${HW}/lifespan`, '10\n')
  for (let at = 0; at < 5; at++) await step(20, 0)
  // 500 events in 20 ms are 25 000 a second, but 500 a second over the whole second around them.
  await step(20, 500)
  for (let at = 0; at < 5; at++) await step(20, 500)
  assert.deepEqual(said(), ['rate_gt 0 + 120', 'rate_gt 0 - 140'])
  assert.equal(edges[0]?.device, 'mlx5_4/1')
})

test('the same spike in one sample a second is nothing', async (t) => {
  const { step, said } = await bringUp(t, [rate(10_000)])
  await step(1000, 0)
  for (let at = 0; at < 2; at++) await step(1000, 500)
  assert.deepEqual(said(), [])
})

test('samples within the lifespan are marked as repeats, and a change within it is none', async (t) => {
  const { node, step, rows } = await bringUp(t, [])
  node.write(`${HW}/lifespan`, '10\n')
  await step(0, 1)
  for (let at = 0; at < 4; at++) await step(4)
  await step(1, 2)
  await step(4)
  // New at 0; repeats at 4 and 8; new at 12, after the lifespan; a repeat at 16; before 17 another reader caused a
  // read.
  assert.deepEqual(
    rows().map(({ repeat, np_cnp_sent_total: value }) => `${value}${repeat === 1 ? ' repeated' : ''}`),
    ['1', '1 repeated', '1 repeated', '1', '1 repeated', '2', '2 repeated'],
  )
})

test('a driver without a lifespan repeats for 10 ms', async (t) => {
  const { node, step, rows } = await bringUp(t, [])
  node.remove(`${HW}/lifespan`)
  for (const ms of [0, 10, 1]) await step(ms, 1)
  assert.deepEqual(
    rows().map(({ repeat }) => Number(repeat)),
    [0, 1, 0],
  )
})

test('a driver whose lifespan is 0 repeats nothing', async (t) => {
  const { node, step, rows } = await bringUp(t, [])
  node.write(`${HW}/lifespan`, '0\n')
  for (const ms of [0, 1, 1]) await step(ms, 1)
  assert.deepEqual(
    rows().map(({ repeat }) => Number(repeat)),
    [0, 0, 0],
  )
})

test('repeats are no matches in a row, and no samples of a window', async (t) => {
  const above: Test = { kind: 'gt', value: 5n, onSamples: 3, offSamples: 1 }
  const rise: Test = { kind: 'dt_gt', value: 5n, overSamples: 1, offSamples: 1 }
  const { node, step, said } = await bringUp(t, [above, rise])
  node.write(`${HW}/lifespan`, '10\n')
  await step(0, 0)
  await step(12, 10)
  // Without the repeat mark these samples would be the second and third match, and the end of the rise.
  await step(4)
  await step(4)
  assert.deepEqual(said(), ['dt_gt 1 + 12'])
  await step(4)
  await step(12)
  assert.deepEqual(said(), ['dt_gt 1 + 12', 'dt_gt 1 - 24', 'gt 0 + 36'])
})

test('repeats are signs of life: absence begins where no sample comes', async (t) => {
  const { node, step, said, outlet } = await bringUp(t, [{ kind: 'absent', forNs: 6e6 }])
  node.write(`${HW}/lifespan`, '10\n')
  for (const ms of [0, 4, 4, 4, 4]) await step(ms, 1)
  assert.deepEqual(said(), [])
  await step(8)
  assert.deepEqual(said(), ['absent 0 + 22', 'absent 0 - 24'])
  assert.equal(outlet.taps()[0]?.rules.length, 1)
})

test('a device that is gone ends what its rules had begun, as an end that nobody saw; they begin anew after it', async (t) => {
  const above: Test = { kind: 'gt', value: 5n, onSamples: 2, offSamples: 1 }
  const { node, step, said, edges, report } = await bringUp(t, [above])
  for (const ms of [0, 20]) await step(ms, 10)
  node.remove('sys/class/infiniband/mlx5_4')
  for (let at = 0; at < 2; at++) await report()
  assert.deepEqual(
    edges.map(({ isStart, isLost }) => `${isStart ? 'start' : 'end'} ${isLost ? 'lost' : 'seen'}`),
    ['start seen', 'end lost'],
  )
  cpSync(TREE, node.root, { recursive: true })
  node.write(`${HW}/lifespan`, '10\n')
  await report()
  await step(20, 10)
  assert.equal(said().length, 2, 'the first match after the loss is the first of two in a row')
  await step(20, 10)
  assert.equal(said().length, 3)
})

test('a counter that cannot be read is a gap of its own rules, and never 0', async (t) => {
  const below: Test = { kind: 'lt', value: 5n, onSamples: 1, offSamples: 1 }
  const { node, step, said, rows } = await bringUp(t, [below])
  await step(0, 10)
  node.remove(`${HW}/np_cnp_sent`)
  await step(20)
  assert.equal(rows().at(-1)?.np_cnp_sent_total, undefined)
  assert.deepEqual(said(), [])
})

test('in an agent: a rule on fast samples opens an event, whose window and lanes have them', {
  timeout: 60_000,
}, async (t) => {
  const node = new TestNode(t, TREE)
  node.write(`${HW}/lifespan`, '12\n')
  const { event, lanes } = await eventInAgent(t, {
    ...{ sources: [rdma, rdmaSamples], node, until, watched: WATCHED },
    rule: { comparison_type: 'dt_gt', comparison_value: 100, delta_samples: 1, deactivate_samples: 1 },
    happens: () => overwrite(join(node.root, HW, 'np_cnp_sent'), '1000000\n'),
  })
  assert.deepEqual([event.rule, event.source], ['burst', 'rdma_samples'])
  const of = (name: string) => lanes.find((lane) => lane.type === 'rdma_sample' && lane.name.startsWith(name))
  assert.ok(of('repeat') !== undefined, 'the mark is a lane')
  const cnp = of('np_cnp_sent_total')
  assert.ok(cnp !== undefined && event.window !== undefined)
  // The driver repeats its values for 12 ms: no lane may claim a much finer resolution. Sweeps are some µs early.
  assert.ok(cnp.resolutionMs >= 11, `${cnp.resolutionMs} ms`)
})
