import type { TestContext } from 'node:test'
import { type Batch, createSource, gauge, type Source, timestamp } from '@sonde/sdk'
import type { Hint } from '@sonde/sdk/api'
import { defineOwnType, parseQueryRequest, type QueryAnswer } from '@sonde/sdk/internal'
import { HintHistory } from '../../packages/agent/src/hints/history/hint-history.ts'
import { reportHint, type StatedEdge } from '../../packages/agent/src/hints/history/hint-type.ts'
import { HintedNode } from '../../packages/agent/src/hints/test-simulated-node.ts'
import { Incidents } from '../../packages/agent/src/incidents/incidents.ts'
import type { Store } from '../../packages/console/server/store/store.ts'
import { openStore } from '../../packages/console/test/open-store.ts'

/** When simulated lives begin. Unit: milliseconds since the Unix epoch. */
const BEGIN_MS = Date.UTC(2026, 10, 24, 14)

/** What the agent's own process reports, as far as a history of hints needs it. */
const uptimeType = defineOwnType('sonde_process', 'The process of Sonde itself', {
  time: timestamp(),
  uptime_seconds: gauge('f64', { unit: 'seconds', help: 'Time since the start' }),
})

/** An agent's life on a simulated node, in simulated time: its records are kept in a real store. */
export class SimulatedLife {
  readonly node: HintedNode
  readonly history: HintHistory
  readonly #startMs: number
  readonly #store: Store
  readonly #tellUptime: () => void
  readonly #self: Source

  constructor(store: Store, startMs = BEGIN_MS, seed = 1) {
    this.#store = store
    this.#startMs = startMs
    const keep = (batch: Batch) => store.accept(batch)
    this.node = new HintedNode({ startMs, seed, keep })
    this.history = new HintHistory(this.node.hints, { history: store, records: (request) => store.records(request) })
    this.#self = createSource({ id: 'self', tag: 'process', emit: keep })
    this.#tellUptime = () => {
      const { nowMs } = this.node
      const uptime = (nowMs - this.#startMs) / 1000
      this.#self.report(uptimeType, { time: BigInt(Math.round(nowMs)) * 1_000_000n, uptime_seconds: uptime })
      this.#self.flush()
    }
  }

  /** Incidents of the hints of this life and of earlier lives. */
  get incidents(): Incidents {
    return incidentsOf(this.history)
  }

  /** Passes seconds. */
  run(seconds: number, each?: () => void): void {
    this.node.run(seconds, () => {
      this.#tellUptime()
      each?.()
    })
  }

  /** Keeps what a hint says, as the rules themselves do. Unit of the time: milliseconds since the Unix epoch. */
  tell(hint: Hint, edge: StatedEdge, timeMs: number): void {
    reportHint(this.#self, hint, edge, timeMs)
  }

  /** Keeps records as they are. */
  keep(batch: Batch): void {
    this.#store.accept(batch)
  }

  /** Waits until what was reported is in the store. */
  flush(): Promise<void> {
    this.#self.flush()
    return this.#store.flush()
  }

  /** What the store has of a metric, every second of a window. Times in milliseconds since the Unix epoch. */
  query(
    { metric, function: fn }: { readonly metric: string; readonly function: string },
    fromMs: number,
    toMs: number,
  ): Promise<QueryAnswer> {
    const queries = [{ metric, function: fn }]
    return this.#store.query(parseQueryRequest({ fromMs, toMs, stepMs: 1000, queries }))
  }

  /** Closes the store: it answers no more. */
  close(): Promise<void> {
    return this.#store.close()
  }

  /** The history of an agent that keeps none. */
  withoutStore(): HintHistory {
    return new HintHistory(this.node.hints, undefined)
  }

  /** Ends this life, and begins the next so many seconds later: it has read what the last hour was. */
  async restart(afterS: number): Promise<SimulatedLife> {
    this.node.stop()
    return await this.die(afterS)
  }

  /** Ends this life as `kill -9` does, and begins the next so many seconds later. */
  async die(afterS: number): Promise<SimulatedLife> {
    await this.#store.flush()
    const startMs = Math.ceil(this.node.nowMs / 1000 + afterS) * 1000
    const next = new SimulatedLife(this.#store, startMs)
    await next.history.recallInto(next.node.hints, startMs)
    return next
  }
}

/** Begins a life over a store of its own, which ends with the test. */
export async function beginLife(t: Pick<TestContext, 'after'>): Promise<SimulatedLife> {
  const { store, close } = await openStore()
  t.after(close)
  return new SimulatedLife(store)
}

/** A hint that was confirmed at once, of a rule and a device of its own. Unit of the time: as in a hint. */
export function hintOf(number: number, sinceMs: number): Hint {
  return {
    ...{ id: `rule_${number}/nic-${number}`, event: String(number), rule: `rule_${number}`, device: `nic-${number}` },
    ...{ severity: 'warning', stage: 'standing', sinceMs, seenMs: sinceMs, measuredMs: sinceMs, neededMs: 0 },
    ...{ title: 'A link flapped', comparator: '>=' },
    ...{ sentence: 'Once', value: 1, limit: 1, unit: '', evidence: [], affected: [], lacks: [] },
  }
}

/** The incidents of the hints of a history. */
export function incidentsOf(hintHistory: HintHistory): Incidents {
  return new Incidents({
    node: 'a-node',
    hintHistory,
    traceback: {
      *latest() {
        yield* []
      },
      partsOf: () => [],
      opened: async () => undefined,
      openCount: 0,
      archive: { unreadable: 0 },
    },
    acknowledgedBy: () => undefined,
  })
}
