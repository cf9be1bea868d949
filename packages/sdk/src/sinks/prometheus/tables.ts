import { turn } from '../../internal/turn.ts'
import type { RecordType } from '../../schema/record-type.ts'
import type { PrometheusConfig } from './config.ts'
import type { MetricConflict } from './families.ts'
import { MetricColumn } from './metric-column.ts'
import { MetricNames } from './metric-names.ts'
import { MetricTable, type MoreLabels } from './metric-table.ts'
import { Quota, type QuotaHolder } from './quota.ts'

/** The shown types and metrics. */
export class Tables {
  readonly #config: PrometheusConfig
  readonly #lines: Quota
  readonly #tables = new Map<string, MetricTable>()
  readonly #names: MetricNames<MetricColumn>

  /** @param onRefusal Called whenever a metric is refused. */
  constructor(config: PrometheusConfig, onRefusal: () => void) {
    this.#config = config
    this.#names = new MetricNames(
      (table, family, slots) => new MetricColumn(table as MetricTable, family, slots, config.timestamps),
      onRefusal,
    )
    this.#lines = new Quota(config.lineLimit)
  }

  get families() {
    return this.#names.families
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
      if (isOwn && !known.isOwn) this.#names.makeOwn(known)
      return known
    }
    // A type takes as long as hundreds of series: the first question starts the clock of the turn.
    turn.isOver()
    const limits = { rows: this.#config.seriesLimit, lines: this.#lines }
    const table = new MetricTable(type, this.#config.timestamps, more, limits)
    table.isOwn = isOwn
    this.#tables.set(type.fingerprint, table)
    this.#names.enter(table)
    return table
  }

  /** Whether a metric of a table has no column. */
  hasRefused(table: MetricTable): boolean {
    return this.#names.hasRefused(table)
  }

  /** Metrics that were refused, because another type has their name. */
  conflicts(): MetricConflict[] {
    return this.#names.conflicts()
  }

  /** Forgets those of some tables that have no series, a step at a time. */
  drop(tables: Iterable<MetricTable>): Generator<void> {
    return this.#names.leave(this.#withoutSeries(tables))
  }

  /** Forgets everything. */
  clear(): void {
    this.#tables.clear()
    this.#names.clear()
  }

  *#withoutSeries(tables: Iterable<MetricTable>): Generator<MetricTable> {
    for (const table of tables) {
      if (table.count > 0 || this.#tables.get(table.type.fingerprint) !== table) continue
      this.#tables.delete(table.type.fingerprint)
      yield table
    }
  }
}
