import type { Batch, Source } from '@sonde/sdk'
import { createOwnSource } from '@sonde/sdk/internal'
import type { Devices } from '../devices/devices.ts'
import type { HostEdge } from '../hosting/edge-gate.ts'
import { reportMark } from '../hosting/edge-mark.ts'
import { RecentRing } from '../pipeline/recent.ts'
import type { Simulation } from '../sources/simulator/simulation.ts'
import { bookSignals, ruleCondition, ruleSignals } from '../traceback/book/condition.ts'
import { type EventDisk, systemDisk } from '../traceback/keep/disk.ts'
import { type EdgeOrigin, Traceback } from '../traceback/traceback.ts'
import { TRACEBACK_SOURCE } from '../traceback/window/open-event.ts'
import type { ObservedFault } from './past-faults.ts'
import type { TakePast } from './past-node.ts'
import type { PastEventsRequest, PastRequest } from './past-protocol.ts'
import { nsOf, type PastSamples } from './past-samples.ts'
import { watchPast } from './watch-past.ts'

/** Largest part of an event. Unit: bytes. */
const EVENT_BYTES_MAX = 16 << 20
/** Memory of the reported records around a fault. Unit: bytes. */
const RECENT_BYTES = 64 << 20
/** Time of the past for which these records are kept. Unit: seconds. */
const RECENT_S = 3600
/** Time to keep the events that have no end. Unit: milliseconds. */
const CLOSE_MS = 10_000

/** The agent has the lock of the folder, in another thread of this process. */
const SHARED_DISK: EventDisk = {
  ...systemDisk,
  makeFolder: async () => undefined,
  lock: () => ({ close: () => undefined }),
}

/** Options of the events of the past. */
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

/** Makes events of one fault with their windows, as the agent would have made them. */
export class FaultEvents {
  readonly #options: PastEventsOptions
  readonly #fault: ObservedFault
  /** Numbers of the events in their edges. */
  readonly #chosen: ReadonlySet<number>
  readonly #traceback: Traceback
  readonly #recent = new RecentRing({ windowS: RECENT_S, limitBytes: RECENT_BYTES })
  readonly #marks = new Map<string, Source>()
  readonly #kept = new Set<number>()
  #samples: PastSamples | undefined
  #begun = 0

  constructor(options: PastEventsOptions, fault: ObservedFault, chosen: ReadonlySet<number>) {
    this.#options = options
    this.#fault = fault
    this.#chosen = chosen
    this.#traceback = this.#makeTraceback()
  }

  /** Resolves when all events are in the folder. */
  async make(): Promise<void> {
    const { fromMs, toMs } = this.#fault
    using watched = await watchPast({
      ...{ ...this.#options, fromMs },
      onEdge: (source, edge, from) => this.#onEdge(source, edge, from),
      accept: (batch) => this.#accept(batch),
    })
    const { samples } = watched
    this.#samples = samples
    const isGoing = () => this.#begun < this.#chosen.size || this.#traceback.openCount > 0
    while (samples.nowNs < nsOf(toMs) && isGoing()) {
      await samples.step()
      await this.#traceback.look()
      this.#tellKept()
    }
    await this.#traceback.close(CLOSE_MS)
    this.#tellKept()
  }

  #onEdge(source: string, edge: HostEdge, from: EdgeOrigin): void {
    if (!this.#chosen.has(edge.event)) return
    if (edge.isStart) this.#begun++
    // Hosts report the marks of rules on samples, and the agent all others.
    const marks = this.#marksOf(from.isRing === true ? source : TRACEBACK_SOURCE)
    reportMark(marks, edge, 0n)
    marks.flush()
    this.#traceback.onEdge(source, edge, from)
  }

  #accept(batch: Batch): void {
    this.#recent.accept(batch)
    this.#traceback.note(batch)
  }

  #marksOf(id: string): Source {
    const known = this.#marks.get(id)
    if (known !== undefined) return known
    const { take } = this.#options
    const made = createOwnSource({ id, labels: { simulated: 'true' }, emit: (batch) => take(id, batch) })
    this.#marks.set(id, made)
    return made
  }

  #tellKept(): void {
    for (const { id, sizeBytes } of this.#traceback.archive.byStart) {
      if (this.#kept.has(id) || sizeBytes === 0) continue
      this.#kept.add(id)
      this.#options.onKept(id)
    }
  }

  #makeTraceback(): Traceback {
    const { past, events, devices, take, warn, disk = SHARED_DISK } = this.#options
    const { book, version, taken, config } = events
    return new Traceback({
      ...{ version, host: past.host, recent: this.#recent, devices, taken, disk },
      // The agent applies the limits of the folder.
      config: {
        ...config,
        max_event_bytes: Math.min(config.max_event_bytes, EVENT_BYTES_MAX),
        dir_bytes: Number.POSITIVE_INFINITY,
        events_max: Number.POSITIVE_INFINITY,
      },
      sources: () => this.#samples?.sources ?? [],
      heldBack: () => 0,
      rules: {
        conditionOf: (rule) => ruleCondition(book, rule, this.#recent.types()),
        signalsOf: (rule) => ruleSignals(book, rule),
        listed: () => bookSignals(book),
      },
      accept: (batch) => take(batch.source.id, batch),
      log: { info: () => undefined, warn },
      caught: (error) => {
        throw error
      },
      clock: { monoNs: () => this.#samples?.nowNs ?? nsOf(this.#fault.fromMs), wallOffsetNs: () => 0n },
    })
  }
}
