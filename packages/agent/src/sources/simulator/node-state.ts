import type { EffectEvent, Effects } from './effects.ts'
import type { CombinedNic } from './model/combine.ts'
import type { Heat } from './model/heat.ts'
import type { Segment } from './model/segment.ts'

/** What a node had counted when a segment began, with which a schedule can begin. All of it can be written as JSON. */
export interface Origin {
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

/** All that decides what a simulated node shows, beside seed, node and workload. */
export interface NodeState {
  /** Absent if the schedule begins with the epoch. */
  readonly origin?: Origin
  readonly aerNames: readonly string[]
  /** Events before the origin: what they counted stays. */
  readonly past: readonly EffectEvent[]
  readonly effects: readonly Effects[]
}

/** What a schedule needs of a segment to begin with it. */
export function originOf({ index, fromS, gpus, nics, host }: Segment): Origin {
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
