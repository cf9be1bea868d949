import {
  type Batch,
  counter,
  createSource,
  defineType,
  type Field,
  gauge,
  label,
  type RecordType,
  timestamp,
} from '@sonde/sdk'
import { Random } from '../../packages/sdk/test/random.ts'

/** GPUs of the load; one record each every {@link INTERVAL_MS}. */
export const GPUS = 64
/** Numbers in a record beside its time. */
export const FIELDS = 30
/** Period of the samples. Unit: milliseconds. */
export const INTERVAL_MS = 15_000

/** A value of a GPU that moves: `next` takes the value before and how busy the GPU is, 0 to 1. */
type Signal = (before: number, busy: number, random: Random) => number

const round = (value: number, places: number) => Math.round(value * 10 ** places) / 10 ** places
const clamp = (value: number, low: number, high: number) => Math.min(high, Math.max(low, value))
const walk = (low: number, high: number, places: number): Signal => {
  return (before, busy, random) => {
    const aim = low + (high - low) * busy
    return round(clamp(before + (aim - before) * 0.3 + (random.next() - 0.5) * (high - low) * 0.05, low, high), places)
  }
}
const ratio =
  (high: number): Signal =>
  (_before, busy, random) =>
    round(clamp(high * busy + (random.next() - 0.5) * 0.02, 0, 1), 6)
const rises =
  (perSecond: number): Signal =>
  (before, busy, random) => {
    return before + Math.floor((INTERVAL_MS / 1000) * perSecond * busy * (0.98 + 0.04 * random.next()))
  }
const rarely =
  (chance: number): Signal =>
  (before, _busy, random) =>
    before + (random.chance(chance) ? 1 : 0)
const constant: Signal = (before) => before

/** Name, signal and first value: what a DCGM exporter says of a GPU, in its resolutions. */
const COUNTERS: Readonly<Record<string, readonly [Signal, number]>> = {
  energy_millijoules_total: [rises(650_000), 3e12],
  pcie_tx_bytes_total: [rises(9e9), 4e15],
  pcie_rx_bytes_total: [rises(4e9), 2e15],
  nvlink_tx_bytes_total: [rises(180e9), 9e16],
  nvlink_rx_bytes_total: [rises(180e9), 9e16],
  power_violation_nanoseconds_total: [rises(2e8), 1e13],
  pcie_replays_total: [rarely(0.01), 12],
  ecc_corrected_total: [rarely(0.001), 3],
  nvlink_errors_total: [constant, 0],
  remapped_rows_total: [constant, 1],
}
const GAUGES: Readonly<Record<string, readonly [Signal, number]>> = {
  power_watts: [walk(90, 700, 3), 300],
  temperature_celsius: [walk(35, 75, 0), 50],
  memory_temperature_celsius: [walk(40, 90, 0), 55],
  utilisation_percent: [walk(0, 100, 0), 90],
  memory_utilisation_percent: [walk(0, 80, 0), 40],
  sm_clock_hertz: [(_before, busy, random) => 15e6 * Math.round(100 + 30 * busy + random.next()), 198e7],
  sm_active_ratio: [ratio(0.9), 0.8],
  sm_occupancy_ratio: [ratio(0.4), 0.3],
  tensor_active_ratio: [ratio(0.6), 0.5],
  dram_active_ratio: [ratio(0.5), 0.4],
  fp16_active_ratio: [ratio(0.1), 0.05],
  memory_used_bytes: [
    (before, _busy, random) => (random.chance(0.02) ? 2 ** 20 * random.integer(60_000, 79_000) : before),
    2 ** 36,
  ],
  encoder_utilisation_percent: [constant, 0],
  decoder_utilisation_percent: [constant, 0],
  memory_clock_hertz: [constant, 2_619_000_000],
  memory_total_bytes: [constant, 85_520_809_984],
  power_limit_max_watts: [constant, 700],
  pcie_width_lanes: [constant, 16],
  pcie_generation: [constant, 5],
  last_xid: [constant, 0],
}

const fields: Record<string, Field> = { time: timestamp(), gpu: label('UUID'), node: label('Node') }
for (const name in COUNTERS) fields[name] = counter('u64', { help: 'A counter of the load' })
for (const name in GAUGES) fields[name] = gauge('f64', { help: 'A gauge of the load' })

/** The record of the load. */
export const gpuType = defineType('gpu', 'A GPU of the load', fields) as RecordType
/** Metrics by their role. */
export const COUNTER_METRICS = Object.keys(COUNTERS).map((name) => `gpu_${name}`)
/** Gauges that move. */
export const GAUGE_METRICS = Object.keys(GAUGES)
  .slice(0, 12)
  .map((name) => `gpu_${name}`)
/** Label `gpu` of GPU `i`. */
export const uuidOf = (i: number) => `GPU-5fd4f087-86f3-4a43-b711-4771313afc${i.toString(16).padStart(2, '0')}`

/** A made load: batches in order, and the same numbers by GPU for who does not take batches. */
export interface Load {
  readonly batches: readonly Batch[]
  /** The records that a source reports about itself before all others. */
  readonly said: readonly Batch[]
  /** Times of the batches. Unit: milliseconds. */
  readonly timesMs: readonly number[]
  readonly values: number
}

/**
 * Makes `count` samples of all GPUs, the first after `fromMs`. Each GPU is busy, idle, or busy in waves, for an hour or
 * so at a time.
 */
export function makeLoad(seed: number, fromMs: number, count: number): Load {
  const random = new Random(seed)
  const batches: Batch[] = []
  const timesMs: number[] = []
  const said: Batch[] = []
  const emit = (batch: Batch) => {
    const list = batch.type === gpuType ? batches : said
    list.push({ ...batch, bytes: batch.bytes.slice() })
  }
  const source = createSource({ id: 'gpus', intervalMs: INTERVAL_MS, emit })
  const signals = Object.entries({ ...COUNTERS, ...GAUGES })
  const records = Array.from({ length: GPUS }, (_, i) => {
    const record: Record<string, unknown> = { gpu: uuidOf(i), node: `node${i >> 3}` }
    for (const [name, [, first]] of signals) record[name] = first
    return record
  })
  const jobs = new Float64Array(GPUS)
  for (let sample = 0; sample < count; sample++) {
    // A timer is late by up to some milliseconds; all GPUs are read together.
    const timeMs = fromMs + (sample + 1) * INTERVAL_MS + random.next() * 4
    timesMs.push(timeMs)
    const time = BigInt(Math.round(timeMs * 1000)) * 1000n + BigInt(random.integer(0, 999))
    for (const [gpu, record] of records.entries()) {
      if (sample % 240 === 0) jobs[gpu >> 3] = random.next()
      const job = jobs[gpu >> 3] ?? 0
      const busy = job < 0.2 ? 0.02 : job < 0.7 ? 0.95 : 0.6 + 0.4 * Math.sin(sample / 7)
      record.time = time
      for (const [name, [next]] of signals) record[name] = next(record[name] as number, busy, random)
      source.report(gpuType, { ...record, ...exactCounters(record) } as never)
    }
    source.flush()
  }
  return { batches, said, timesMs, values: count * GPUS * FIELDS }
}

/** Counters as integers that are exact beyond 2^53: numbers of that size are refused. */
function exactCounters(record: Readonly<Record<string, unknown>>): Record<string, bigint> {
  return Object.fromEntries(Object.keys(COUNTERS).map((name) => [name, BigInt(record[name] as number)]))
}
