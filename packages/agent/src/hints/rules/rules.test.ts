import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { rdmaPortCountersType, rdmaPortType } from '../../sources/rdma/type.ts'
import { quietNode } from '../test-training-node.ts'
import { downtrained, everyGpu, everyRail, noTraffic } from './test-changes.ts'
import { FAULTS } from './test-faults.ts'
import { LOOK_ALIKES } from './test-look-alikes.ts'

describe('within 3 s, on the device at fault and on no other, then standing:', () => {
  for (const { title, begin, each, opens, severity, standsAfterS } of FAULTS) {
    test(title, () => {
      const node = quietNode()
      begin(node)
      const early = node.run(3, (second) => each?.(node, second))
      const seen = node.run(standsAfterS, (second) => each?.(node, second + 3))
      assert.deepEqual([...seen], [opens])
      assert.deepEqual([...early], [opens], 'within 3 s')
      assert.deepEqual(node.shown(), [`${opens} standing ${severity}`])
      const [hint] = node.open()
      assert.ok((hint?.title.length ?? 99) <= 60, `${hint?.title} is a headline`)
      assert.doesNotMatch(`${hint?.title} ${hint?.sentence}`, /NaN|undefined|Infinity|\d{5}/)
    })
  }
})

describe('a look-alike opens no hint, not even for a moment:', () => {
  for (const { title, begin, each } of LOOK_ALIKES) {
    test(title, () => {
      const node = quietNode()
      begin(node)
      assert.deepEqual([...node.run(60, (second) => each?.(node, second))], [])
    })
  }
})

test('a checkpoint shows its copies, not earlier traffic of training', () => {
  const node = quietNode()
  everyGpu(node, { gpu_util: 15, pcie_tx_bytes: 12e9, pcie_rx_bytes: 1e8 })
  everyRail(node, noTraffic)
  node.run(2)
  assert.match(node.open()[0]?.sentence ?? '', /^8 GPUs copy 12\sGB\/s each to the host, limit 2\sGB\/s/)
  everyGpu(node, { pcie_tx_bytes: 0 })
  node.run(2)
  assert.match(node.open()[0]?.sentence ?? '', /^8 GPUs have copied to the host and are idle/)
})

test('rare errors after correction stay told between one and the next, many in a row end with the last', () => {
  const leaveErrors = (count: number) => {
    const node = quietNode()
    for (let one = 0; one < 2; one++) {
      node.nic(2).add({ rx_pcs_symbol_err_phy_total: count })
      node.run(5)
    }
    assert.deepEqual(node.shown().length, 1)
    node.run(50)
    return node.open().map(({ title }) => title)
  }
  assert.deepEqual(leaveErrors(1), ['NIC 2 has errors after correction'])
  assert.deepEqual(leaveErrors(500), [])
})

test('what a rule on GPUs reads of the rails is not said to be lacking', () => {
  const node = quietNode()
  FAULTS.find(({ opens }) => opens === 'straggler/gpu-5')?.begin(node)
  node.run(3)
  assert.deepEqual(node.open()[0]?.lacks, [])
})

test('a port without reported bit errors is found by its errors after correction, which are the evidence', () => {
  const node = quietNode()
  for (const series of node.nic(2).series.values()) {
    if (series.type !== rdmaPortType && series.type !== rdmaPortCountersType) series.isSilent = true
  }
  node.run(10)
  node.nic(2).rate({ symbol_error_total: 3 })
  node.run(15)
  const hint = node.open().find(({ rule }) => rule === 'link_ber')
  assert.match(hint?.sentence ?? '', /^mlx5_2 has \d+ errors after correction in 10 min \(3(\.\d+)?\/s\), limit 2$/)
  assert.deepEqual(
    hint?.evidence.map(({ metric }) => metric),
    ['rdma_port_symbol_error_total'],
  )
})

test('a PCIe link that trained down is reported while it is down, even without a job', () => {
  const idle = { pcie_tx_bytes: 1e5, pcie_rx_bytes: 1e5 }
  const shownOf = (begin: (node: ReturnType<typeof quietNode>) => void) => {
    const node = quietNode()
    begin(node)
    node.run(10)
    everyGpu(node, idle)
    everyRail(node, noTraffic)
    node.run(60)
    return node.shown().filter((hint) => hint.startsWith('pcie_downtrain'))
  }
  const ofNic = ['pcie_downtrain/nic-mlx5_3-1 standing critical']
  const narrow = { current_link_width_lanes: 8, current_link_bandwidth_bytes_per_second: 31.5e9 }
  assert.deepEqual(
    shownOf((node) => node.nic(3).set(downtrained)),
    ofNic,
  )
  assert.deepEqual(
    shownOf((node) => node.nic(3).set(narrow)),
    ofNic,
  )
  assert.deepEqual(
    shownOf((node) => node.gpu(2).set({ ...narrow, pcie_link_width: 8 })),
    ['pcie_downtrain/gpu-2 standing critical'],
  )
  assert.deepEqual(
    shownOf((node) => node.gpu(2).set({ ...downtrained, pcie_link_gen: 3 })),
    [],
    'an idle GPU may save power',
  )
})
