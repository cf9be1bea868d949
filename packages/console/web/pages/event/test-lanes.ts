import type { EventLane } from '@sonde/sdk/api'
import type { LaneSamples } from '../../api/event-samples.ts'

/** A time with fractions, as real samples have. */
export const START_MS = Date.UTC(2026, 6, 31, 10) + 0.118

/** A lane with a sample every 100 µs, identified by its name. */
export function testLane(more: Partial<EventLane> = {}): EventLane {
  return {
    key: more.name ?? 'lane',
    type: 'doca_diag_sample',
    source: 'doca_diag',
    device: 'mlx5_3',
    deviceName: more.device ?? 'mlx5_3',
    kind: 'nic',
    name: 'Sent',
    unit: 'bytes',
    role: 'counter',
    resolutionMs: 0.1,
    errorMs: 0.05,
    samples: 100,
    gaps: [],
    isOfRule: false,
    ...more,
  }
}

/** Samples of a lane, the first at `fromMs` after the start. `undefined` is an absent value. */
export function testSamples(lane: EventLane, fromMs: number, values: readonly (number | undefined)[]): LaneSamples {
  const column = Float64Array.from(values, (value) => value ?? Number.NaN)
  return {
    key: lane.key,
    isExact: true,
    times: Float64Array.from(values, (_, at) => START_MS + fromMs + at * lane.resolutionMs),
    lows: column,
    highs: column,
  }
}

/** Points that cover `stepMs` each, with their least and greatest value. */
export function testStretches(
  lane: EventLane,
  fromMs: number,
  stepMs: number,
  extremes: readonly (readonly [low: number, high: number])[],
): LaneSamples {
  return {
    key: lane.key,
    isExact: false,
    times: Float64Array.from(extremes, (_, at) => START_MS + fromMs + at * stepMs),
    lows: Float32Array.from(extremes, ([low]) => low),
    highs: Float32Array.from(extremes, ([, high]) => high),
  }
}
