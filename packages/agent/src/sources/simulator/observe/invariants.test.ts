import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { ReadRecord, RecordType } from '@sonde/sdk'
import { docaDiagPciBytesType } from '../../doca-telemetry-diag/type.ts'
import { ethtoolPortType, ethtoolPriorityType } from '../../ethtool/type.ts'
import { hostPressureType } from '../../host/type.ts'
import { nvmlGpuType, nvmlProfileType } from '../../nvml/type.ts'
import { pciDeviceType } from '../../pci/type.ts'
import { rdmaHwType, rdmaPortType } from '../../rdma/type.ts'
import { NODE_CLASSES } from '../classes/classes.ts'
import type { Effects } from '../effects.ts'
import { ScenarioBook } from '../scenarios/book.ts'
import { SCENARIOS } from '../scenarios/scenarios.ts'
import { PlayedNode } from '../scenarios/test-struck-node.ts'
import { numberOf, TestReport, type TestReportOptions } from '../test-report.ts'

const START_S = 2.7e7
const LINE_BYTES_PER_S = 50e9
const PRIORITIES = [0, 1, 2, 3, 4, 5, 6, 7]

const span = (change: object): Effects[] => [{ spans: [{ fromS: START_S - 60, toS: START_S + 600, ...change }] }]

/** Effects of a scenario that started a while ago. */
function scenario(name: string): readonly Effects[] {
  const played = new PlayedNode(NODE_CLASSES[0])
  new ScenarioBook(played).start({ name, delayS: 100, durationS: 600 }, START_S - 160)
  return played.effects
}

/** Nodes whose invariants are checked. */
const NODES: readonly (TestReportOptions & { readonly name: string })[] = [
  { name: 'training' },
  { name: 'inference', workload: 'inference' },
  { name: 'another node', node: 'hgx-b200', seed: 99 },
  { name: 'loss', effects: span({ nics: { 3: { lossShare: 1e-3 } } }) },
  { name: 'a narrow link', effects: span({ nics: { 3: { pcieGeneration: 3 } } }) },
  { name: 'pauses', effects: span({ nics: { 3: { rxPausedShare: 0.6 } } }) },
  { name: 'marks', effects: span({ nics: { all: { markedShare: 0.2, throttledShare: 0.05 } } }) },
  { name: 'a neighbour', effects: span({ nics: { 3: { neighbourBytesPerS: 22e9 } } }) },
  { name: 'a straggler', effects: span({ gpus: { 5: { computeFactor: 1.25 } } }) },
  { name: 'a stuck collective', effects: span({ job: { state: 'stuck' } }) },
  ...SCENARIOS.map(({ name }) => ({ name, effects: scenario(name) })),
]

/** Two samples and the differences between them. */
class Pair {
  readonly seconds: number
  readonly #first: ReturnType<TestReport['at']>
  readonly #second: ReturnType<TestReport['at']>

  constructor(report: TestReport, t: number, seconds: number) {
    this.seconds = seconds
    this.#first = report.at(t)
    this.#second = report.at(t + seconds)
  }

  records(type: RecordType): [string, ReadRecord][] {
    return [...this.#second(type)]
  }

  gain(type: RecordType, key: string, field: string): number {
    const before = this.#first(type).get(key)?.[field]
    const after = this.#second(type).get(key)?.[field]
    if (before === undefined || after === undefined) return Number.NaN
    if (typeof before === 'number' && typeof after === 'number') return after - before
    return Number(BigInt(after as bigint) - BigInt(before as bigint))
  }
}

for (const { name, ...options } of NODES) {
  describe(`on ${name}`, () => {
    for (const seconds of [0.001, 0.2, 1, 7]) {
      test(`counters of a port agree over ${seconds} s`, () => {
        const report = new TestReport({ ...options, intervalMs: seconds * 1000 })
        for (let sample = 0; sample < 25; sample++) checkPorts(new Pair(report, START_S + sample * 0.37, seconds))
      })
    }

    test('both ends of a PCIe link tell the same, and a root port got every message from below', () => {
      const report = new TestReport({ ...options })
      for (let sample = 0; sample < 20; sample++) checkLinks(report.at(START_S - 90 + sample * 11.3)(pciDeviceType))
    })

    test('shares of a GPU are in order, and power is what energy says', () => {
      const report = new TestReport({ ...options })
      for (let sample = 0; sample < 40; sample++) checkGpus(new Pair(report, START_S + sample * 0.61, 7 * 2.37))
    })

    test('tasks of the host wait for no more than all the time, and at least whenever all of them do', () => {
      const report = new TestReport({ ...options })
      for (let sample = 0; sample < 30; sample++) {
        const pair = new Pair(report, START_S - 80 + sample * 11.3, 10)
        for (const [resource] of pair.records(hostPressureType)) {
          const [waiting, stalled] = ['waiting', 'stalled'].map((what) => {
            return pair.gain(hostPressureType, resource, `${what}_seconds_total`) / pair.seconds
          })
          assert.ok(Number(stalled) >= 0 && Number(waiting) >= Number(stalled) && Number(waiting) <= 1, resource)
        }
      }
    })

    test('temperatures move slowly', () => {
      const report = new TestReport({ ...options })
      for (let second = 0; second < 60; second++) {
        const pair = new Pair(report, START_S - 75 + second, 1)
        for (const [key] of pair.records(nvmlGpuType)) {
          const moved = Math.abs(pair.gain(nvmlGpuType, key, 'gpu_temp'))
          assert.ok(moved <= 3, `GPU ${key} moved by ${moved} °C in a second`)
        }
      }
    })
  })
}

function checkPorts(pair: Pair): void {
  const { seconds } = pair
  for (const [key, record] of pair.records(rdmaPortType)) {
    const device = String(record.rdma_device)
    const netdev = device === 'mlx5_bond_0' ? 'eth18' : `eth1${device.slice(5)}`
    const ethtool = (field: string) => pair.gain(ethtoolPortType, netdev, field)
    const priority = (index: number, field: string) => pair.gain(ethtoolPriorityType, `${netdev}/${index}`, field)
    if (Number.isNaN(ethtool('tx_phy_bytes_total'))) continue // A sample that was missed.
    const sent = pair.gain(rdmaPortType, key, 'xmit_data_bytes_total')
    assert.ok(ethtool('tx_phy_bytes_total') >= sent, 'what leaves the port has headers too')
    assert.ok(sent <= LINE_BYTES_PER_S * seconds + 1e6, `${device} sent ${sent} bytes in ${seconds} s`)
    for (const direction of ['rx', 'tx']) {
      for (const [each, all] of [
        [`${direction}_bytes_total`, `${direction}_phy_bytes_total`],
        [`${direction}_packets_total`, `${direction}_packets_phy_total`],
      ] as const) {
        const sum = PRIORITIES.reduce((total, index) => total + priority(index, each), 0)
        assert.equal(sum, ethtool(all), 'priorities make up the port')
      }
    }
    const paused = priority(3, 'rx_pause_seconds_total') / seconds
    assert.ok(paused <= 1.0001)
    if (seconds >= 1) assert.ok(sent <= LINE_BYTES_PER_S * seconds * (1 - paused) + 1e6, 'a paused port sends less')
    const [marked, notified] = ['np_ecn_marked_roce_packets_total', 'np_cnp_sent_total'].map((field) =>
      pair.gain(rdmaHwType, key, field),
    )
    assert.ok(Number(notified) <= Number(marked), 'no notification without a mark')
    const address = String(record.address)
    const link = pair.records(pciDeviceType).find(([one]) => one === address)?.[1]
    const pcie = pair.gain(docaDiagPciBytesType, device, 'inbound_bytes_total')
    assert.ok(
      pcie <= 0.9 * numberOf(link, 'current_link_bandwidth_bytes_per_second') * seconds + 1e6,
      `PCIe of ${device}`,
    )
  }
}

function checkLinks(records: ReadonlyMap<string, ReadRecord>): void {
  const pathOf = (record: ReadRecord) => String(record.path).split('/').filter(Boolean)
  for (const [address, record] of records) {
    if (record.class === 'bridge') continue
    const port = records.get(pathOf(record).at(-1) ?? '')
    for (const field of ['speed_transfers_per_second', 'width_lanes', 'bandwidth_bytes_per_second']) {
      assert.equal(port?.[`current_link_${field}`], record[`current_link_${field}`], `${field} above ${address}`)
      assert.equal(port?.[`max_link_${field}`], record[`max_link_${field}`])
    }
  }
  for (const [address, root] of records) {
    if (root.class !== 'bridge' || root.path !== '') continue
    // The second function of a bonded adapter repeats the values of the first.
    const below = [...records.values()].filter((one) => {
      return one === root || (pathOf(one)[0] === address && (one.class !== 'dpu' || one.rdma_devices !== ''))
    })
    const sum = below.reduce((all, one) => all + numberOf(one, 'aer_correctable_total'), 0)
    assert.equal(numberOf(root, 'aer_rootport_correctable_total'), sum, `messages at ${address}`)
  }
}

function checkGpus(pair: Pair): void {
  for (const [key, state] of pair.records(nvmlGpuType)) {
    const watts = pair.gain(nvmlGpuType, key, 'total_energy_consumption') / 1000 / pair.seconds
    // Without a process there is no work.
    if (numberOf(state, 'gpu_util') > 0) assert.ok(watts >= 100, `GPU ${key} draws ${watts} W at work`)
    assert.ok(watts <= numberOf(state, 'enforced_power_limit') * 1.001)
    assert.ok(numberOf(state, 'power_usage') <= numberOf(state, 'enforced_power_limit') * 1.001)
  }
  for (const [key, record] of pair.records(nvmlProfileType)) {
    const shares = ['gr_engine_active', 'sm_active', 'pipe_tensor_active'].map((field) => numberOf(record, field))
    const [engine = 0, sm = 0, tensor = 0] = shares
    assert.ok(engine <= 1 && engine >= sm && sm >= tensor, `GPU ${key}: ${shares.join(' ≥ ')}`)
    assert.ok(sm >= numberOf(record, 'sm_occupancy'))
  }
}

test('power is the mean of energy, and use is not below activity, over one window', () => {
  const report = new TestReport({})
  for (let sample = 0; sample < 60; sample++) {
    // Energy steps every 50 ms and power is a mean over a second: from step to step both describe the same window.
    const pair = new Pair(report, START_S + 0.06 + sample * 0.1, 1)
    for (const [key, state] of pair.records(nvmlGpuType)) {
      const watts = pair.gain(nvmlGpuType, key, 'total_energy_consumption') / 1000
      assert.ok(Math.abs(watts - numberOf(state, 'power_usage')) <= 0.02 * 700, `GPU ${key}: ${watts} W by energy`)
      assert.ok(numberOf(state, 'gpu_util') >= 50)
    }
  }
})

test('rails carry the same over a step, within 5 %', () => {
  const pair = new Pair(new TestReport({}), START_S, 4 * 2.37)
  const sent = [0, 1, 2, 3, 4, 5, 6, 7].map((rail) =>
    pair.gain(rdmaPortType, `mlx5_${rail}/1`, 'xmit_data_bytes_total'),
  )
  assert.ok(Math.max(...sent) <= 1.05 * Math.min(...sent))
})
