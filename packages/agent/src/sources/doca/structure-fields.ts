import type { Integer64 } from '@sonde/sdk/internal'
import { DocaFailure } from '../../native/doca/failure.ts'
import { type FieldAbsences, Missing } from '../field-absences.ts'
import { WideCounter } from '../wide-counter.ts'

/** A field of a record whose value is in a structure of the library. */
export interface StructureField<S> {
  /** Returns the value; undefined if it is missing, or a failure if the device does not support it. */
  readonly of: (structure: S) => Integer64 | DocaFailure | undefined
  /** Why the value is missing. Default: the device does not give it. */
  readonly missing?: Missing
  /** Highest rate of a counter of 32 bits, which is widened. Unit: events per second. Default: it is not widened. */
  readonly eventsPerS?: number
}

/** Fields by their name. */
export type StructureTable<S> = Readonly<Record<string, StructureField<S>>>

const NOT_GIVEN = new Missing('unsupported', 'the adapter does not give this value')

/** Takes fields of one record out of a structure, and reports which of them are missing, and why. */
export class StructureFields<S, N extends string> {
  readonly #table: readonly (readonly [N, StructureField<S>])[]
  readonly #absences: FieldAbsences
  readonly #wide = new Map<string, WideCounter>()

  constructor(table: Readonly<Record<N, StructureField<S>>>, absences: FieldAbsences) {
    this.#table = Object.entries(table) as [N, StructureField<S>][]
    this.#absences = absences
  }

  /** Returns the values; undefined if missing. */
  take(structure: S | Missing): Record<N, number | bigint | undefined> {
    const nowMs = performance.now()
    const taken = {} as Record<N, number | bigint | undefined>
    for (const [name, { of, missing = NOT_GIVEN, eventsPerS }] of this.#table) {
      const found = structure instanceof Missing ? structure : orMissing(of(structure) ?? missing)
      const value = this.#absences.settle(name, found)
      const isWidened = value !== undefined && eventsPerS !== undefined
      taken[name] = isWidened ? this.#wideOf(name).next(value, { nowMs, eventsPerS }) : value
    }
    return taken
  }

  #wideOf(name: string): WideCounter {
    const wide = this.#wide.get(name) ?? new WideCounter()
    this.#wide.set(name, wide)
    return wide
  }
}

/** Turns a failed call into the reason why its values are missing. */
export function orMissing<S>(read: S | DocaFailure): Exclude<S, DocaFailure> | Missing {
  if (!(read instanceof DocaFailure)) return read as Exclude<S, DocaFailure>
  // A device that is lost but still listed has failed.
  return new Missing(read.kind === 'gone' ? 'failed' : read.kind, read.error.message)
}
