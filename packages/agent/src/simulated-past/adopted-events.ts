import { messageOf } from '@sonde/sdk/internal'
import { firstEventOf } from '../hosting/edge-gate.ts'
import type { RuleBook } from '../rules/rule.ts'
import type { SimulatorOptions } from '../sources/simulator/config.ts'
import type { SimulatorDiagOptions } from '../sources/simulator-diag/config.ts'
import { simulatorDiag } from '../sources/simulator-diag/simulator-diag.ts'
import type { ConfiguredSource } from '../sources/source.ts'
import type { TracebackConfig } from '../traceback/config.ts'
import type { Traceback } from '../traceback/traceback.ts'
import type { PastEventCounts, PastEventsRequest, PastRings } from './past-protocol.ts'

/** Most events of the past; the latest are made. */
const EVENTS_MAX = 20

/** The parts of an agent with which the past gets events. */
export interface PastTraceback {
  /** All sources, in the order of the configuration. */
  readonly sources: readonly ConfiguredSource[]
  readonly traceback: Traceback
  readonly rules: { readonly book: RuleBook | undefined; opened(): Promise<void> }
  readonly config: TracebackConfig
  /** Version of Sonde. */
  readonly version: string
  readonly log: { warn(facts: object, message: string): void }
}

/** The agent's side of the events of the past, which a thread writes into the folder of events. */
export class AdoptedEvents {
  readonly #parts: PastTraceback
  readonly #startedMs: number
  #adopting: Promise<void> = Promise.resolve()
  #made = 0
  #refused = 0

  /** @param startedMs Start of the node. Unit: milliseconds since the Unix epoch. */
  constructor(parts: PastTraceback, startedMs: number) {
    this.#parts = parts
    this.#startedMs = startedMs
  }

  /** The events to make for the past of a node; undefined if there are no valid rules. Never rejects. */
  async request(node: SimulatorOptions): Promise<PastEventsRequest | undefined> {
    const { sources, traceback, rules, config, version, log } = this.#parts
    await Promise.all([rules.opened(), traceback.opened()])
    const { book } = rules
    if (book === undefined) return undefined
    const { archive } = traceback
    const eventsMax = Math.min(EVENTS_MAX, config.events_max - archive.count)
    try {
      await archive.ready()
    } catch (error) {
      log.warn({ reason: messageOf(error) }, 'the simulated past gets no events')
      return undefined
    }
    const rings = ringsOf(sources, node)
    const taken = new Set(Array.from(traceback.events(), ({ id }) => id))
    return { rings, book, config, version, taken, eventsMax: Math.max(0, eventsMax) }
  }

  /** Takes an event that is in the folder. */
  take(id: number): void {
    this.#adopting = this.#adopting.then(async () => {
      if (await this.#parts.traceback.adopt(id)) {
        if (this.#parts.traceback.get(id)?.continues === undefined) this.#made++
      } else this.#refused++
    })
  }

  /** The counts when all events are taken. */
  async counts({ leftOut, faultsLeft }: Omit<PastEventCounts, 'made'>): Promise<PastEventCounts> {
    await this.#adopting
    return { made: this.#made, leftOut: leftOut + this.#refused, faultsLeft }
  }

  /** Removes what the thread left unfinished. */
  async tidy(): Promise<void> {
    await this.#adopting
    const { traceback } = this.#parts
    // Numbers of the agent's own first events may be lower than its start.
    const isOwn = (id: number) => traceback.get(id) !== undefined
    await traceback.archive.removeUnfinished(firstEventOf(0, this.#startedMs), isOwn)
  }
}

/** The source with the samples of the simulated node; undefined if none shows that node. */
function ringsOf(sources: readonly ConfiguredSource[], node: SimulatorOptions): PastRings | undefined {
  const index = sources.findIndex(({ definition, options }) => {
    const own = options as SimulatorOptions
    const isSame = own.seed === node.seed && own.node_class === node.node_class && own.workload === node.workload
    return definition === simulatorDiag && isSame && own.past_s === node.past_s
  })
  const source = sources[index]
  if (source === undefined) return undefined
  const { name, intervalMs, options } = source
  return { name, index, intervalMs, options: options as SimulatorDiagOptions }
}
