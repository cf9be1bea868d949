import {
  type ClaimedColumn,
  type ClaimingTable,
  Families,
  type Family,
  type MakeColumn,
  type MetricConflict,
  type MetricFields,
  metricsOf,
  type Refused,
} from './families.ts'

/**
 * Which type has which metric name. A name belongs to the first type that has it; types of this process win over types
 * of clients.
 */
export class MetricNames<C extends ClaimedColumn<C>> {
  readonly families: Families<C>
  /** Metrics that have no column. */
  readonly #refused = new Map<ClaimingTable<C>, Set<Refused<C>>>()
  readonly #onRefusal: () => void

  /** @param onRefusal Called whenever a metric is refused. Default: nothing is called. */
  constructor(makeColumn: MakeColumn<C>, onRefusal: () => void = () => undefined) {
    this.families = new Families(makeColumn)
    this.#onRefusal = onRefusal
  }

  /** Gives the metrics of a type their columns, where the type may have them. */
  enter(table: ClaimingTable<C>): void {
    for (const fields of metricsOf(table.type)) this.#join(table, fields)
  }

  /** A source of this process has had a record of the type. */
  makeOwn(table: ClaimingTable<C>): void {
    table.isOwn = true
    for (const refused of [...(this.#refused.get(table) ?? [])]) {
      refused.owner?.refused.delete(refused)
      this.#joinAgain(refused)
    }
  }

  /** Whether a metric of a table has no column. */
  hasRefused(table: ClaimingTable<C>): boolean {
    return this.#refused.has(table)
  }

  /** Metrics that were refused, because another type has their name. Default: those of all tables. */
  conflicts(of: Iterable<ClaimingTable<C>> = this.#refused.keys()): MetricConflict[] {
    const refused = [...of].flatMap((table) => [...(this.#refused.get(table) ?? [])])
    return refused.map(({ table, fields: { metric, slots }, owner, reason }) => ({
      metric,
      type: table.type.name,
      field: slots[0].name,
      reason: reason(),
      owner: owner?.name,
    }))
  }

  /**
   * Takes tables out, a step at a time; metrics that they kept from others are theirs now. All leave before the first
   * of the others joins: else each would pass its metrics on to the next that leaves, and every other type would ask
   * anew each time.
   */
  *leave(tables: Iterable<ClaimingTable<C>>): Generator<void> {
    const free: Refused<C>[] = []
    for (const table of tables) {
      yield
      for (const refused of this.#refused.get(table) ?? []) refused.owner?.refused.delete(refused)
      this.#refused.delete(table)
      free.push(...this.families.leave(table.columns))
    }
    for (const refused of free) {
      yield
      if (this.#refused.get(refused.table)?.has(refused) === true) this.#joinAgain(refused)
    }
  }

  /** Forgets everything. */
  clear(): void {
    this.#refused.clear()
    this.families.clear()
  }

  #joinAgain(refused: Refused<C>): void {
    const metrics = this.#refused.get(refused.table)
    metrics?.delete(refused)
    if (metrics?.size === 0) this.#refused.delete(refused.table)
    this.#join(refused.table, refused.fields)
  }

  /** Gives a metric of a table its column, if it may have one. */
  #join(table: ClaimingTable<C>, fields: MetricFields): void {
    const inTheWay = table.isOwn ? this.families.inTheWay(table, fields).filter(isOfClients) : []
    const evicted = inTheWay.map((family) => ({ family, columns: family.columns, free: this.#evict(family) }))
    const joined = this.families.join(table, fields)
    if ('column' in joined) table.add(joined.column)
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
  #evict({ columns }: Family<C>): Refused<C>[] {
    for (const column of columns) column.table.remove(column)
    return this.families.leave(columns)
  }
}

/** Whether no type of this process fills a family. */
function isOfClients<C extends ClaimedColumn<C>>({ columns }: Family<C>): boolean {
  return columns.every(({ table }) => !table.isOwn)
}
