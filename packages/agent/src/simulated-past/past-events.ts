import type { HostEdge } from '../hosting/edge-gate.ts'
import { FaultEvents, type PastEventsOptions } from './fault-events.ts'
import { faultsOf, type ObservedFault, type PastFault } from './past-faults.ts'
import type { PastEventCounts } from './past-protocol.ts'
import { nsOf } from './past-samples.ts'
import { watchPast } from './watch-past.ts'

/** Most faults that are observed, the latest of the past. Each is a second of computing or more. */
const FAULTS_MAX = 24
/** Events begin in so much of a fault; in less of it if NICs are sampled at full rate. Unit: milliseconds. */
const FAULT_MAX_MS = 300_000
const SAMPLED_MAX_MS = 60_000
/** Rules watch so long before a fault, so that they know the usual state. Unit: milliseconds. */
const LEAD_MS = 20_000
/** An event that begins so long before a fault belongs to it. Unit: milliseconds. */
const EARLY_MS = 5000
/** Longest window before an event, beside the lead. Unit: milliseconds. */
const BEFORE_MAX_MS = 60_000
/**
 * An event is observed until so long after its fault, because rules that look back hold for some time. An event that
 * lasts longer is stopped. Unit: milliseconds.
 */
const TAIL_MS = 10_000

/** The start of a rule in a fault. */
interface FoundStart {
  readonly fault: ObservedFault
  /** Number of the event in its edges. */
  readonly event: number
  readonly atNs: bigint
}

/**
 * The events of traceback in the past of a simulated node. Only the time around faults is observed in detail: once for
 * the starts of rules, and once more with the windows of the latest starts.
 */
export class PastEvents {
  readonly #options: PastEventsOptions

  constructor(options: PastEventsOptions) {
    this.#options = options
  }

  /** Makes the latest events. Resolves when all are in the folder. */
  async make(): Promise<Omit<PastEventCounts, 'made'>> {
    const { simulation, past, events } = this.#options
    const faults = faultsOf(simulation)
      .filter(({ onsetMs }) => onsetMs > past.fromMs && onsetMs < past.toMs)
      .map((fault) => this.#observed(fault))
    const found: FoundStart[] = []
    let observed = 0
    for (const fault of faults.toReversed()) {
      if (found.length >= events.eventsMax || observed === FAULTS_MAX) break
      observed++
      found.push(...(await this.#startsIn(fault)))
    }
    const chosen = found.toSorted((a, b) => Number(b.atNs - a.atNs)).slice(0, events.eventsMax)
    // The oldest event is kept first, so that it is the first to leave.
    for (const fault of faults) {
      const own = chosen.filter((start) => start.fault === fault)
      if (own.length === 0) continue
      await new FaultEvents(this.#options, fault, new Set(own.map(({ event }) => event))).make()
    }
    return { leftOut: found.length - chosen.length, faultsLeft: faults.length - observed }
  }

  #observed({ onsetMs, endMs }: PastFault): ObservedFault {
    const { past, events } = this.#options
    const { before_ms, after_ms } = events.config
    const leadMs = LEAD_MS + Math.min(before_ms, BEFORE_MAX_MS)
    const lastsMs = events.rings === undefined ? FAULT_MAX_MS : SAMPLED_MAX_MS
    const startsToMs = Math.min(past.toMs, endMs, onsetMs + lastsMs)
    const toMs = Math.min(past.toMs, endMs + TAIL_MS + after_ms, onsetMs + FAULT_MAX_MS + TAIL_MS + after_ms)
    const fromMs = Math.max(past.fromMs, Math.floor(onsetMs) - leadMs)
    return { fromMs, toMs, startsFromMs: Math.max(fromMs, onsetMs - EARLY_MS), startsToMs }
  }

  async #startsIn(fault: ObservedFault): Promise<FoundStart[]> {
    const { fromMs, startsFromMs, startsToMs } = fault
    const found: FoundStart[] = []
    const onEdge = (_source: string, { isStart, monoNs, event }: HostEdge) => {
      if (isStart && monoNs >= nsOf(startsFromMs)) found.push({ fault, event, atNs: monoNs })
    }
    using watched = await watchPast({ ...this.#options, fromMs, onEdge })
    const { samples } = watched
    while (samples.nowNs < nsOf(startsToMs)) await samples.step()
    return found
  }
}
