import type { NodeClass } from '../classes/node-class.ts'
import type { AerRate, EffectSpan, Effects, GpuEffect, NicEffect } from '../effects.ts'

/** Target of a scenario. `node`: the whole node. */
export type Target = 'gpu' | 'nic' | 'node'

/** A device by its index in the node class. */
export interface StruckDevice {
  readonly kind: Exclude<Target, 'node'>
  readonly index: number
}

/** Range of a scenario's severity. If it has only one degree, all three are 1. */
export interface Severity {
  readonly unit: string
  readonly min: number
  readonly max: number
  readonly default: number
}

/** Time, target and severity of a scenario. Times are seconds since the epoch of the simulation. */
export interface Strike {
  readonly node: NodeClass
  /** Seed for choices that the scenario leaves open. */
  readonly seed: number
  /** The affected device; meaningless for scenarios of the whole node. */
  readonly device: StruckDevice
  /**
   * Time at which the scenario was set. It must not change values before that time, because they were reported already.
   */
  readonly sinceS: number
  readonly onsetS: number
  readonly endS: number
  readonly severity: number
}

/** A fault of a simulated node: a pure function from a strike to its effects. */
export interface Scenario {
  /** `kebab-case`. */
  readonly name: string
  /** One sentence without a full stop. */
  readonly summary: string
  readonly target: Target
  /** Another kind of device that the scenario can affect. */
  readonly alsoTarget?: Target
  /** Default index of the device; limited to the last device. */
  readonly usualIndex: number
  readonly severity: Severity
  /** Default duration. Unit: seconds. */
  readonly durationS: number
  /** Whether it can affect a device. Default: all devices of its kind, but only NICs of the job. */
  readonly fits?: (node: NodeClass, device: StruckDevice) => boolean
  /** The effects. Spans may exceed the end; they are cut there. */
  readonly effects: (strike: Strike) => Effects
}

/** The severity of a scenario without degrees. */
export const ONE_DEGREE: Severity = { unit: '', min: 1, max: 1, default: 1 }

/** Interval at which connections retry while their link is down. Unit: seconds. */
export const RETRY_S = 4.29

/** Most repetitions within one scenario; longer scenarios repeat less often. */
const REPEATS_LIMIT = 24

/** Start times of repetitions from `fromS` to `toS`, at least `periodS` apart. */
export function repeats(fromS: number, toS: number, periodS: number): number[] {
  const everyS = Math.max(periodS, (toS - fromS) / REPEATS_LIMIT)
  const count = Math.max(1, Math.ceil((toS - fromS) / everyS - 1e-9))
  return Array.from({ length: count }, (_, at) => fromS + at * everyS)
}

/**
 * Time at which a share of a scenario is over: shares `[0.2, 0.6]` of 100 s are 20 and 60 s after the onset, but not
 * later than the limits in seconds.
 */
export function partOf({ onsetS, endS }: Strike, share: number, limitS: number): number {
  return onsetS + Math.min(limitS, share * (endS - onsetS))
}

/** Effects on only the affected device. */
export function onDevice({ device }: Strike, fromS: number, toS: number, effect: GpuEffect | NicEffect): EffectSpan {
  const one = { [device.index]: effect }
  return { fromS, toS, ...(device.kind === 'gpu' ? { gpus: one } : { nics: one }) }
}

/** Correctable errors of a degrading PCIe link in their usual mix. Unit of the rate: errors per second. */
export function linkErrors(perS: number): AerRate[] {
  const mix = { BadTLP: 0.5, RxErr: 0.3, BadDLLP: 0.1, Timeout: 0.1 }
  return Object.entries(mix).map(([error, share]) => ({ severity: 'correctable', error, perS: perS * share }))
}

/** Every GPU gets an XID error, shortly after one another, as during the clean-up of a job. */
export function xidEverywhere({ node }: Strike, atS: number, xid: number): NonNullable<Effects['events']> {
  return node.gpus.map(({ index }) => ({ atS: atS + index * 0.01, gpu: index, kind: 'xid', xid }))
}
