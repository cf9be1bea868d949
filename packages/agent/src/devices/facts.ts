import {
  type Batch,
  isPresent,
  type Labels,
  labelsOf,
  numberAt,
  type ReadRecord,
  type RecordType,
  readRecord,
  SeriesIndex,
  type Slot,
  type SourceInfo,
  seriesKey,
  type Views,
  viewsOf,
} from '@sonde/sdk'

/** What the last record of a series said that identifies its device. */
export interface Fact {
  readonly type: string
  readonly labels: Labels
  /** The newest record in which something changed that identifies. Numbers that do not are those of that time. */
  record: ReadRecord
  /** When the series last had a record, on the clock of `Devices`. Unit: milliseconds. */
  seenMs: number
  /** Period of its source. Unit: milliseconds. */
  intervalMs: number
  /** When it left, on the same clock; undefined while it is there. */
  goneMs: number | undefined
  /** Why it left; empty while it is there. */
  goneReason: string
  isForgotten: boolean
}

/** Series of one type and source. */
interface Table {
  readonly slots: readonly Slot[]
  readonly index: SeriesIndex
  readonly rows: { fact: Fact; readonly values: Float64Array }[]
}

/**
 * Types that identify devices, and the numbers of theirs that do; all other numbers change all the time. Texts
 * identify, all of them.
 */
const IDENTIFYING: ReadonlyMap<string, readonly string[]> = new Map([
  ['pci_device', ['max_link_bandwidth_bytes', 'numa_node']],
  ['rdma_port', []],
  ['nvml_gpu_info', ['power_limit_watts', 'memory_bytes', 'pcie_generation_max', 'pcie_width_max']],
  ['netdev', []],
  ['ethtool_link', []],
  ['ethtool_port', []],
])

/**
 * The facts of all series of the types that identify devices. A record that says what the one before it said costs a
 * comparison of a few numbers; it is taken apart only when a text or a limit changed.
 */
export class Facts {
  /** Grows when what {@link all} gives changes in anything but times of records. */
  version = 0
  readonly #limit: number
  readonly #facts = new Map<string, Fact>()
  readonly #counts = new Map<string, number>()
  readonly #tables = new WeakMap<SourceInfo, Map<RecordType, Table>>()

  /** @param limit Series of one type at most; beyond it one that has left makes room, or the new one is refused. */
  constructor(limit: number) {
    this.#limit = limit
  }

  all(): Iterable<Fact> {
    return this.#facts.values()
  }

  /** Takes a batch, of any type. How many of its records were refused for the limit. */
  take(batch: Batch, nowMs: number): number {
    const { type, source, bytes, count, symbols } = batch
    const identifying = IDENTIFYING.get(type.name)
    if (identifying === undefined) return 0
    const table = this.#tableOf(type, source, identifying)
    const views = viewsOf(bytes)
    let refused = 0
    for (let i = 0; i < count; i++) {
      const at = i * type.layout.recordBytes
      const number = table.index.of(views, at)
      const row = table.rows[number]
      if (row !== undefined && !row.fact.isForgotten) {
        if (this.#changed(type, table, row.values, views, at)) row.fact.record = readRecord(type, views, at, symbols)
        this.#seen(row.fact, nowMs)
        continue
      }
      const fact = this.#factOf(batch, views, at, nowMs)
      if (fact === undefined) {
        table.index.forget(number)
        refused++
        continue
      }
      const values = new Float64Array(table.slots.length)
      this.#changed(type, table, values, views, at)
      table.rows[number] = { fact, values }
      this.#seen(fact, nowMs)
      this.version++
    }
    return refused
  }

  /** A series left, as its source said. */
  leave(type: string, series: string, reason: string, nowMs: number): void {
    const fact = this.#facts.get(`${type}\n${series}`)
    if (fact === undefined || fact.goneMs !== undefined) return
    fact.goneMs = nowMs
    fact.goneReason = reason
    this.version++
  }

  /**
   * Series without a record for `expiryMs` have left, and what left before `keepMs` is forgotten. A source that samples
   * more rarely has three periods.
   */
  expire(nowMs: number, expiryMs: number, keepMs: number): void {
    for (const [key, fact] of this.#facts) {
      if (fact.goneMs !== undefined) {
        if (nowMs - fact.goneMs > keepMs) this.#forget(key, fact)
      } else if (nowMs - fact.seenMs > Math.max(expiryMs, 3 * fact.intervalMs)) {
        fact.goneMs = nowMs
        fact.goneReason = `no source has read it for ${Math.round((nowMs - fact.seenMs) / 1000)} s`
        this.version++
      }
    }
  }

  clear(): void {
    for (const [key, fact] of this.#facts) this.#forget(key, fact)
  }

  #seen(fact: Fact, nowMs: number): void {
    fact.seenMs = nowMs
    if (fact.goneMs === undefined) return
    fact.goneMs = undefined
    fact.goneReason = ''
    this.version++
  }

  /**
   * The fact of a series that its table does not know: new, or known of another source of the same labels, such as a
   * child process that was replaced.
   */
  #factOf({ type, source, symbols }: Batch, views: Views, at: number, nowMs: number): Fact | undefined {
    const labels = labelsOf(type, source, views, at)
    const key = `${type.name}\n${seriesKey(labels)}`
    const record = readRecord(type, views, at, symbols)
    const known = this.#facts.get(key)
    if (known !== undefined) return Object.assign(known, { record, intervalMs: source.intervalMs })
    if (!this.#hasRoom(type.name)) return undefined
    const { intervalMs } = source
    const fact: Fact = {
      type: type.name,
      labels,
      record,
      seenMs: nowMs,
      intervalMs,
      goneMs: undefined,
      goneReason: '',
      isForgotten: false,
    }
    this.#facts.set(key, fact)
    this.#counts.set(type.name, (this.#counts.get(type.name) ?? 0) + 1)
    return fact
  }

  /** Whether what identifies is another than last time, which is noted. */
  #changed(type: RecordType, { slots }: Table, values: Float64Array, views: Views, at: number): boolean {
    let changed = false
    for (let i = 0; i < slots.length; i++) {
      const slot = slots[i] as Slot
      const value = isPresent(type.layout, slot, views, at) ? numberAt(slot, views, at) : Number.NaN
      if (Object.is(values[i], value)) continue
      values[i] = value
      changed = true
    }
    if (changed) this.version++
    return changed
  }

  #tableOf(type: RecordType, source: SourceInfo, identifying: readonly string[]): Table {
    let tables = this.#tables.get(source)
    if (tables === undefined) {
      tables = new Map()
      this.#tables.set(source, tables)
    }
    let table = tables.get(type)
    if (table === undefined) {
      const slots = type.layout.slots.filter(({ name, field }) => {
        return identifying.includes(name) || (field.kind === 'symbol' && field.role === 'value')
      })
      table = { slots, index: new SeriesIndex(type), rows: [] }
      tables.set(type, table)
    }
    return table
  }

  #hasRoom(type: string): boolean {
    if ((this.#counts.get(type) ?? 0) < this.#limit) return true
    let oldest: [string, Fact] | undefined
    for (const [key, fact] of this.#facts) {
      if (fact.type !== type || fact.goneMs === undefined) continue
      if (oldest === undefined || fact.goneMs < (oldest[1].goneMs ?? 0)) oldest = [key, fact]
    }
    if (oldest === undefined) return false
    this.#forget(...oldest)
    return true
  }

  #forget(key: string, fact: Fact): void {
    fact.isForgotten = true
    this.#facts.delete(key)
    this.#counts.set(fact.type, (this.#counts.get(fact.type) ?? 1) - 1)
    this.version++
  }
}
