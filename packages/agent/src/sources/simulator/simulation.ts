import type { EffectEvent, Effects } from './effects.ts'
import { AER_NAMES, aerNamesOf } from './model/aer.ts'
import { EventIndex } from './model/event-index.ts'
import { locate, type Place } from './model/place.ts'
import { compileSegments, type ScheduleInput } from './model/schedule.ts'
import type { Segment } from './model/segment.ts'
import { type NodeState, type Origin, originOf } from './node-state.ts'

/**
 * A node of which every value is a pure function of seed, device and time, and of the effects that are set. Asking
 * costs the same for any moment, and leaves no trace: any period, replay or seek gives the same values.
 */
export class Simulation {
  readonly seed: number
  readonly node: ScheduleInput['node']
  readonly workload: ScheduleInput['workload']
  #effects: readonly Effects[] = []
  #segments: Segment[] = []
  /** Segments after those. */
  #coming: Iterator<Segment, void> = [].values()
  #events = new EventIndex([])
  #aerNames: readonly string[] = AER_NAMES
  #origin: Origin | undefined
  /** Events before the origin: what they counted stays. */
  #past: readonly EffectEvent[] = []
  /** Counts up when the effects change, so that who keeps something made of them knows. */
  version = 0
  #cursor = 0

  constructor(input: Pick<ScheduleInput, 'seed' | 'node' | 'workload' | 'effects'>) {
    this.seed = input.seed
    this.node = input.node
    this.workload = input.workload
    this.setEffects(input.effects)
  }

  /** All effects that were set, those that have ended too: what was counted stays counted. */
  get effects(): readonly Effects[] {
    return this.#effects
  }

  /**
   * Replaces all effects. What lies before the first difference stays as it was: to end a scenario early its spans are
   * cut ({@link cutEffects}), not taken out, or counters would fall. Only what ended before {@link keptFromS} may be
   * left out.
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

  /**
   * Where the past that can still be asked for begins; effects that ended before may be left out. Unit: seconds since
   * the epoch.
   */
  get keptFromS(): number {
    return this.#origin?.fromS ?? 0
  }

  /**
   * Gives up the past before the segment of a moment: its memory, and the need to keep the effects that were over by
   * then. Counts stay. Says {@link keptFromS}.
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

  /** What happens to the node; another one of the same seed, kind and workload that follows it is the same. */
  get state(): NodeState {
    const [origin, past] = [this.#origin, this.#past]
    return { ...(origin === undefined ? {} : { origin }), aerNames: this.#aerNames, past, effects: this.#effects }
  }

  /** Becomes the same node as another one, whose state this is. */
  follow({ origin, aerNames, past, effects }: NodeState): void {
    this.#origin = origin
    this.#past = past
    this.#aerNames = aerNames
    this.setEffects(effects)
  }

  /** Segments up to the latest moment that was asked for. */
  get segments(): readonly Segment[] {
    return this.#segments
  }

  /** Everything that happens once. */
  get events(): EventIndex {
    return this.#events
  }

  /** Names of PCIe errors, as `severity/error`. */
  get aerNames(): readonly string[] {
    return this.#aerNames
  }

  /** The place of a moment; see {@link Place}. Unit of `t`: seconds since the epoch. */
  at(place: Place, t: number): Place {
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

/** Effects as they are if their scenario ends at a time: spans are cut there, and what would happen later does not. */
export function cutEffects({ spans, events = [] }: Effects, atS: number): Effects {
  return {
    spans: spans.filter(({ fromS }) => fromS < atS).map((span) => ({ ...span, toS: Math.min(span.toS, atS) })),
    events: events.filter((event) => event.atS < atS),
  }
}
