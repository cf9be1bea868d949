import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import {
  type Batch,
  counter,
  createSource,
  defineType,
  gauge,
  type Labels,
  label,
  optional,
  type Source,
  timestamp,
} from '../src/index.ts'
import {
  type Column,
  evaluate,
  gridOf,
  type History,
  type QueryRequest,
  type QueryResult,
  type SeriesQuery,
} from '../src/internal/index.ts'
import { Random, SEED } from './random.ts'

/** A history under test. */
export interface OpenHistory {
  readonly history: History
  accept(batch: Batch): void
  /** Resolves when everything accepted is part of the answers. */
  settle(): Promise<void>
  close(): Promise<void>
}

const type = defineType('probe', 'Records of the history suite', {
  time: timestamp(),
  device: label(),
  port: label(),
  bytes_total: counter('u64', { unit: 'bytes', help: 'Bytes' }),
  packets_total: counter('f64'),
  celsius: optional(gauge('f64', { unit: 'celsius', help: 'Heat' })),
  level: gauge('i16'),
})

const turnType = defineType(
  'probe_turn',
  'Records of the history suite that come in turns',
  { time: timestamp(), device: label(), errors_total: counter('u64') },
  { inTurns: true },
)

const modesType = defineType('probe_modes', 'Records of the history suite whose fields share a metric', {
  time: timestamp(),
  device: label(),
  busy: counter('f64', { metric: 'probe_seconds_total', labels: { mode: 'busy' } }),
  idle: optional(counter('f64', { metric: 'probe_seconds_total', labels: { mode: 'idle', state: 'on' } })),
})

/** A record of the suite; the time in seconds after the start. */
interface Reading {
  readonly s: number
  readonly device?: string
  readonly port?: string
  readonly bytes?: bigint
  readonly packets?: number
  readonly celsius?: number | undefined
  readonly level?: number
}

/** Runs with records around a full hour, an even number of hours ago, so that they lie in two hours that are over. */
const START_MS = Math.floor(Date.now() / 3_600_000) * 3_600_000 - 2 * 3_600_000 - 60_000

/** The cases that every history passes; `open` gives an empty one. */
export function testHistory(name: string, open: () => Promise<OpenHistory>): void {
  describe(`history: ${name}`, () => {
    for (const [sentence, run] of Object.entries(CASES)) {
      it(sentence, async () => {
        const opened = await open()
        try {
          await run(new Bench(opened))
        } finally {
          await opened.close()
        }
      })
    }
  })
}

const CASES: Readonly<Record<string, (bench: Bench) => Promise<void>>> = {
  'knows nothing of a metric that was never reported'(bench) {
    return bench.expect({ metric: 'nobody_knows' }, 10, [])
  },

  async 'gives each series its own values, with unit and help'(bench) {
    bench.report([
      { s: 1, device: 'a', level: 5 },
      { s: 1, device: 'b', level: -7 },
      { s: 2, device: 'a', level: 6 },
    ])
    await bench.expect({ metric: 'probe_level' }, 3, [
      { device: 'a', port: '1', values: [5, 6, 6] },
      { device: 'b', port: '1', values: [-7, -7, -7] },
    ])
    const { unit, help, role, clock, resolutionMs } = await bench.ask({ metric: 'probe_bytes_total' }, 3)
    assert.deepEqual(
      { unit, help, role, clock, resolutionMs },
      { unit: 'bytes', help: 'Bytes', role: 'counter', clock: 'wall', resolutionMs: 1000 },
    )
  },

  async 'takes series by every kind of matcher'(bench) {
    bench.report(['eth0', 'eth1', 'lo'].map((device) => ({ s: 1, device })))
    const found = async (op: '=' | '!=' | '=~' | '!~', value: string) => {
      const { series } = await bench.ask({ metric: 'probe_level', matchers: [{ label: 'device', op, value }] }, 1)
      return series.map(({ labels }) => labels.device).sort()
    }
    assert.deepEqual(await found('=', 'eth1'), ['eth1'])
    assert.deepEqual(await found('!=', 'eth1'), ['eth0', 'lo'])
    assert.deepEqual(await found('=~', 'eth.*'), ['eth0', 'eth1'])
    assert.deepEqual(await found('!~', 'eth.'), ['lo'])
  },

  async 'joins series that agree in the labels of by'(bench) {
    bench.report([
      { s: 1, device: 'a', port: '1', level: 1 },
      { s: 1, device: 'a', port: '2', level: 2 },
      { s: 1, device: 'b', port: '1', level: 40 },
    ])
    const { series } = await bench.ask({ metric: 'probe_level', by: ['device'] }, 1)
    assert.deepEqual(sorted(series.map(({ labels, values }) => ({ ...labels, values: [...values] }))), [
      { device: 'a', values: [3] },
      { device: 'b', values: [40] },
    ])
    const all = await bench.ask({ metric: 'probe_level', by: [], aggregate: 'max' }, 1)
    assert.deepEqual([...(all.series[0]?.values ?? [])], [40])
  },

  async 'computes rates of a u64 beyond 2^53 exactly'(bench) {
    const base = 2n ** 63n
    bench.report([base, base + 1n, base + 4n, base + 4n].map((bytes, s) => ({ s: s + 1, bytes })))
    await bench.expect({ metric: 'probe_bytes_total', function: 'rate' }, 4, [
      { device: 'a', port: '1', values: [null, 1, 3, 0] },
    ])
  },

  async 'tells the rate of a series that is read in turns, also in a window that holds none of them'(bench) {
    bench.reportTurns([-25, -14, -3], 100)
    const query = { metric: 'probe_turn_errors_total', function: 'rate' } as const
    const { series, resolutionMs } = await bench.ask(query, 6)
    assert.deepEqual([...(series[0]?.values ?? [])], [100, 100, 100, 100, 100, 100])
    assert.equal(resolutionMs, 11_000)
  },

  async 'fills no hole of a source without a period'(bench) {
    bench.restartSource(0)
    const halfSeconds = Array.from({ length: 28 }, (_, i) => 0.5 * (i + 1))
    const after = halfSeconds.map((s) => 102 + s)
    bench.report([...halfSeconds, ...after].map((s) => ({ s, packets: 20 * s, level: 2 })))
    for (const [metric, fn, value] of [
      ['probe_packets_total', 'rate', 20],
      ['probe_packets_total', 'increase', 100],
      ['probe_level', 'last', 2],
    ] as const) {
      const { series } = await bench.ask({ metric, function: fn }, 115, 5000)
      const inHole = series[0]?.values.subarray(3, 20)
      assert.deepEqual([...(inHole ?? [])], Array.from({ length: 17 }).fill(Number.NaN), `${fn} in the hole`)
      assert.deepEqual([series[0]?.values[1], series[0]?.values[21]], [value, value], `${fn} around it`)
    }
  },

  async 'makes no spike of a counter that restarts, and says when it did'(bench) {
    bench.report([1e12, 1e12 + 100, 50, 150].map((packets, s) => ({ s: s + 1, packets })))
    const { series } = await bench.ask({ metric: 'probe_packets_total', function: 'rate' }, 4)
    assert.deepEqual([...(series[0]?.values ?? [])], [Number.NaN, 100, Number.NaN, 100])
    assert.deepEqual(series[0]?.resetsMs, [START_MS + 3000])
  },

  async 'shows a missing stretch, and an absent field, as a gap'(bench) {
    bench.report([
      { s: 1, celsius: 20 },
      { s: 2, celsius: undefined },
      { s: 3, celsius: undefined },
      { s: 4, celsius: undefined },
      { s: 5, celsius: 0 },
      { s: 12, celsius: 21 },
    ])
    const values = [20, 20, 20, null, 0, 0, 0, null, null, null, null, 21]
    await bench.expect({ metric: 'probe_celsius' }, 12, [{ device: 'a', port: '1', values }])
  },

  async 'has no series for a field that was never there'(bench) {
    bench.report([{ s: 1, celsius: undefined }])
    await bench.expect({ metric: 'probe_celsius' }, 1, [])
  },

  async 'joins what two sources report of one series'(bench) {
    bench.report([{ s: 1, level: 1 }])
    bench.restartSource()
    bench.report([{ s: 2, level: 2 }])
    await bench.expect({ metric: 'probe_level' }, 2, [{ device: 'a', port: '1', values: [1, 2] }])
  },

  async 'tells fields of one metric apart by their constant labels'(bench) {
    bench.reportModes([
      { s: 1, device: 'a', busy: 1, idle: 10 },
      { s: 1, device: 'b', busy: 2 },
      { s: 2, device: 'a', busy: 4, idle: 30 },
    ])
    const ask = async (query: Partial<SeriesQuery>) => {
      const { series } = await bench.ask({ metric: 'probe_seconds_total', ...query }, 2)
      return sorted(series.map(({ labels, values }) => ({ ...labels, last: values.at(-1) })))
    }
    const busy = [
      { device: 'a', mode: 'busy', last: 4 },
      { device: 'b', mode: 'busy', last: 2 },
    ]
    const idle = { device: 'a', mode: 'idle', state: 'on', last: 30 }
    const withLabel = (label: string, op: '=' | '!=' | '=~' | '!~', value: string) =>
      ask({ matchers: [{ label, op, value }] })
    assert.deepEqual(await ask({}), sorted([...busy, idle]))
    assert.deepEqual(await withLabel('mode', '=', 'busy'), busy)
    assert.deepEqual(await withLabel('mode', '!~', 'b.*'), [idle])
    assert.deepEqual(await withLabel('mode', '=', 'other'), [])
    assert.deepEqual(await withLabel('state', '=', ''), busy)
    assert.deepEqual(await withLabel('device', '=', 'b'), [busy[1]])
    const by = { by: ['mode'], function: 'increase' } as const
    assert.deepEqual(await ask(by), [
      { mode: 'busy', last: 3 },
      { mode: 'idle', last: 20 },
    ])
  },

  async 'renames a label of the source with the name of a constant label'(bench) {
    bench.restartSource(1000, { mode: 'test', node: 'n' })
    bench.reportModes([{ s: 1, device: 'a', busy: 1 }])
    const matchers = [{ label: 'exported_mode', op: '=', value: 'test' } as const]
    const { series } = await bench.ask({ metric: 'probe_seconds_total', matchers }, 1)
    assert.deepEqual(
      series.map(({ labels }) => labels),
      [{ device: 'a', exported_mode: 'test', node: 'n', mode: 'busy' }],
    )
  },

  async 'keeps labels of any text'(bench) {
    const devices = ['', 'with "quotes" and \\', 'line\nbreak', 'Gerät \u{1F6A8}', 'x'.repeat(300)]
    bench.report(devices.map((device) => ({ s: 1, device })))
    const { series } = await bench.ask({ metric: 'probe_level' }, 1)
    assert.deepEqual(series.map(({ labels }) => labels.device).sort(), [...devices].sort())
  },

  async 'refuses a question that matches too many series'(bench) {
    bench.report(Array.from({ length: 10_001 }, (_, i) => ({ s: 1, device: `d${i}` })))
    await assert.rejects(bench.ask({ metric: 'probe_level' }, 1), { code: 'QRY_SERIES_LIMIT' })
    const one = [{ label: 'device', op: '=', value: 'd77' } as const]
    assert.equal((await bench.ask({ metric: 'probe_level', matchers: one }, 1)).series.length, 1)
  },

  async 'counts a series of long labels as several'(bench) {
    bench.report(Array.from({ length: 700 }, (_, i) => ({ s: 1, device: `${i}`.padEnd(4000, 'x') })))
    await assert.rejects(bench.ask({ metric: 'probe_level' }, 1), { code: 'QRY_SERIES_LIMIT' })
  },

  async 'answers as the evaluation of the very samples does'(bench) {
    const random = new Random(SEED)
    const readings = randomReadings(random)
    bench.report(readings)
    for (const stepMs of [1000, 7000, 10_000, 60_000]) {
      for (const fn of ['last', 'avg', 'min', 'max', 'rate', 'increase'] as const) {
        for (const field of ['bytes_total', 'packets_total', 'celsius', 'level'] as const) {
          const query = { metric: `probe_${field}`, function: fn }
          if ((fn === 'rate' || fn === 'increase') && !field.endsWith('_total')) {
            await assert.rejects(bench.ask(query, 120, stepMs), { code: 'QRY_FORM' })
            continue
          }
          const { series } = await bench.ask(query, 120, stepMs)
          const grid = gridOf(START_MS, START_MS + 120_000, stepMs)
          for (const { labels, values } of series) {
            const column = columnOf(
              readings.filter(({ device }) => device === labels.device),
              field,
            )
            const expected = evaluate(column, fn, grid, stepMs)
            assert.deepEqual(
              [...values],
              [...expected.values],
              `seed ${random.seed}: ${fn}(${field}) of ${labels.device} in steps of ${stepMs}`,
            )
          }
          assert.equal(series.length, 3, `seed ${random.seed}: ${fn}(${field})`)
        }
      }
    }
  },
}

/** One history with a source that reports to it. */
class Bench {
  readonly #opened: OpenHistory
  #source: Source

  constructor(opened: OpenHistory) {
    this.#opened = opened
    this.#source = this.#makeSource()
  }

  restartSource(intervalMs?: number, labels: Labels = {}): void {
    this.#source = this.#makeSource(intervalMs, labels)
  }

  report(readings: readonly Reading[]): void {
    for (const [
      i,
      { s, device = 'a', port = '1', bytes = 0n, packets = 0, celsius, level = 0 },
    ] of readings.entries()) {
      const time = BigInt(START_MS + Math.round(s * 1000)) * 1_000_000n
      this.#source.report(type, { time, device, port, bytes_total: bytes, packets_total: packets, celsius, level })
      if (i % 50 === 49) this.#source.flush()
    }
    this.#source.flush()
  }

  reportModes(readings: readonly { s: number; device: string; busy: number; idle?: number }[]): void {
    for (const { s, ...values } of readings) {
      this.#source.report(modesType, { time: BigInt(START_MS + s * 1000) * 1_000_000n, ...values })
    }
    this.#source.flush()
  }

  /** Reports a counter that gains so many a second, at some times; in seconds after the start. */
  reportTurns(times: readonly number[], perS: number): void {
    for (const s of times) {
      const time = BigInt(START_MS + s * 1000) * 1_000_000n
      this.#source.report(turnType, { time, device: 'a', errors_total: BigInt((s + 1000) * perS) })
    }
    this.#source.flush()
  }

  async ask(query: Partial<SeriesQuery> & { metric: string }, seconds: number, stepMs = 1000): Promise<QueryResult> {
    await this.#opened.settle()
    const whole: SeriesQuery = { function: 'last', matchers: [], by: undefined, aggregate: 'sum', ...query }
    const request: QueryRequest = { fromMs: START_MS, toMs: START_MS + seconds * 1000, stepMs, queries: [whole] }
    const { results, times } = await this.#opened.history.query(request)
    assert.deepEqual(times, gridOf(request.fromMs, request.toMs, stepMs))
    return results[0] as QueryResult
  }

  async expect(
    query: Partial<SeriesQuery> & { metric: string },
    seconds: number,
    expected: readonly { device: string; port: string; values: readonly (number | null)[] }[],
  ): Promise<void> {
    const { series } = await this.ask(query, seconds)
    const plain = series.map(({ labels, values }) => {
      return { ...labels, values: [...values].map((value) => (Number.isNaN(value) ? null : value)) }
    })
    assert.deepEqual(sorted(plain), expected)
  }

  #makeSource(intervalMs = 1000, labels: Labels = {}): Source {
    return createSource({ id: 'suite', intervalMs, labels, emit: (batch) => this.#opened.accept(batch) })
  }
}

function sorted<T>(items: readonly T[]): T[] {
  return [...items].sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1))
}

/** Two minutes of three devices, with gaps, absences, restarts, NaN, and times that are not whole. */
function randomReadings(random: Random): Reading[] {
  const readings: Reading[] = []
  const bytes = [0n, 2n ** 62n, 5n]
  const packets = [0, 0, 0]
  for (let s = 0; s < 120; s++) {
    for (let i = 0; i < 3; i++) {
      if (random.chance(0.1)) continue
      bytes[i] = random.chance(0.02) ? 0n : (bytes[i] ?? 0n) + BigInt(random.integer(0, 1e6))
      packets[i] = (packets[i] ?? 0) + random.next()
      const heat = random.chance(0.05) ? Number.NaN : random.integer(200, 900) / 10
      readings.push({
        s: s + random.integer(1, 999) / 1000,
        device: `gpu${i}`,
        bytes: bytes[i] ?? 0n,
        packets: packets[i] ?? 0,
        celsius: random.chance(0.2) ? undefined : heat,
        level: random.integer(-300, 300),
      })
    }
  }
  return readings
}

function columnOf(readings: readonly Reading[], field: 'bytes_total' | 'packets_total' | 'celsius' | 'level'): Column {
  const kept = field === 'celsius' ? readings.filter(({ celsius }) => celsius !== undefined) : readings
  const times = Float64Array.from(kept, ({ s }) => Number(BigInt(START_MS + Math.round(s * 1000)) * 1_000_000n) * 1e-6)
  if (field === 'bytes_total') {
    const words = new Uint32Array(BigUint64Array.from(kept, ({ bytes = 0n }) => bytes).buffer)
    return { labels: {}, intervalMs: 1000, times, values: { words } }
  }
  const of = ({ packets = 0, celsius = 0, level = 0 }: Reading) =>
    field === 'packets_total' ? packets : field === 'celsius' ? celsius : level
  return { labels: {}, intervalMs: 1000, times, values: { numbers: Float64Array.from(kept, of) } }
}
