import type { SourcePaths } from '../sources/source.ts'
import type { CheckResult, ReportFact } from './check.ts'

/** Libraries that can be tested. */
export const TESTED = ['doca', 'nvml'] as const

/** A library that can be tested. */
export type TestedLibrary = (typeof TESTED)[number]

/** Message that starts the child. */
export interface TestPlan {
  readonly library: TestedLibrary
  readonly paths: SourcePaths
  /** Whether checks may be made that taint the kernel. */
  readonly acceptsTaint: boolean
  /** Time between two readings of a device. Unit: milliseconds. */
  readonly pauseMs: number
  /** Parts of devices that are left out, because an earlier child ended or hung there: `phy 1`. */
  readonly skipped: readonly string[]
  /** Checks that an earlier child has made: `phy.link 1`. */
  readonly made: readonly string[]
}

/** Messages of the child. */
export type FromTest =
  | { readonly kind: 'fact'; readonly fact: ReportFact }
  /** Names that the report must not hold, each with its replacement. */
  | { readonly kind: 'named'; readonly names: readonly (readonly [name: string, shown: string])[] }
  /** The devices are known: all checks that follow. */
  | { readonly kind: 'planned'; readonly checks: readonly Planned[] }
  /** There is nothing to test. */
  | { readonly kind: 'nothing'; readonly reason: string }
  | { readonly kind: 'begun'; readonly check: string; readonly device: number }
  | { readonly kind: 'result'; readonly result: CheckResult }
  /** The child can go no further. */
  | { readonly kind: 'broken'; readonly reason: string }
  | { readonly kind: 'ended' }

/** Sends a message to the command. */
export type SendFromTest = (message: FromTest) => void

/** A check of a device that will be made. */
export type Planned = Omit<CheckResult, 'verdict'>

/** Name of the part of a device that is left out after a crash. */
export function testPartOf({ check, device }: Planned): string {
  return `${check.split('.')[0]} ${device}`
}
