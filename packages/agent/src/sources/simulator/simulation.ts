import type { EffectEvent, Effects } from './effects.ts'
import { AER_NAMES, aerNamesOf } from './model/aer.ts'
import { EventIndex } from './model/event-index.ts'
import { compileSegments, type ScheduleInput } from './model/schedule.ts'
import { locate, type SchedulePosition } from './model/schedule-position.ts'
import type { Segment } from './model/segment.ts'
import { type NodeState, originOf, type ScheduleOrigin } from './node-state.ts'

/**
 * A simulated node. Every value is a pure function of seed, device, time and effects. Reads have the same cost for any
 * moment and change nothing, so any period, replay or seek gives the same values.
 */
export class Simulation {
  readonly seed: number
  readonly node: ScheduleInput['node']
  readonly workload: ScheduleInput['workload']
  #effects: readonly Effects[] = []
  #segments: Segment[] = []
  /** Segments that follow. */
  #coming: Iterator<Segment, void> = [].values()
  #events = new EventIndex([])
  #aerNames: readonly string[] = AER_NAMES
  #origin: ScheduleOrigin | undefined
  /** Events before the origin; their counts remain. */
  #past: readonly EffectEvent[] = []
  /** Increases with every change of the effects, for caches that depend on them. */
  version = 0
  #cursor = 0

  constructor(input: Pick<ScheduleInput, 'seed' | 'node' | 'workload' | 'effects'>) {
    this.seed = input.seed
    this.node = input.node
    this.workload = input.workload
    this.setEffects(input.effects)
  }

  /** All effects, including those that have ended, because their counts remain. */
  get effects(): readonly Effects[] {
    return this.#effects
  }

  /**
   * Replaces all effects. Everything before the first difference stays unchanged. To end a scenario early, its spans
   * are cut ({@link cutEffects}) and not removed, because counters would decrease otherwise. Only effects that ended
   * before {@link keptFromS} may be omitted.
   */
  setEffects(effects: readonly Effects[]): void {
    const { seed, node, workload } = this
    this.#effects = effects
    this.#aerNames = aerNamesOf(this.#aerNames, effects)
    this.#segments = []
    this.#coming = compileSegments({ seed, node, workload, effects, origin: this.#origin, aerNames: this.#aerNames })
    const coming = effects.flatMap(({ events = [] }) => events).filter(({ atS }) => atS >= this.keptFromS)
    this.#events = new EventIndex([...this.#past, ...coming])
    this.#cursor = 0
    this.version++
  }

  /** Start of the readable past; effects that ended earlier may be omitted. Unit: seconds since the epoch. */
  get keptFromS(): number {
    return this.#origin?.fromS ?? 0
  }

  /**
   * Drops the past before the segment of a moment, to free its memory and the effects that had ended. Counts remain.
   * Returns {@link keptFromS}.
   */
  forget(beforeS: number): number {
    const origin = this.#segmentAt(beforeS)
    if (origin.fromS <= this.keptFromS) return this.keptFromS
    const events = this.#effects.flatMap(({ events = [] }) => events)
    this.#past = [...this.#past, ...events.filter(({ atS }) => atS >= this.keptFromS && atS < origin.fromS)]
    this.#origin = originOf(origin)
    this.#segments = this.#segments.slice(this.#segments.indexOf(origin))
    this.#cursor = 0
    return origin.fromS
  }

  /** Present state. A simulation of the same seed, class and workload that follows it shows the same node. */
  get state(): NodeState {
    const [origin, past] = [this.#origin, this.#past]
    return { ...(origin === undefined ? {} : { origin }), aerNames: this.#aerNames, past, effects: this.#effects }
  }

  /** Takes over the state of another simulation. */
  follow({ origin, aerNames, past, effects }: NodeState): void {
    this.#origin = origin
    this.#past = past
    this.#aerNames = aerNames
    this.setEffects(effects)
  }

  /** Segments up to the latest moment that was read. */
  get segments(): readonly Segment[] {
    return this.#segments
  }

  /** All one-time events. */
  get events(): EventIndex {
    return this.#events
  }

  /** Names of PCIe errors, as `severity/error`. */
  get aerNames(): readonly string[] {
    return this.#aerNames
  }

  /** Finds the position of a moment. Unit of `t`: seconds since the epoch. */
  at(place: SchedulePosition, t: number): SchedulePosition {
    const kept = Math.max(this.keptFromS, t)
    return locate(place, this.seed, this.#segmentAt(kept), kept)
  }

  #segmentAt(t: number): Segment {
    const segments = this.#segments
    while ((segments.at(-1)?.toS ?? 0) <= t) {
      const { value } = this.#coming.next()
      if (value === undefined) break
      segments.push(value)
    }
    let at = this.#cursor
    while (at > 0 && (segments[at] as Segment).fromS > t) at--
    while (at < segments.length - 1 && (segments[at] as Segment).toS <= t) at++
    this.#cursor = at
    return segments[at] as Segment
  }
}

/** Effects of a scenario that ends at a given time: spans are cut, and later events are removed. */
export function cutEffects({ spans, events = [] }: Effects, atS: number): Effects {
  return {
    spans: spans.filter(({ fromS }) => fromS < atS).map((span) => ({ ...span, toS: Math.min(span.toS, atS) })),
    events: events.filter((event) => event.atS < atS),
  }
}
