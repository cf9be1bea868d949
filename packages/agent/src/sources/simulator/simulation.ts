import type { EffectEvent, Effects } from './effects.ts'
import { locate, type Place } from './model/place.ts'
import { aerNamesOf, compileSegments, type ScheduleInput } from './model/schedule.ts'
import type { Segment } from './model/segment.ts'

/**
 * A node of which every value is a pure function of seed, device and time, and of the effects that are set. Asking costs the same for any moment, and leaves no trace: any period, replay or
 * seek gives the same values.
 */
export class Simulation {
  readonly seed: number
  readonly node: ScheduleInput['node']
  readonly workload: ScheduleInput['workload']
  #effects: readonly Effects[] = []
  #segments: readonly Segment[] = []
  #events: readonly EffectEvent[] = []
  #aerNames: readonly string[] = []
  /** Counts up when the effects change, so that who keeps something made of them knows. */
  version = 0
  #cursor = 0

  constructor(input: ScheduleInput) {
    this.seed = input.seed
    this.node = input.node
    this.workload = input.workload
    this.setEffects(input.effects)
  }

  /** All effects, those that have ended too: what was counted stays counted. */
  get effects(): readonly Effects[] {
    return this.#effects
  }

  /**
   * Replaces all effects. What lies before the first difference stays as it was: to end a scenario early its spans are cut ({@link cutEffects}), not taken out, or
   * counters would fall.
   */
  setEffects(effects: readonly Effects[]): void {
    const { seed, node, workload } = this
    this.#effects = effects
    this.#segments = compileSegments({ seed, node, workload, effects })
    this.#aerNames = aerNamesOf(effects)
    this.#events = effects.flatMap(({ events = [] }) => events).toSorted((a, b) => a.atS - b.atS)
    this.#cursor = 0
    this.version++
  }

  get segments(): readonly Segment[] {
    return this.#segments
  }

  /** Everything that happens once, in order of time. */
  get events(): readonly EffectEvent[] {
    return this.#events
  }

  /** Names of PCIe errors, as `severity/error`. */
  get aerNames(): readonly string[] {
    return this.#aerNames
  }

  /** The place of a moment; see {@link Place}. Unit of `t`: seconds since the epoch. */
  at(place: Place, t: number): Place {
    return locate(place, this.seed, this.#segmentAt(Math.max(0, t)), Math.max(0, t))
  }

  #segmentAt(t: number): Segment {
    const segments = this.#segments
    let at = this.#cursor
    while (at > 0 && (segments[at] as Segment).fromS > t) at--
    while (at < segments.length - 1 && (segments[at] as Segment).toS <= t) at++
    this.#cursor = at
    return segments[at] as Segment
  }
}

/** Effects as they are if their scenario ends at a time: spans are cut there, and what would happen later does not. */
export function cutEffects({ spans, events = [] }: Effects, atS: number): Effects {
  return {
    spans: spans.filter(({ fromS }) => fromS < atS).map((span) => ({ ...span, toS: Math.min(span.toS, atS) })),
    events: events.filter((event) => event.atS < atS),
  }
}
