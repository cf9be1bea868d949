import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { SCENARIOS } from '../sources/simulator/scenarios/scenarios.ts'
import { HintedNode, struck, WATCHED_S } from './test-simulated-node.ts'

interface Expected {
  readonly scenario: string
  /** The device that is struck, as a scenario is given it; none of the node's. */
  readonly device?: string
  /** Every hint that may open. The first must open. */
  readonly opens: readonly string[]
  /** How long after the onset the effect is in the samples. Unit: seconds. Default: 0. */
  readonly visibleS?: number
  /** Whether it stands within the scenario. Default: true. */
  readonly stands?: boolean
}

/** A hint opens within this time of its effect being in the samples. */
const WITHIN_S = 3
/** Samples come once a second: the effect is in the next one, or in the one after where it is a mean over a second. */
const SAMPLED_S = 1
/** Where between two samples it strikes. Unit: seconds after one. */
const DELAYS_S = [0.05, 0.4, 0.7]
const OBSERVED_S = 100

const EXPECTED: readonly Expected[] = [
  { scenario: 'retransmission-storm', device: 'sim-nic-mlx5_3-1', opens: ['retransmission_storm/sim-nic-mlx5_3-1'] },
  { scenario: 'pfc-storm', device: 'sim-nic-mlx5_6-1', opens: ['pfc_source/sim-nic-mlx5_6-1'] },
  {
    scenario: 'pfc-priority',
    device: 'sim-nic-mlx5_6-1',
    opens: ['pfc_priority/sim-nic-mlx5_6-1'],
    visibleS: 10,
  },
  { scenario: 'incast', device: 'sim-nic-mlx5_1-1', opens: ['congestion/sim-nic-mlx5_1-1'] },
  {
    scenario: 'hash-collision',
    device: 'sim-nic-mlx5_1-1',
    opens: ['congestion/sim-nic-mlx5_1-1', 'congestion/sim-nic-mlx5_2-1'],
  },
  {
    scenario: 'link-downtrain',
    device: 'sim-nic-mlx5_5-1',
    opens: ['link_flap/sim-nic-mlx5_5-1', 'link_slow/sim-nic-mlx5_5-1'],
  },
  { scenario: 'link-flap', device: 'sim-nic-mlx5_5-1', opens: ['link_flap/sim-nic-mlx5_5-1'] },
  { scenario: 'link-ber', device: 'sim-nic-mlx5_2-1', opens: ['link_ber/sim-nic-mlx5_2-1'], visibleS: 3 },
  { scenario: 'pcie-downtrain', device: 'sim-nic-mlx5_4-1', opens: ['pcie_downtrain/sim-nic-mlx5_4-1'] },
  { scenario: 'pcie-downtrain', device: 'sim-gpu-4', opens: ['pcie_downtrain/sim-gpu-4'] },
  {
    scenario: 'pcie-aer',
    device: 'sim-nic-mlx5_0-1',
    opens: ['pcie_aer/sim-nic-mlx5_0-1'],
    visibleS: 20,
    stands: false,
  },
  { scenario: 'pcie-aer', device: 'sim-gpu-7', opens: ['pcie_aer/sim-gpu-7'], visibleS: 20, stands: false },
  {
    scenario: 'ecc-burst',
    device: 'sim-gpu-2',
    opens: ['ecc_uncorrected/sim-gpu-2', 'ecc_corrected/sim-gpu-2'],
    visibleS: 60,
  },
  {
    scenario: 'thermal-throttle',
    device: 'sim-gpu-0',
    opens: ['thermal_throttle/sim-gpu-0', 'gpu_hot/sim-gpu-0'],
    visibleS: 28,
  },
  {
    scenario: 'thermal-throttle',
    device: 'sim-gpu-3',
    opens: ['thermal_throttle/sim-gpu-3', 'gpu_hot/sim-gpu-3'],
    visibleS: 28,
  },
  { scenario: 'power-cap', opens: ['power_cap/sim-node'] },
  { scenario: 'power-brake', opens: ['power_brake/sim-node'] },
  { scenario: 'straggler', device: 'sim-gpu-5', opens: ['straggler/sim-gpu-5'] },
  { scenario: 'stuck-collective', opens: ['stuck_collective/sim-node'] },
  { scenario: 'data-stall', opens: ['data_stall/sim-node'] },
  { scenario: 'gpu-lost', device: 'sim-gpu-6', opens: ['gpu_lost/sim-gpu-6'] },
  { scenario: 'noisy-neighbour', device: 'sim-nic-mlx5_3-1', opens: ['noisy_neighbour/sim-nic-mlx5_3-1'] },
  { scenario: 'checkpoint', opens: ['checkpoint/sim-node'] },
  { scenario: 'mig', device: 'sim-gpu-0', opens: ['shared_device/sim-gpu-0'] },
]

/** Scenarios in which no rule of one signal has anything to see. */
const NOTHING = ['healthy', 'time-slicing', 'checkpoint-asynchronous', 'pcie-stall']

/** The seed decides which hints open with these. */
const DRAWN = ['random']

test('every scenario there is has its expectation here', () => {
  const known = [...EXPECTED.map(({ scenario }) => scenario), ...NOTHING, ...DRAWN]
  assert.deepEqual(
    SCENARIOS.map(({ name }) => name).filter((name) => !known.includes(name)),
    [],
  )
})

describe('a scenario opens its hint, on the device that it strikes and on no other:', () => {
  for (const [index, { scenario, device, opens, visibleS = 0, stands = true }] of EXPECTED.entries()) {
    const delayS = DELAYS_S[index % DELAYS_S.length] ?? 0
    test(`${scenario}${device === undefined ? '' : ` on ${device}`}, ${delayS} s after a sample`, () => {
      const node = new HintedNode()
      node.run(WATCHED_S)
      assert.deepEqual([...node.seen.keys()], [])
      node.start({ name: scenario, delayS, durationS: OBSERVED_S * 2, ...(device === undefined ? {} : { device }) })
      const stood = new Set<string>()
      node.run(OBSERVED_S, () => {
        for (const { id, stage } of node.open()) if (stage === 'standing') stood.add(id)
      })
      const [first = ''] = opens
      assert.deepEqual(
        [...node.seen.keys()].filter((id) => !opens.includes(id)),
        [],
      )
      const afterS = node.seen.get(first) ?? Number.POSITIVE_INFINITY
      assert.ok(afterS <= visibleS + SAMPLED_S + WITHIN_S, `${first} after ${afterS} s`)
      assert.equal(stood.has(first), stands, `${first} stands`)
    })
  }
})

for (const name of NOTHING) {
  test(`${name} opens nothing`, () => {
    const node = new HintedNode()
    node.run(30)
    node.start({ name, durationS: 120 })
    node.run(120)
    assert.deepEqual([...node.seen.keys()], [])
  })
}

test('a node that a hint was open on has none once the scenario is over, and tells what was', () => {
  const node = new HintedNode()
  node.run(WATCHED_S)
  node.start({ name: 'retransmission-storm', durationS: 20 })
  node.run(60)
  assert.deepEqual(node.shown(), [])
  assert.deepEqual(
    node.hints.answer().ended.map(({ id }) => id),
    ['retransmission_storm/sim-nic-mlx5_3-1'],
  )
})

test('the mildest heat shows within half a minute, wherever in the node it is', () => {
  for (const device of ['sim-gpu-0', 'sim-gpu-3', 'sim-gpu-5']) {
    const node = new HintedNode()
    node.run(WATCHED_S)
    node.start({ name: 'thermal-throttle', device, severity: 18 })
    node.run(90)
    assert.ok((node.seen.get(`gpu_hot/${device}`) ?? 99) < 30, `${device} is hot`)
    assert.ok((node.seen.get(`thermal_throttle/${device}`) ?? 99) < 32, `${device} slows down`)
    assert.ok(
      node.open().some(({ device: place }) => place === device),
      `${device} stays so`,
    )
  }
})

/** Hints that are open some time after a scenario was stopped, and all that opened since. */
function afterStop(request: { readonly name: string; readonly device: string }, ranS: number, afterS: number) {
  const node = new HintedNode()
  node.run(WATCHED_S)
  node.start(request)
  node.run(ranS)
  const open = node.shown()
  node.stopAll()
  node.run(afterS)
  return { open, left: node.shown(), seen: [...node.seen.keys()] }
}

test('RDMA on a priority without flow control is told with its numbers while it is there', () => {
  const device = 'sim-nic-mlx5_3-1'
  const { open, left } = afterStop({ name: 'pfc-priority', device }, 30, 25)
  assert.deepEqual([open, left], [[`pfc_priority/${device} standing warning`], []])
  const [hint] = struck('hgx-h100', [{ name: 'pfc-priority', device }], 30).open()
  assert.match(
    hint?.sentence ?? '',
    /^PFC of mlx5_3 is on for priority 3, but RDMA runs on priority 0: of 1\d\.\d\sGB\/s of RDMA, priority 3 carries 0\.0\s% at most \(0\sB\/s\), at least 50\.0\s% expected; priority 0 carries 1\d\.\d\sGB\/s$/,
  )
})

test('a GPU that answers again is no longer lost, even right after XID 79', () => {
  const { open, left } = afterStop({ name: 'gpu-lost', device: 'sim-gpu-6' }, 20, 10)
  assert.deepEqual(open, ['gpu_lost/sim-gpu-6 standing critical'])
  assert.deepEqual(left, [])
})

test('a GPU that is lost seconds after the start is told with its XID', () => {
  const node = new HintedNode()
  node.start({ name: 'gpu-lost', device: 'sim-gpu-6', delayS: 3 })
  node.run(12)
  assert.match(node.open()[0]?.sentence ?? '', /GPU 6 gave its last sample .* the driver reports XID 79$/)
})

test('a link with its usual errors again is no longer reported', () => {
  const { open, left } = afterStop({ name: 'link-ber', device: 'sim-nic-mlx5_2-1' }, 200, 25)
  assert.deepEqual(open, ['link_ber/sim-nic-mlx5_2-1 standing critical'])
  assert.deepEqual(left, [])
})

test('errors that a slow PCIe link explained are not told once it is as fast as before', () => {
  const { left, seen } = afterStop({ name: 'pcie-downtrain', device: 'sim-nic-mlx5_4-1' }, 30, 110)
  assert.deepEqual([left, seen], [[], ['pcie_downtrain/sim-nic-mlx5_4-1']])
})

test('two faults at once are two hints, each on its device', () => {
  const node = new HintedNode()
  node.run(WATCHED_S)
  node.start({ name: 'pcie-downtrain', device: 'sim-nic-mlx5_1-1' })
  node.start({ name: 'link-ber', device: 'sim-nic-mlx5_6-1' })
  node.run(100)
  assert.deepEqual([...node.seen.keys()].sort(), ['link_ber/sim-nic-mlx5_6-1', 'pcie_downtrain/sim-nic-mlx5_1-1'])
})

test('a link that came back slower is reported after its flap, while it is slower', () => {
  const device = 'sim-nic-mlx5_5-1'
  const node = struck('hgx-h100', [{ name: 'link-downtrain', device, severity: 0.25 }], 200)
  assert.deepEqual(node.shown(), [`link_slow/${device} standing critical`])
  assert.match(node.open()[0]?.title ?? '', /^NIC 5 runs at 100\sGb\/s of 400\sGb\/s$/)
})

test('a PCIe link that both ports of a card share is told of both, and its effects are not', () => {
  const node = struck('dpu-host', [{ name: 'pcie-downtrain', device: 'sim-nic-mlx5_0-1' }], 60)
  const rules = new Set(node.open().map(({ rule, device }) => (device.includes('nic') ? rule : '')))
  assert.ok(rules.has('pcie_downtrain'))
  assert.ok(!rules.has('pfc_source'))
})

test('a hanging collective is reported under a power cap', () => {
  const node = struck('hgx-h100', [{ name: 'power-cap', severity: 0.4 }, { name: 'stuck-collective' }], 60)
  assert.ok(node.open().some(({ rule }) => rule === 'stuck_collective'))
})

test('a lost GPU of a node that has no other stays told', () => {
  const node = struck('small', [{ name: 'gpu-lost', device: 'sim-gpu-0' }], 60)
  assert.deepEqual(node.shown(), ['gpu_lost/sim-gpu-0 standing critical'])
})

test('a GPU that MIG splits writes no checkpoint', () => {
  const node = struck('dpu-host', [{ name: 'mig', device: 'sim-gpu-0' }], 60)
  assert.ok(!node.seen.has('checkpoint/sim-node'))
})
