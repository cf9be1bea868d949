import type { EffectEvent, Effects } from './effects.ts'
import type { CombinedNic } from './model/combine.ts'
import type { Heat } from './model/heat.ts'
import type { Segment } from './model/segment.ts'

/** Counters of a node at the start of a segment, from which a schedule can start. All of it can be written as JSON. */
export interface ScheduleOrigin {
  readonly index: number
  /** Unit: seconds since the epoch of the simulation. */
  readonly fromS: number
  readonly gpus: readonly {
    readonly base: readonly number[]
    readonly aer: readonly number[]
    readonly startCelsius: number
    readonly heat: Heat
  }[]
  readonly nics: readonly {
    readonly base: readonly number[]
    readonly aer: readonly number[]
    readonly link?: NonNullable<CombinedNic['link']>
  }[]
  readonly host: readonly number[]
}

/** Everything that determines the values of a simulated node, besides seed, node class and workload. */
export interface NodeState {
  /** Absent if the schedule starts with the epoch. */
  readonly origin?: ScheduleOrigin
  readonly aerNames: readonly string[]
  /** Events before the origin; their counts remain. */
  readonly past: readonly EffectEvent[]
  readonly effects: readonly Effects[]
}

/** Extracts what a schedule needs to start with a segment. */
export function originOf({ index, fromS, gpus, nics, host }: Segment): ScheduleOrigin {
  return {
    ...{ index, fromS, host: [...host.base] },
    gpus: gpus.map(({ base, aer, startCelsius, heat }) => {
      return { base: [...base], aer: [...aer.base], startCelsius, heat }
    }),
    nics: nics.map(({ base, aer, effect }) => {
      return { base: [...base], aer: [...aer.base], ...(effect.link === undefined ? {} : { link: effect.link }) }
    }),
  }
}
