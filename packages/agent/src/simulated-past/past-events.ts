import { createOwnSource } from '@sonde/sdk/internal'
import type { Devices } from '../devices/devices.ts'
import type { HostEdge } from '../hosting/edge-gate.ts'
import { reportMark } from '../hosting/edge-mark.ts'
import { RecentRing } from '../pipeline/recent.ts'
import type { Simulation } from '../sources/simulator/simulation.ts'
import { bookSignals, ruleCondition, ruleSignals } from '../traceback/book/condition.ts'
import { type EventDisk, systemDisk } from '../traceback/keep/disk.ts'
import { Traceback } from '../traceback/traceback.ts'
import { watchOfBook } from '../traceback/watching/watch-of-book.ts'
import { faultsOf, type PastFault } from './past-faults.ts'
import type { TakePast } from './past-node.ts'
import type { PastEventCounts, PastEventsRequest, PastRequest } from './past-protocol.ts'
import { PastSamples } from './past-samples.ts'

/** Most faults that are sampled, the latest of the past. Each is a second of computing or more. */
const FAULTS_MAX = 24
/** A fault is sampled for so long. Unit: milliseconds. */
const FAULT_MAX_MS = 60_000
/** Most samples before a fault, so that rules know the usual state. Unit: milliseconds. */
const LEAD_MAX_MS = 10_000
/** Rules that look back hold for some time after a fault. An event that lasts longer is stopped. Unit: milliseconds. */
const TAIL_MS = 10_000
/** Largest part of an event. Unit: bytes. */
const EVENT_BYTES_MAX = 16 << 20
/** Memory of the reported records around a fault. Unit: bytes. */
const RECENT_BYTES = 64 << 20
/** Time to keep the events that have no end. Unit: milliseconds. */
const CLOSE_MS = 10_000
const NS_PER_MS = 1_000_000n

/** The agent has the lock of the folder, in another thread of this process. */
const SHARED_DISK: EventDisk = {
  ...systemDisk,
  makeFolder: async () => undefined,
  lock: () => ({ close: () => undefined }),
}

/** Options of {@link PastEvents}. */
export interface PastEventsOptions {
  readonly past: PastRequest
  readonly events: PastEventsRequest
  readonly simulation: Simulation
  readonly devices: Devices
  /** Takes the marks of the events. */
  readonly take: TakePast
  /** Called with each event that is in the folder. */
  readonly onKept: (id: number) => void
  readonly warn: (facts: object, message: string) => void
  /** Default: the machine's file system, with the folder locked by the agent. */
  readonly disk?: EventDisk
}

/** The sampled part of a fault. Unit: milliseconds since the Unix epoch. */
interface SampledFault {
  readonly fromMs: number
  /** Events begin from here to there. */
  readonly onsetMs: number
  readonly startsToMs: number
  readonly toMs: number
}

/** The start of a rule in a fault. */
interface FoundStart {
  readonly fault: SampledFault
  readonly event: number
  readonly atNs: bigint
}

/**
 * The events of rules on samples in the past of a simulated node. Only the time around faults is sampled at full rate:
 * once for the starts of rules, and once more with the windows of the latest starts.
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
      .map((fault) => this.#sampled(fault))
    const found: FoundStart[] = []
    let sampled = 0
    for (const fault of faults.toReversed()) {
      if (found.length >= events.eventsMax || sampled === FAULTS_MAX) break
      sampled++
      found.push(...(await this.#startsIn(fault)))
    }
    const chosen = found.toSorted((a, b) => Number(b.atNs - a.atNs)).slice(0, events.eventsMax)
    // The oldest event is kept first, so that it is the first to leave.
    for (const fault of faults) {
      const own = chosen.filter((start) => start.fault === fault)
      if (own.length > 0) await this.#makeEvents(fault, new Set(own.map(({ event }) => event)))
    }
    return { leftOut: found.length - chosen.length, faultsLeft: faults.length - sampled }
  }

  #sampled({ onsetMs, endMs }: PastFault): SampledFault {
    const { past, events } = this.#options
    const { before_ms, after_ms } = events.config
    const leadMs = Math.min(LEAD_MAX_MS, events.rings.options.ring_ms) + before_ms
    const startsToMs = Math.min(past.toMs, endMs, onsetMs + FAULT_MAX_MS)
    const toMs = Math.min(past.toMs, startsToMs + TAIL_MS + after_ms)
    return { fromMs: Math.max(past.fromMs, Math.floor(onsetMs) - leadMs), onsetMs, startsToMs, toMs }
  }

  async #startsIn(fault: SampledFault): Promise<FoundStart[]> {
    const found: FoundStart[] = []
    const samples = this.#samplesOf(fault, ({ isStart, monoNs, event }) => {
      if (isStart && monoNs >= nsOf(fault.onsetMs)) found.push({ fault, event, atNs: monoNs })
    })
    while (samples.nowNs < nsOf(fault.startsToMs)) await samples.step()
    return found
  }

  async #makeEvents(fault: SampledFault, chosen: ReadonlySet<number>): Promise<void> {
    const { past, events, devices, take, disk = SHARED_DISK } = this.#options
    const { book, version, taken, rings } = events
    const recent = new RecentRing({ windowS: 3600, limitBytes: RECENT_BYTES })
    const marks = createOwnSource({
      ...{ id: rings.name, labels: { simulated: 'true' } },
      emit: (batch) => take(rings.name, batch),
    })
    let begun = 0
    const onEdge = (edge: HostEdge) => {
      if (!chosen.has(edge.event)) return
      if (edge.isStart) begun++
      reportMark(marks, edge, 0n)
      marks.flush()
      traceback.onEdge(rings.name, edge, { isRing: true })
    }
    const samples = this.#samplesOf(fault, onEdge, (batch) => {
      recent.accept(batch)
      traceback.note(batch)
    })
    const traceback: Traceback = new Traceback({
      ...{ version, host: past.host, recent, devices, taken, disk },
      config: {
        ...events.config,
        max_event_bytes: Math.min(events.config.max_event_bytes, EVENT_BYTES_MAX),
        dir_bytes: Number.POSITIVE_INFINITY,
        events_max: Number.POSITIVE_INFINITY,
      },
      sources: () => samples.sources,
      heldBack: () => 0,
      rules: {
        conditionOf: (rule) => ruleCondition(book, rule),
        signalsOf: (rule) => ruleSignals(book, rule),
        listed: () => bookSignals(book),
      },
      accept: (batch) => take(batch.source.id, batch),
      log: { info: () => undefined, warn: this.#options.warn },
      caught: (error) => {
        throw error
      },
      clock: { monoNs: () => samples.nowNs, wallOffsetNs: () => 0n },
    })
    const told = new Set<number>()
    const tell = () => {
      for (const { id, sizeBytes } of traceback.archive.byStart) {
        if (told.has(id) || sizeBytes === 0) continue
        told.add(id)
        this.#options.onKept(id)
      }
    }
    while (samples.nowNs < nsOf(fault.toMs) && (begun < chosen.size || traceback.openCount > 0)) {
      await samples.step()
      await traceback.look()
      tell()
    }
    await traceback.close(CLOSE_MS)
    tell()
  }

  #samplesOf(
    { fromMs }: SampledFault,
    onEdge: (edge: HostEdge) => void,
    accept?: ConstructorParameters<typeof PastSamples>[0]['accept'],
  ): PastSamples {
    const { past: request, events, simulation } = this.#options
    const watch = watchOfBook(events.book)
    const given = accept === undefined ? {} : { accept }
    return new PastSamples({ request, rings: events.rings, simulation, watch, fromMs, onEdge, ...given })
  }
}

function nsOf(timeMs: number): bigint {
  return BigInt(Math.round(timeMs)) * NS_PER_MS
}
