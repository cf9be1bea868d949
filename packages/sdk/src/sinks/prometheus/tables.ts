import { turn } from '../../internal/turn.ts'
import type { RecordType } from '../../schema/record-type.ts'
import type { PrometheusConfig } from './config.ts'
import { Families, type Family, type MetricConflict, type MetricFields, metricsOf, type Refused } from './families.ts'
import { MetricColumn } from './metric-column.ts'
import { MetricTable, type MoreLabels } from './metric-table.ts'
import { Quota, type QuotaHolder } from './quota.ts'

/**
 * The shown types and metrics. A name belongs to the first type that has it; types of this process win over types of
 * clients.
 */
export class Tables {
  readonly families = new Families()
  readonly #config: PrometheusConfig
  readonly #lines: Quota
  readonly #tables = new Map<string, MetricTable>()
  /** Metrics that have no column. */
  readonly #refused = new Map<MetricTable, Set<Refused>>()
  readonly #onRefusal: () => void

  /** @param onRefusal Called whenever a metric is refused. */
  constructor(config: PrometheusConfig, onRefusal: () => void) {
    this.#config = config
    this.#onRefusal = onRefusal
    this.#lines = new Quota(config.lineLimit)
  }

  /** In the order of their coming. */
  all(): MapIterator<MetricTable> {
    return this.#tables.values()
  }

  /** The table of a type of which a holder has a record. */
  of(type: RecordType, holder: QuotaHolder, more: MoreLabels): MetricTable {
    const isOwn = holder === undefined
    const known = this.#tables.get(type.fingerprint)
    if (known !== undefined) {
      if (isOwn && !known.isOwn) this.#makeOwn(known)
      return known
    }
    // A type takes as long as hundreds of series: the first question starts the clock of the turn.
    turn.isOver()
    const limits = { rows: this.#config.seriesLimit, lines: this.#lines }
    const table = new MetricTable(type, this.#config.timestamps, more, limits)
    table.isOwn = isOwn
    this.#tables.set(type.fingerprint, table)
    for (const fields of metricsOf(table.type)) this.#join(table, fields)
    return table
  }

  /** Whether a metric of a table has no column. */
  hasRefused(table: MetricTable): boolean {
    return this.#refused.has(table)
  }

  /** Metrics that were refused, because another type has their name. */
  conflicts(): MetricConflict[] {
    const refused = [...this.#refused.values()].flatMap((metrics) => [...metrics])
    return refused.map(({ table, fields: { metric, slots }, owner, reason }) => ({
      metric,
      type: table.type.name,
      field: slots[0].name,
      reason: reason(),
      owner: owner?.name,
    }))
  }

  /**
   * Forgets those of some tables that have no series, a step at a time; metrics that they kept from others are theirs
   * now. All leave before the first of the others joins: else each would pass its metrics on to the next that leaves,
   * and every other type would ask anew each time.
   */
  *drop(tables: Iterable<MetricTable>): Generator<void> {
    const free: Refused[] = []
    for (const table of tables) {
      yield
      if (table.count > 0 || !this.#has(table)) continue
      this.#tables.delete(table.type.fingerprint)
      for (const refused of this.#refused.get(table) ?? []) refused.owner?.refused.delete(refused)
      this.#refused.delete(table)
      free.push(...this.families.leave(table.columns))
    }
    for (const refused of free) {
      yield
      if (this.#has(refused.table)) this.#joinAgain(refused)
    }
  }

  /** Forgets everything. */
  clear(): void {
    this.#tables.clear()
    this.#refused.clear()
    this.families.clear()
  }

  #has(table: MetricTable): boolean {
    return this.#tables.get(table.type.fingerprint) === table
  }

  #makeOwn(table: MetricTable): void {
    table.isOwn = true
    for (const refused of [...(this.#refused.get(table) ?? [])]) {
      refused.owner?.refused.delete(refused)
      this.#joinAgain(refused)
    }
  }

  #joinAgain(refused: Refused): void {
    const metrics = this.#refused.get(refused.table)
    metrics?.delete(refused)
    if (metrics?.size === 0) this.#refused.delete(refused.table)
    this.#join(refused.table, refused.fields)
  }

  /** Gives a metric of a table its column, if it may have one. */
  #join(table: MetricTable, fields: MetricFields): void {
    const inTheWay = table.isOwn ? this.families.inTheWay(table, fields).filter(isOfClients) : []
    const evicted = inTheWay.map((family) => ({ family, columns: family.columns, free: this.#evict(family) }))
    const joined = this.families.join(table, fields, this.#config.timestamps)
    if (joined instanceof MetricColumn) table.add(joined)
    else {
      this.#onRefusal()
      this.#refused.set(table, (this.#refused.get(table) ?? new Set()).add(joined))
    }
    for (const { family, columns, free } of evicted) {
      for (const column of columns) this.#join(column.table, { metric: family.name, slots: column.slots })
      for (const refused of free) this.#joinAgain(refused)
    }
  }

  /** Takes a family out. Gives the metrics that it kept from others. */
  #evict({ columns }: Family): Refused[] {
    for (const column of columns) column.table.remove(column)
    return this.families.leave(columns)
  }
}

/** Whether no type of this process fills a family. */
function isOfClients({ columns }: Family): boolean {
  return columns.every(({ table }) => !table.isOwn)
}
