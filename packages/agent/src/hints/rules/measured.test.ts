import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Hint } from '@sonde/sdk/api'
import { checkNumbers } from '../test-numbers.ts'
import { type MadeDevice, TrainingNode, tellXid } from '../test-training-node.ts'
import { RULES } from './index.ts'
import { FAULTS } from './test-faults.ts'

/** Nodes that get all faults, one after another. Further nodes get random faults. */
const NODES = 4
const FAULTS_EACH = Math.ceil(FAULTS.length / NODES)
/** Nodes of a run; `SONDE_HINT_SEEDS=200` looks at more. */
const SEEDS = Number(process.env.SONDE_HINT_SEEDS ?? NODES)
/** Fields that vary from sample to sample; flags and limits do not. */
const VARIES =
  /util$|active$|power_usage|_temp$|sm_clock|raw_bit_error_ratio|_(bytes|bytes_per_second|packets|total|seconds|ns|violation)$/
const PERCENT_MAX = 100
/** Share of seconds in which a device misses its sample. */
const MISSED = 0.1
/** Time until hints with a lingering time of 10 minutes have ended. Unit: seconds. */
const LASTING_S = 620

/** Numbers from 0 to 1 that a seed decides. */
function randomOf(seed: number): () => number {
  let state = seed * 2_654_435_761 + 1
  return () => {
    state = (Math.imul(state ^ (state >>> 15), 0x2c1b3c6d) + 0x9e3779b9) | 0
    const mixed = Math.imul(state ^ (state >>> 13), 0x297a2d39)
    return ((mixed ^ (mixed >>> 16)) >>> 0) / 2 ** 32
  }
}

/** Strikes a node with faults that come and go, and looks at every hint at every tick; gives the rules that spoke. */
function strike(seed: number): Set<string> {
  const random = randomOf(seed)
  const node = new TrainingNode()
  if (seed % NODES === 0) {
    tellXid(node.gpu(3), 79)
    node.nic(7).set({ carrier: 0, state: 1 })
  }
  node.run(62, undefined, [850])
  const spoke = new Set<string>()
  const over = new Set<string>()
  const inspection = (afterMs: number) => {
    node.hints.evaluate(node.nowMs + afterMs)
    const { hints, ended } = node.hints.answer()
    for (const hint of [...hints, ...ended.filter(({ event }) => !over.has(event))]) {
      checkNumbers(hint)
      spoke.add(hint.rule)
    }
    for (const { event } of ended) over.add(event)
  }
  const devices = [...node.gpus, ...node.nics, node.host]
  for (let i = 1; i <= FAULTS_EACH; i++) {
    const fault = seed < NODES ? ORDER[seed + NODES * (FAULTS_EACH - i)] : pick(FAULTS, random)
    const before = devices.flatMap(({ series }) => [...series.values()].map(saved))
    const spread = 0.2 * random() ** 2
    node.vary = (field, value) => {
      if (!VARIES.test(field)) return value
      const varied = value * (1 + spread * (2 * random() - 1))
      return field.endsWith('util')
        ? Math.min(PERCENT_MAX, varied)
        : field.endsWith('active')
          ? Math.min(1, varied)
          : varied
    }
    fault?.begin(node)
    const strikes = 5 + Math.floor(8 * random())
    for (let second = 0; second < strikes + 8; second++) {
      if (second < strikes) fault?.each?.(node, second)
      if (second === strikes) restore(devices, before)
      const missing = random() < MISSED ? [...(pick(devices, random)?.series.values() ?? [])] : []
      const heard = missing.filter(({ isSilent }) => !isSilent)
      for (const one of heard) one.isSilent = true
      node.run(1, undefined, [])
      for (const one of heard) one.isSilent = false
      for (const afterMs of [100, 600, ...(random() < MISSED ? [990] : [])]) inspection(afterMs)
    }
  }
  for (let second = 0; second < LASTING_S; second += 2) {
    node.nowMs += 2000
    inspection(0)
  }
  assert.deepEqual(node.shown(), [], `hints of seed ${seed} end`)
  return spoke
}

/** All faults in order. Faults that others explain come early, and faults that hide others for long come last. */
const ORDER = [...FAULTS].sort((a, b) => hiddenness(a.opens) - hiddenness(b.opens))

function hiddenness(opens: string): number {
  if (opens.startsWith('ecc_uncorrected')) return 0
  return /^(straggler|stuck_collective|data_stall)/.test(opens) ? 2 : 1
}

type Made = MadeDevice['series'] extends Map<string, infer One> ? One : never

function saved(one: Made) {
  return { one, rates: { ...one.rates }, values: { ...one.values }, isSilent: one.isSilent }
}

/** Makes series say again what they said before a fault; counters go on. */
function restore(devices: readonly MadeDevice[], before: readonly ReturnType<typeof saved>[]): void {
  for (const { series } of devices) for (const one of series.values()) one.isSilent = true
  for (const { one, rates, values, isSilent } of before) {
    for (const [now, then] of [
      [one.rates, rates],
      [one.values, values],
    ] as const) {
      for (const name of Object.keys(now)) delete now[name]
      Object.assign(now, then)
    }
    one.isSilent = isSilent
  }
}

function pick<T>(list: readonly T[], random: () => number): T | undefined {
  return list[Math.floor(random() * list.length)]
}

test('numbers that speak against their hint are found', () => {
  const told = { id: 'gpu_hot/gpu-0', value: 84, comparator: '>=', limit: 80 } as Hint
  checkNumbers({ ...told, sentence: 'GPU 0 is at 84 °C, its siblings 66 °C, limit 80 °C' })
  for (const wrong of [
    { ...told, value: 79, sentence: 'GPU 0 is at 79 °C, limit 80 °C' },
    { ...told, sentence: 'GPU 0 is at 79 °C, limit 80 °C' },
    { ...told, sentence: 'GPU 0 is at 84 °C, limit 85 °C' },
    { ...told, comparator: '>' as const, value: 80.01, sentence: 'GPU 0 is at 80 °C, limit 80 °C' },
    { ...told, sentence: 'GPU 0 is at 84 °C, limit 80 °C; slowed down for 0.0 % of the time, limit 10.0 %' },
    { ...told, sentence: 'GPU 0 still answers' },
  ])
    assert.throws(() => checkNumbers(wrong), assert.AssertionError, wrong.sentence)
})

test('the numbers of every hint passed their limit at every tick of its life, in its fields and in its sentence', () => {
  const spoke = new Set<string>()
  for (let seed = 0; seed < SEEDS; seed++) for (const rule of strike(seed)) spoke.add(rule)
  assert.deepEqual([...spoke].sort(), [...new Set(RULES.map(({ name }) => name))].sort(), 'every rule spoke')
})
