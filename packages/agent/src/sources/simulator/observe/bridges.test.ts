import assert from 'node:assert/strict'
import { test } from 'node:test'
import { nvmlGpuType } from '../../nvml/type.ts'
import { pciAerType, pciDeviceType } from '../../pci/type.ts'
import { NODE_CLASSES } from '../classes/classes.ts'
import type { EffectSpan } from '../effects.ts'
import { pcieDowntrain } from '../scenarios/pcie-downtrain.ts'
import { numberOf, TestReport } from '../test-report.ts'

const START_S = 2.7e7

const at = (node: string, ...spans: Omit<EffectSpan, 'fromS' | 'toS'>[]) => {
  const effects = [{ spans: spans.map((span) => ({ fromS: START_S - 60, toS: START_S + 60, ...span })) }]
  return new TestReport({ node, effects }).at(START_S)(pciDeviceType)
}

for (const { name, gpus, nics } of NODE_CLASSES) {
  test(`${name}: every bridge on the way from a device to the root has a record, and knows its own way`, () => {
    const records = at(name)
    for (const { path, numaNode } of [...gpus, ...nics]) {
      path.forEach((address, depth) => {
        const bridge = records.get(address)
        assert.deepEqual(
          [bridge?.class, bridge?.driver, bridge?.path, bridge?.numa_node],
          ['bridge', 'pcieport', path.slice(0, depth).join('/'), numaNode],
        )
        assert.deepEqual(
          ['correctable', 'nonfatal', 'fatal'].map((severity) => numberOf(bridge, `aer_${severity}_total`)),
          [0, 0, 0],
        )
        assert.equal(bridge?.aer_rootport_fatal_total === undefined, depth > 0, 'only a root port counts from below')
      })
    }
  })
}

test('a link that trained down is slow at both ends, and at no other port', () => {
  const records = at('hgx-h100', { nics: { 3: { pcieGeneration: 3 } } }, { gpus: { 2: { pcieWidth: 8 } } })
  const slow = [...records].filter(([, record]) => {
    return (
      numberOf(record, 'current_link_bandwidth_bytes_per_second') <
      numberOf(record, 'max_link_bandwidth_bytes_per_second')
    )
  })
  assert.deepEqual(slow.map(([address]) => address).sort(), [
    '0000:4a:01.0',
    '0000:4c:00.0',
    '0000:5b:00.0',
    '0000:5c:00.0',
  ])
})

test('what a GPU sends broken the port above counts, what a NIC receives broken the NIC does', () => {
  const aer = [{ severity: 'correctable', error: 'BadTLP', perS: 100 }] as const
  const spans = [{ fromS: START_S - 300, toS: START_S + 60, gpus: { 2: { aer } }, nics: { 5: { aer } } }]
  const records = new TestReport({ effects: [{ spans }] }).at(START_S)
  const counting = [...records(pciAerType).values()].filter(({ error }) => error === 'BadTLP')
  assert.deepEqual(
    counting.map(({ pci_address }) => pci_address),
    ['0000:ba:00.0', '0000:4a:01.0'],
  )
  const port = records(pciDeviceType).get('0000:4a:01.0')
  assert.ok(numberOf(port, 'aer_correctable_total') > 0)
  assert.ok(numberOf(records(nvmlGpuType).values().toArray()[2], 'pcie_replay_counter') > 0)
})

test('the port above a GPU that fell off the bus has no link', () => {
  const records = at('hgx-h100', { gpus: { 6: { state: 'lost' } } })
  const port = records.get('0000:c9:01.0')
  assert.equal(port?.current_link_width_lanes, undefined)
  assert.equal(numberOf(port, 'max_link_width_lanes'), 16)
  assert.equal(numberOf(records.get('0000:c8:00.0'), 'current_link_width_lanes'), 16)
})

test('functions of one adapter train down together', () => {
  const node = NODE_CLASSES.find(({ name }) => name === 'dpu-host') as (typeof NODE_CLASSES)[number]
  const device = { kind: 'nic', index: 1 } as const
  const strike = {
    node,
    seed: 1,
    device,
    sinceS: START_S - 60,
    onsetS: START_S - 30,
    endS: START_S + 30,
    severity: 0.25,
  }
  const records = new TestReport({ node: node.name, effects: [pcieDowntrain.effects(strike)] }).at(START_S)(
    pciDeviceType,
  )
  for (const address of ['0000:c9:01.0', '0000:ca:00.0', '0000:ca:00.1'])
    assert.equal(numberOf(records.get(address), 'current_link_speed_transfers_per_second'), 8e9, address)
})
