import assert from 'node:assert/strict'
import { test } from 'node:test'
import { NODE_CLASSES } from '../classes/classes.ts'
import type { EffectSpan } from '../effects.ts'
import { cutEffects, Simulation } from '../simulation.ts'
import { PACKET_BYTES } from './pace.ts'
import { GPU_COUNT, GPU_QUANTITIES, NIC_COUNT, NIC_QUANTITIES } from './quantities.ts'
import type { Workload } from './schedule.ts'
import { SchedulePosition } from './schedule-position.ts'
import { gpuIntegrals, nicNumbers, phaseOf } from './values.ts'

const START_S = 2.6e7
const HEALTHY_STEP_S = 2.37

class Node {
  readonly simulation: Simulation
  readonly #place = new SchedulePosition()

  constructor(spans: readonly EffectSpan[] = [], workload: Workload = 'training') {
    this.simulation = new Simulation({ seed: 7, node: NODE_CLASSES[0], workload, effects: [{ spans }] })
  }

  gpu(index: number, t: number): Float64Array {
    const out = new Float64Array(GPU_COUNT)
    const place = this.simulation.at(this.#place, t)
    const gpu = place.segment.gpus[index]
    assert.ok(gpu)
    gpuIntegrals(out, gpu, place)
    return out
  }

  nic(index: number, t: number): Float64Array {
    const out = new Float64Array(NIC_COUNT)
    const nic = this.simulation.node.nics[index]
    assert.ok(nic)
    nicNumbers(out, 7, nic, this.simulation.at(this.#place, t))
    return out
  }

  /** Mean of a GPU's quantity, per second. */
  meanOfGpu(index: number, quantity: number, fromS: number, toS: number): number {
    return (Number(this.gpu(index, toS)[quantity]) - Number(this.gpu(index, fromS)[quantity])) / (toS - fromS)
  }

  /** Mean growth of a NIC's number, per second. */
  rateOfNic(index: number, number: number, fromS: number, toS: number): number {
    return (Number(this.nic(index, toS)[number]) - Number(this.nic(index, fromS)[number])) / (toS - fromS)
  }

  stepS(t: number): number {
    return this.simulation.at(this.#place, t).segment.stepS
  }
}

const during = (change: Omit<EffectSpan, 'fromS' | 'toS'>): EffectSpan[] => [
  { fromS: START_S, toS: START_S + 600, ...change },
]
const near = (value: number, wanted: number, share: number, what: string) =>
  assert.ok(
    Math.abs(value - wanted) <= share * Math.abs(wanted),
    `${what} is ${value}, wanted ${wanted} ± ${share * 100} %`,
  )

test('a healthy node has the means that are published', () => {
  const node = new Node()
  const [from, to] = [START_S, START_S + 1000 * HEALTHY_STEP_S]
  near(node.stepS(START_S), HEALTHY_STEP_S, 0.001, 'a step')
  const gpus = [0, 1, 2, 3, 4, 5, 6, 7]
  const mean = (quantity: number) => gpus.reduce((sum, gpu) => sum + node.meanOfGpu(gpu, quantity, from, to), 0) / 8
  near(mean(GPU_QUANTITIES.energyJ), 0.9 * 700, 0.02, 'power')
  near(mean(GPU_QUANTITIES.tensor), 0.5, 0.02, 'tensor activity')
  near(PACKET_BYTES * node.rateOfNic(3, NIC_QUANTITIES.txData, from, to), 15.6e9, 0.02, 'what a NIC sends')
  for (const gpu of gpus) assert.ok(node.meanOfGpu(gpu, GPU_QUANTITIES.util, from, to) > 0.97)
})

const FAULTS: readonly EffectSpan[] = [
  { fromS: START_S + 0.4, toS: START_S + 2.1, nics: { 3: { lossShare: 1e-3, pcieGeneration: 3 } } },
  { fromS: START_S + 1.2, toS: START_S + 1.9, nics: { 3: { link: 'down' } } },
  { fromS: START_S + 2.5, toS: START_S + 3.3, gpus: { 0: { computeFactor: 1.3, powerLimitWatts: 400 } } },
]
const SAMPLES = 1200
/** Integrals of a GPU that are reported as counters; of the others only differences are visible. */
const COUNTED = [
  GPU_QUANTITIES.energyJ,
  GPU_QUANTITIES.powerCapS,
  GPU_QUANTITIES.softThermalS,
  GPU_QUANTITIES.hardThermalS,
  GPU_QUANTITIES.brakeS,
  GPU_QUANTITIES.correctedErrors,
]

for (const periodS of [10e-6, 100e-6, 1e-3, 15e-3, 1]) {
  test(`nothing that is counted falls at a period of ${periodS} s, into scenarios and out of them`, () => {
    for (const workload of ['training', 'inference'] as const) {
      const node = new Node(FAULTS, workload)
      for (const edge of FAULTS.flatMap(({ fromS, toS }) => [fromS, toS])) {
        let nic: Float64Array = new Float64Array(NIC_COUNT)
        let gpu: Float64Array = new Float64Array(GPU_COUNT)
        for (let sample = -SAMPLES / 2; sample < SAMPLES / 2; sample++) {
          const t = edge + sample * periodS
          const [nextNic, nextGpu] = [node.nic(3, t), node.gpu(0, t)]
          const fallen = nextNic.findIndex((value, i) => value < Number(nic[i]))
          assert.equal(fallen, -1, `number ${fallen} of the NIC at ${t}`)
          const fell = COUNTED.find((i) => Number(nextGpu[i]) < Number(gpu[i]))
          assert.equal(fell, undefined, `integral ${fell} of the GPU at ${t}`)
          nic = nextNic
          gpu = nextGpu
        }
      }
    }
  })
}

test('over any window a GPU is used, its engine busy, its SMs active and its tensor pipes too, in that order, and it draws more than one at rest', () => {
  for (const workload of ['training', 'inference'] as const) {
    const node = new Node(FAULTS, workload)
    for (let sample = 0; sample < 400; sample++) {
      const from = START_S + sample * 0.0137
      const to = from + Number([0.001, 0.02, 0.3, 2.1][sample % 4])
      const mean = (quantity: number) => node.meanOfGpu(sample % 8, quantity, from, to)
      const shares = [GPU_QUANTITIES.util, GPU_QUANTITIES.engine, GPU_QUANTITIES.sm, GPU_QUANTITIES.tensor].map(mean)
      for (const [i, share] of shares.entries()) {
        assert.ok(share <= Number(shares[i - 1] ?? 1) + 1e-4, `${shares.join(' ≥ ')} over ${to - from} s`)
      }
      assert.ok(mean(GPU_QUANTITIES.sm) >= mean(GPU_QUANTITIES.occupancy) - 1e-4)
      assert.ok(mean(GPU_QUANTITIES.energyJ) > 100)
    }
  }
})

test('a moment has the same values whatever was read before', () => {
  const [steady, leaping] = [new Node(FAULTS), new Node(FAULTS)]
  for (let sample = 0; sample < 200; sample++) {
    const t = START_S + sample * 0.03
    leaping.gpu(5, t + ((sample * 7919) % 100) - 50)
    assert.deepEqual(steady.nic(3, t), leaping.nic(3, t))
    assert.deepEqual(steady.gpu(5, t), leaping.gpu(5, t))
  }
})

test('effects change nothing before they begin, and nothing of what does not depend on the job', () => {
  const [healthy, struck] = [new Node(), new Node(FAULTS)]
  const before = FAULTS[0]?.fromS ?? 0
  assert.deepEqual(struck.nic(3, before - 1e-6), healthy.nic(3, before - 1e-6))
  assert.deepEqual(struck.gpu(0, before - 1e-6), healthy.gpu(0, before - 1e-6))
  const after = START_S + 100
  for (const lane of [NIC_QUANTITIES.lane0, NIC_QUANTITIES.lane3, NIC_QUANTITIES.txManagement]) {
    near(Number(struck.nic(0, after)[lane]), Number(healthy.nic(0, after)[lane]), 1e-12, 'what goes on by itself')
  }
})

test('what was counted stays counted when a scenario is cut', () => {
  const effects = { spans: during({ nics: { 3: { lossShare: 1e-3 } } }) }
  const node = new Node(effects.spans)
  const atCut = node.nic(3, START_S + 20)
  node.simulation.setEffects([cutEffects(effects, START_S + 20)])
  assert.deepEqual(node.nic(3, START_S + 20), atCut)
  const later = node.nic(3, START_S + 200)
  assert.equal(later[NIC_QUANTITIES.lost], atCut[NIC_QUANTITIES.lost])
  assert.ok(Number(later[NIC_QUANTITIES.txData]) > Number(atCut[NIC_QUANTITIES.txData]))
})

test('a past that is given up leaves everything after it as it was, and its memory', () => {
  const later: EffectSpan[] = [{ fromS: START_S + 500, toS: START_S + 600, nics: { 1: { lossShare: 1e-3 } } }]
  const whole = new Node([...FAULTS, ...later])
  const forgetful = new Node(FAULTS)
  forgetful.nic(3, START_S + 5000)
  const before = forgetful.simulation.segments.length
  forgetful.simulation.forget(START_S + 100)
  forgetful.simulation.setEffects([{ spans: later }])
  forgetful.nic(3, START_S + 5000)
  assert.ok(forgetful.simulation.segments.length < before)
  for (const after of [100, 450, 550, 5000]) {
    assert.deepEqual(forgetful.nic(3, START_S + after), whole.nic(3, START_S + after))
    assert.deepEqual(forgetful.nic(1, START_S + after), whole.nic(1, START_S + after))
    assert.deepEqual(forgetful.gpu(0, START_S + after), whole.gpu(0, START_S + after))
  }
})

test('what is to come is worked out when it is asked for, and is the same by whichever way', () => {
  const [stepwise, leaping] = [new Node(FAULTS), new Node(FAULTS)]
  const last = leaping.nic(3, START_S + 5000)
  assert.equal(stepwise.simulation.segments.length, 0)
  for (let after = -100; after < 1000; after += 7) stepwise.nic(3, START_S + after)
  assert.deepEqual(stepwise.nic(3, START_S + 5000), last)
  assert.equal(stepwise.simulation.segments.length, leaping.simulation.segments.length)
  assert.deepEqual(leaping.gpu(0, START_S), stepwise.gpu(0, START_S))
})

test('a straggler makes the step longer, and the others wait', () => {
  const node = new Node(during({ gpus: { 5: { computeFactor: 1.25 } } }))
  const [from, to] = [START_S + 10, START_S + 10 + 200 * node.stepS(START_S + 10)]
  near(node.stepS(from) / HEALTHY_STEP_S, 1.22, 0.02, 'the step against a healthy one')
  const [slow, quick] = [5, 0].map((gpu) => node.meanOfGpu(gpu, GPU_QUANTITIES.tensor, from, to))
  assert.ok(Number(slow) > 1.15 * Number(quick), 'the busy one is the slow one')
  const watts = node.meanOfGpu(0, GPU_QUANTITIES.energyJ, from, to)
  assert.ok(watts < 630 - 70 && watts > 630 - 110, `the others draw ${watts} W`)
  near(node.meanOfGpu(0, GPU_QUANTITIES.util, from, to), 0.99, 0.01, 'use')
})

test('a narrow PCIe link makes bursts longer, and nothing is lost', () => {
  const node = new Node(during({ nics: { 3: { pcieGeneration: 3 } } }))
  const [from, to] = [START_S + 10, START_S + 10 + 100 * node.stepS(START_S + 10)]
  const longer = node.stepS(from) / HEALTHY_STEP_S
  assert.ok(longer > 1.45 && longer < 1.85, `the step is ${longer} times as long`)
  assert.equal(node.rateOfNic(3, NIC_QUANTITIES.lost, from, to), 0)
  near(PACKET_BYTES * node.rateOfNic(0, NIC_QUANTITIES.txData, from, to) * longer, 15.6e9, 0.02, 'bytes a step')
  const wide = new Node(during({ nics: { 3: { pcieWidth: 8 } } })).stepS(from) / HEALTHY_STEP_S
  assert.ok(wide >= 1 && wide < 1.15, `half the lanes: ${wide}`)
})

test('loss on one rail costs packets there and time everywhere', () => {
  const node = new Node(during({ nics: { 3: { lossShare: 2e-4 } } }))
  const [from, to] = [START_S + 10, START_S + 10 + 200 * node.stepS(START_S + 10)]
  assert.ok(node.rateOfNic(3, NIC_QUANTITIES.lost, from, to) > 100)
  assert.equal(node.rateOfNic(4, NIC_QUANTITIES.lost, from, to), 0)
  const excess =
    node.rateOfNic(3, NIC_QUANTITIES.txData, from, to) / node.rateOfNic(3, NIC_QUANTITIES.rxData, from, to) - 1
  near(excess, 0.046, 0.05, 'what is sent again')
  assert.ok(node.meanOfGpu(0, GPU_QUANTITIES.tensor, from, to) < 0.46)
})

test('heat slows one GPU down, in waves, and everyone with it', () => {
  const node = new Node(during({ gpus: { 5: { inletCelsius: 14, coolingFactor: 1.3 } } }))
  const [from, to] = [START_S + 200, START_S + 500]
  node.gpu(5, to)
  assert.ok(node.simulation.segments.length > 4, 'throttling comes and goes')
  assert.ok(
    node.meanOfGpu(5, GPU_QUANTITIES.softThermalS, from, to) +
      node.meanOfGpu(5, GPU_QUANTITIES.hardThermalS, from, to) >
      0.1,
  )
  assert.equal(node.meanOfGpu(0, GPU_QUANTITIES.softThermalS, from, to), 0)
  assert.ok(node.meanOfGpu(0, GPU_QUANTITIES.energyJ, from, to) < 600)
})

test('a power limit is drawn to the watt, and clocks follow', () => {
  const node = new Node(during({ gpus: { all: { powerLimitWatts: 500 } } }))
  const { segment, ...place } = { ...node.simulation.at(new SchedulePosition(), START_S + 100) }
  const gpu = segment.gpus[0]
  assert.ok(gpu)
  const compute = phaseOf(gpu, { ...place, segment, theta: 0.5 })
  assert.equal(gpu.levels[compute * GPU_COUNT + GPU_QUANTITIES.energyJ], 500)
  near(segment.stepS / HEALTHY_STEP_S, 1.13, 0.03, 'the step against a healthy one')
})

test('a lost GPU or a link that is down stops the job', () => {
  for (const change of [{ gpus: { 2: { state: 'lost' } } }, { nics: { 6: { link: 'down' } } }] as const) {
    const node = new Node(during(change))
    const [from, to] = [START_S + 10, START_S + 60]
    assert.equal(node.rateOfNic(0, NIC_QUANTITIES.txData, from, to), 0)
    assert.equal(node.meanOfGpu(0, GPU_QUANTITIES.tensor, from, to), 0)
    near(node.meanOfGpu(0, GPU_QUANTITIES.energyJ, from, to), 180, 0.04, 'power while waiting')
    near(node.meanOfGpu(0, GPU_QUANTITIES.util, from, to), 1, 1e-9, 'use while waiting')
  }
})
