import { messageOf } from '@sonde/sdk/internal'
import { isSimulatedSeries } from '../../devices/world.ts'
import type { RingSource } from '../../hosting/running-source.ts'
import type { RecentRing } from '../../pipeline/recent.ts'
import { eventDeviceId } from '../event-device-id.ts'
import type { EventDeviceLookup } from '../lookups.ts'
import { nearnessTo } from '../nearness.ts'
import type { EventClock } from './clock.ts'
import {
  type FetchLimits,
  fetchTap,
  hasRoomForReported,
  isFull,
  isOfRule,
  type NodeTap,
  nodeTaps,
  partOfReported,
  tapKey,
} from './fetch.ts'
import type { OpenEvent } from './open-event.ts'
import { reportedIn } from './reported.ts'

/** How often windows of a lasting event are fetched, so that little is left at its end. Unit: nanoseconds. */
const ROUND_NS = 250_000_000n
/** How long to wait for rings at the end of a window, because drains fill them. Unit: nanoseconds. */
const DRAIN_NS = 3_000_000_000n
/** How often the end of a window is checked. Unit: nanoseconds. */
const END_ROUND_NS = 10_000_000n
/**
 * Additional time before the window for reported records, because a counter needs a previous value. Unit: nanoseconds.
 */
const REPORTED_LEAD_NS = 2_000_000_000n

/** How long the list of rings stays valid. Unit: nanoseconds. */
const TAPS_NS = 10_000_000n

/** Options of a {@link Recorder}. */
export interface RecorderOptions {
  readonly sources: () => readonly RingSource[]
  readonly recent: RecentRing
  readonly devices: EventDeviceLookup
  readonly clock: EventClock
  /** Largest file of an event. Unit: bytes. */
  readonly bytesMax: number
  readonly log: { warn(facts: object, message: string): void }
}

/** Progress of an event's window. */
export interface WindowProgress {
  /** Whether the file has its largest size. */
  readonly isFull: boolean
  /** Whether the event has ended and its window is as complete as possible. */
  readonly isWhole: boolean
}

/** Fetches the windows of events from all rings of the node and from reported records. */
export class Recorder {
  readonly #options: RecorderOptions
  readonly #limits: FetchLimits
  /** Sources with failing windows that the log has mentioned. */
  readonly #told = new Set<string>()
  #taps: { readonly atNs: bigint; readonly taps: readonly NodeTap[] } | undefined

  constructor(options: RecorderOptions) {
    this.#options = options
    const { bytesMax, log } = options
    this.#limits = {
      bytesMax,
      failed: (source, reason) => {
        if (this.#told.has(source)) return
        this.#told.add(source)
        log.warn({ source, reason }, 'samples of an event cannot be fetched')
      },
    }
  }

  /** Fetches due samples. `isLast`: nothing more comes. */
  async advance(event: OpenEvent, { isLast }: { readonly isLast: boolean }): Promise<WindowProgress> {
    const nowNs = this.#options.clock.monoNs()
    const { toNs } = event
    const hasPassed = toNs !== undefined && nowNs >= toNs
    const everyNs = hasPassed ? END_ROUND_NS : ROUND_NS
    if (!isLast && event.fetchedNs !== 0n && nowNs - event.fetchedNs < everyNs) return this.#progress(event, false)
    event.fetchedNs = nowNs
    const upToNs = toNs !== undefined && toNs < nowNs ? toNs : nowNs
    const taps = await this.#tapsAt(nowNs)
    try {
      await this.#fetch(event, taps, upToNs)
    } catch (error) {
      const { id, rule, device } = event.start
      this.#options.log.warn(
        { event: id, rule, device, reason: messageOf(error) },
        'an event is cut off: the disk refused more samples',
      )
    }
    const isDrained = toNs !== undefined && taps.every(({ newestMonoNs }) => BigInt(newestMonoNs) >= toNs)
    const isWhole = toNs !== undefined && hasPassed && (isDrained || nowNs - toNs >= DRAIN_NS)
    return this.#progress(event, isWhole)
  }

  /** End of the fetched window of the rule's rings. Unit: nanoseconds of the monotonic clock. */
  reachedNs(event: OpenEvent): bigint {
    const ofRule = this.#taps?.taps.filter((tap) => isOfRule(tap, event)) ?? []
    const reached = ofRule.flatMap((tap) => event.cursors.get(tapKey(tap)) ?? [])
    return reached.reduce((least, ns) => (ns < least ? ns : least), event.fetchedNs)
  }

  /** Events of the same round share one request. */
  async #tapsAt(nowNs: bigint): Promise<readonly NodeTap[]> {
    if (this.#taps === undefined || nowNs - this.#taps.atNs > TAPS_NS)
      this.#taps = { atNs: nowNs, taps: await nodeTaps(this.#options.sources()) }
    return this.#taps.taps
  }

  #progress(event: OpenEvent, isWhole: boolean): WindowProgress {
    return { isFull: isFull(event, this.#limits), isWhole }
  }

  /**
   * Fetches the rule's rings first, then reported records, which are small, then other rings by nearness. Each step may
   * use the space that is left.
   */
  async #fetch(event: OpenEvent, taps: readonly NodeTap[], upToNs: bigint): Promise<void> {
    const limits = this.#limits
    const ofRule = taps.filter((tap) => isOfRule(tap, event))
    for (const tap of ofRule) await fetchTap(event, tap, { upToNs, near: undefined, limits })
    await this.#fetchReported(event)
    for (const [tap, near] of this.#byNearness(event, taps)) await fetchTap(event, tap, { upToNs, near, limits })
  }

  /** Rings that the rule does not watch, the nearest first. */
  #byNearness(event: OpenEvent, taps: readonly NodeTap[]): readonly (readonly [NodeTap, number])[] {
    const { devices } = this.#options
    const nearness = nearnessTo(event.start.deviceId, devices)
    const others = taps.filter((tap) => !isOfRule(tap, event))
    const placed = others.map((tap) => {
      const isSimulated = isSimulatedSeries(tap.source.definition.labels ?? {})
      return [tap, nearness(eventDeviceId({ device: tap.device, isSimulated }, tap.source, devices))] as const
    })
    return placed.sort(([, a], [, b]) => a - b)
  }

  async #fetchReported(event: OpenEvent): Promise<void> {
    const { recent, sources } = this.#options
    const { offsetNs } = event.start
    const sinceMs = event.reportedMs ?? Number.NEGATIVE_INFINITY
    event.reportedMs = performance.now()
    const fromNs = event.fromNs + offsetNs - REPORTED_LEAD_NS
    const stretch = {
      fromNs,
      toNs: event.toNs === undefined ? undefined : event.toNs + offsetNs,
      sinceMs,
      untilMs: event.reportedMs,
      first: event.start,
    }
    for await (const batch of reportedIn(recent, stretch)) {
      if (!batch.isFirst && !hasRoomForReported(event, this.#limits)) {
        const { type, source, count: samples, times } = batch
        event.leave({ source: source.id, type: type.name, device: '', samples, ...times })
      } else {
        const isOwn = batch.origin === 'own'
        const running = isOwn ? sources().find(({ name }) => name === batch.source.id) : undefined
        const before = event.file.bytes
        await event.append(partOfReported(event, running, batch), batch)
        if (!batch.isFirst) event.reportedBytes += event.file.bytes - before
      }
    }
  }
}
