import type { NodeClass } from '../classes/node-class.ts'
import type { AerRate, EffectSpan, Effects, GpuEffect, NicEffect } from '../effects.ts'

/** What a scenario happens to. `node`: to all of it. */
export type Target = 'gpu' | 'nic' | 'node'

/** A device by its place in the node class. */
export interface StruckDevice {
  readonly kind: Exclude<Target, 'node'>
  readonly index: number
}

/** How bad it can be. Where a scenario has one degree only, all three are 1. */
export interface Severity {
  readonly unit: string
  readonly min: number
  readonly max: number
  readonly default: number
}

/** When, where and how hard a scenario strikes. Times are seconds since the epoch of the simulation. */
export interface Strike {
  readonly node: NodeClass
  /** Decides what a scenario leaves open. */
  readonly seed: number
  /** What it happens to; that of a scenario of the node is of no account. */
  readonly device: StruckDevice
  /** When it was set: nothing may be different before, as that has been told already. */
  readonly sinceS: number
  readonly onsetS: number
  readonly endS: number
  readonly severity: number
}

/** Something that can happen to a simulated node: a pure function from a strike to its effects. */
export interface Scenario {
  /** `kebab-case`. */
  readonly name: string
  /** One sentence without a full stop. */
  readonly summary: string
  readonly target: Target
  /** Other kinds of device that it can happen to as well. */
  readonly alsoTarget?: Target
  /** Index of the device where none is named, or the last one. */
  readonly usualIndex: number
  readonly severity: Severity
  /** How long it lasts where nothing is said. Unit: seconds. */
  readonly durationS: number
  /** Whether it can happen to that device. Default: to all of its kind, but of NICs only to those of the job. */
  readonly fits?: (node: NodeClass, device: StruckDevice) => boolean
  /** What is different. Spans may go beyond the end; they are cut there. */
  readonly effects: (strike: Strike) => Effects
}

/** The severity of a scenario that either happens or does not. */
export const ONE_DEGREE: Severity = { unit: '', min: 1, max: 1, default: 1 }

/** Connections whose link is down try again at this interval. Unit: seconds. */
export const RETRY_S = 4.29

/** Times that something repeats at most in one scenario; a longer one repeats it less often. */
const REPEATS_LIMIT = 24

/** Starts of what repeats from `fromS` to `toS`, at least `periodS` apart. */
export function repeats(fromS: number, toS: number, periodS: number): number[] {
  const everyS = Math.max(periodS, (toS - fromS) / REPEATS_LIMIT)
  const count = Math.max(1, Math.ceil((toS - fromS) / everyS - 1e-9))
  return Array.from({ length: count }, (_, at) => fromS + at * everyS)
}

/**
 * The share of a scenario that is over at its parts: `[0.2, 0.6]` of 100 s are 20 and 60 s after the onset, none later
 * than the limits in seconds.
 */
export function partOf({ onsetS, endS }: Strike, share: number, limitS: number): number {
  return onsetS + Math.min(limitS, share * (endS - onsetS))
}

/** Effects on the struck device alone. */
export function onDevice({ device }: Strike, fromS: number, toS: number, effect: GpuEffect | NicEffect): EffectSpan {
  const one = { [device.index]: effect }
  return { fromS, toS, ...(device.kind === 'gpu' ? { gpus: one } : { nics: one }) }
}

/**
 * Correctable errors of a PCIe link that goes bad, in the mix in which they come. Unit of the rate: errors a second.
 */
export function linkErrors(perS: number): AerRate[] {
  const mix = { BadTLP: 0.5, RxErr: 0.3, BadDLLP: 0.1, Timeout: 0.1 }
  return Object.entries(mix).map(([error, share]) => ({ severity: 'correctable', error, perS: perS * share }))
}

/** Every GPU gets an XID error, a little after one another, as jobs are cleaned up. */
export function xidEverywhere({ node }: Strike, atS: number, xid: number): NonNullable<Effects['events']> {
  return node.gpus.map(({ index }) => ({ atS: atS + index * 0.01, gpu: index, kind: 'xid', xid }))
}
