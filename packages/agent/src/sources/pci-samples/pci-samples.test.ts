import assert from 'node:assert/strict'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { absenceType } from '@sonde/sdk/internal'
import { until } from '../../../../sdk/test/helper.ts'
import { bringUpSamples, eventInAgent, overwrite } from '../../../test/fast-samples.ts'
import type { Test } from '../../rules/rule.ts'
import { testSource } from '../conformance.ts'
import { aerText, CORRECTABLE, putDevice } from '../pci/test-bus.ts'
import { TestedSource, TestNode } from '../test-node.ts'
import { pciSamples } from './pci-samples.ts'
import { pciSampleType, pciSamplingType } from './type.ts'

const TREE = new URL('fixtures/port', import.meta.url)
const PORT = 'sys/devices/pci0000:26/0000:26:01.0/0000:27:00.0'
const LABELS = { pci_address: '0000:27:00.0' }
const SPEED = 'current_link_speed_transfers_per_second'

testSource(pciSamples, {
  tree: TREE,
  unreported: [pciSampleType],
  series: { type: pciSamplingType, labels: LABELS, leave: (node) => node.remove(PORT) },
})

async function bringUp(t: TestContext, field: string, tests: readonly Test[]) {
  const node = new TestNode(t, TREE)
  const watched = { type: pciSampleType, field, labels: LABELS }
  return { node, ...(await bringUpSamples(t, { definition: pciSamples, node, watched }, tests)) }
}

test('a link that runs slower for 100 ms, which one sample a second cannot see, begins and ends at its time', async (t) => {
  const below: Test = { kind: 'lt', value: 32e9, onSamples: 1, offSamples: 1 }
  const { node, step, said, edges } = await bringUp(t, SPEED, [below])
  const runsAt = (speed: string) => () => node.write(`${PORT}/current_link_speed`, `${speed} GT/s PCIe\n`)
  await step(50, runsAt('32.0'))
  await step(50, runsAt('8.0'))
  await step(50)
  await step(50, runsAt('32.0'))
  assert.deepEqual(said(), ['lt 0 + 100', 'lt 0 - 200'])
  assert.equal(edges[0]?.device, LABELS.pci_address)
})

test('a burst of correctable errors within 100 ms begins and ends at its time', async (t) => {
  const rate: Test = { kind: 'rate_gt', perSecond: 1000, overNs: 40e6, offSamples: 1 }
  const { node, step, said } = await bringUp(t, 'aer_correctable_total', [rate])
  const counts = (errors: number) => () =>
    node.write(`${PORT}/aer_dev_correctable`, aerText(CORRECTABLE, 'TOTAL_ERR_COR', [errors]))
  // 100 events in 50 ms are 2000 a second, but 100 a second over the whole second around them.
  await step(50, counts(0))
  await step(50, counts(100))
  await step(50, counts(200))
  await step(50)
  assert.deepEqual(said(), ['rate_gt 0 + 100', 'rate_gt 0 - 200'])
})

test('the same burst in one sample a second is nothing', async (t) => {
  const rate: Test = { kind: 'rate_gt', perSecond: 1000, overNs: 40e6, offSamples: 1 }
  const { node, step, said } = await bringUp(t, 'aer_correctable_total', [rate])
  for (const errors of [0, 200, 200])
    await step(1000, () => node.write(`${PORT}/aer_dev_correctable`, aerText(CORRECTABLE, 'TOTAL_ERR_COR', [errors])))
  assert.deepEqual(said(), [])
})

test('a device that fell off the bus has no speed: a gap, and no slow link', async (t) => {
  const below: Test = { kind: 'lt', value: 32e9, onSamples: 1, offSamples: 1 }
  const gone: Test = { kind: 'absent', forNs: 60e6 }
  const { node, step, said, rows } = await bringUp(t, SPEED, [below, gone])
  await step(50, () => node.write(`${PORT}/current_link_speed`, '32.0 GT/s PCIe\n'))
  await step(50, () => {
    node.write(`${PORT}/current_link_speed`, 'Unknown\n')
    node.write(`${PORT}/current_link_width`, '63\n')
  })
  await step(50)
  assert.equal(rows().at(-1)?.[SPEED], undefined)
  assert.deepEqual(said(), ['absent 1 + 110'])
})

test('bridges above a device are sampled too, as an error may be counted there; virtual functions are not', async (t) => {
  const node = new TestNode(t, TREE)
  const above = 'pci0000:26/0000:26:01.0'
  putDevice(node, {
    ...{ address: '0000:27:00.2', above, ids: '020000 15b3:101e 15b3:0009', link: '32.0 x16' },
    physicalFunction: LABELS.pci_address,
  })
  const tested = new TestedSource(pciSamples, node.paths)
  t.after(() => tested.source.close())
  const sampled = (await tested.sampleOf(pciSamplingType)).map(({ pci_address }) => pci_address)
  assert.deepEqual(sampled, ['0000:26:01.0', '0000:27:00.0', '0000:27:00.1'])
})

test('a device without a link says why, and one that the limit leaves out is counted', async (t) => {
  const node = new TestNode(t)
  putDevice(node, { address: '0000:05:00.0', above: 'pci0000:00', ids: '020000 15b3:101e 15b3:0009' })
  putDevice(node, { address: '0000:06:00.0', above: 'pci0000:00', ids: '020000 15b3:101e 15b3:0009' })
  const tested = new TestedSource(pciSamples, node.paths, { device_limit: 1 })
  t.after(() => tested.source.close())
  const lacks = await tested.sampleOf(absenceType)
  const lack = lacks.find(({ field, series }) => field === SPEED && series.includes('0000:05:00.0'))
  assert.match(lack?.reason ?? '', /not PCI Express/)
  assert.ok((tested.dropped.get('device_limit') ?? 0) > 0)
})

test('in an agent: a rule on the speed of a link opens an event, whose lanes have its samples', {
  timeout: 60_000,
}, async (t) => {
  const node = new TestNode(t, TREE)
  node.write(`${PORT}/current_link_speed`, '32.0 GT/s PCIe\n')
  const { event, lanes } = await eventInAgent(t, {
    ...{ sources: [pciSamples], node, until, watched: { type: pciSampleType, field: SPEED, labels: LABELS } },
    rule: { comparison_type: 'change', deactivate_samples: 1 },
    happens: () => overwrite(join(node.root, PORT, 'current_link_speed'), '16.0 GT/s PCIe\n'),
  })
  assert.deepEqual([event.rule, event.source], ['burst', 'pci_samples'])
  const speed = lanes.find(({ type, name }) => type === 'pci_sample' && name.startsWith(SPEED))
  assert.ok(speed !== undefined && speed.resolutionMs < 1000)
})
