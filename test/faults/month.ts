import '../../packages/console/test/simulated-clock.ts'
import assert from 'node:assert/strict'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { type Batch, createPrometheus, type Sink } from '@sonde/sdk'
import { Devices } from '../../packages/agent/src/devices/devices.ts'
import { Hints } from '../../packages/agent/src/hints/hints.ts'
import { RecentRing } from '../../packages/agent/src/pipeline/recent.ts'
import { advance } from '../../packages/console/test/simulated-clock.ts'
import { openSimulatedStore, type SimulatedStore } from '../../packages/console/test/simulated-store.ts'

const DAY_MS = 86_400_000
/** The store compacts and deletes so often. Unit: milliseconds. */
const MAINTAIN_EVERY_MS = 2 * 3_600_000
/** Raw records are kept for a day, and roll-ups for two: from the fifth on, as much leaves in a day as comes. */
const RETENTION = { retentionDays: 1, rollupRetentionDays: 2 }
const WARM_DAYS = 4
/**
 * How much larger a size may be than in the first days: upkeep is behind where the machine is busy. What is never taken
 * out is twice as large after as many days again.
 */
const BAND = 1.5
const SLACK = 4

/** The views of an agent and a store, through which simulated days pass. */
export class Month {
  readonly view = createPrometheus({ nowMs: () => Date.now() })
  readonly ring = new RecentRing()
  readonly stored: SimulatedStore
  readonly #hints: Hints
  readonly #sinks: readonly Sink[]
  /** The tables of labels that batches came with. */
  readonly #tables: WeakRef<object>[] = []
  #table: unknown
  readonly #startMs = Date.now()
  #maintainedMs = this.#startMs
  readonly #most = new Map<string, number>()

  private constructor(stored: SimulatedStore) {
    this.stored = stored
    const devices = new Devices()
    this.#hints = new Hints({ devices })
    this.#sinks = [this.view, this.ring, devices, this.#hints, stored.store]
  }

  static async open(): Promise<Month> {
    setFlagsFromString('--expose-gc')
    return new Month(await openSimulatedStore(RETENTION))
  }

  /** Tables of labels so far. */
  get tableCount(): number {
    return this.#tables.length
  }

  /** Days that have passed. */
  get days(): number {
    return Math.floor((Date.now() - this.#startMs) / DAY_MS)
  }

  /** Now, as records have it. Unit: nanoseconds since the Unix epoch. */
  get timeNs(): bigint {
    return BigInt(Math.floor(Date.now())) * 1_000_000n
  }

  accept(batch: Batch): void {
    const { symbols } = batch.source
    if (symbols !== this.#table) this.#tables.push(new WeakRef(symbols))
    this.#table = symbols
    for (const sink of this.#sinks) sink.accept(batch)
  }

  /** Time passes. Every other hour all that was accepted is stored, and nothing was dropped. */
  async pass(ms: number): Promise<void> {
    await this.view.flush()
    advance(ms)
    this.#hints.evaluate(Date.now())
    if (Date.now() - this.#maintainedMs < MAINTAIN_EVERY_MS) return
    this.#maintainedMs = Date.now()
    await this.stored.store.flush()
    await this.stored.store.maintain()
    for (const { name, stats } of this.#sinks) assert.deepEqual([name, ...stats.dropped], [name])
    await this.#look()
  }

  /** Whatever has a size is no larger than in the days before. */
  async #look(): Promise<void> {
    for (const [name, size] of Object.entries(await this.#sizes())) {
      const most = this.#most.get(name) ?? 0
      if (this.days < WARM_DAYS) this.#most.set(name, Math.max(most, size))
      else assert.ok(size <= BAND * most + SLACK, `${name}: ${most} before, ${size} after ${this.days} days`)
    }
  }

  /** Rows of the file, what is in memory, and the tables of labels that somebody still keeps. */
  async #sizes(): Promise<Record<string, number>> {
    await new Promise((resolve) => setImmediate(resolve))
    runInNewContext('gc')()
    const tables = this.#tables.filter((table) => table.deref() !== undefined).length
    const { view, stored } = this
    const scrape = await view.collect()
    scrape.release()
    const inMemory = Object.entries(stored.store.status().names).map(([name, count]) => [`${name} in memory`, count])
    return { ...stored.sizes(), ...Object.fromEntries(inMemory), tables, series: view.seriesCount }
  }

  async close(): Promise<void> {
    for (const sink of [this.view, this.ring, this.#hints]) await sink.close()
    await this.stored.close()
  }
}
