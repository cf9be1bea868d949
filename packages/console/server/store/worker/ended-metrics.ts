import type { DatabaseSync } from 'node:sqlite'
import type { EndedNames } from '../protocol.ts'
import { inTransaction } from './database.ts'
import type { StoreCatalogue } from './store-catalogue.ts'

/** Names that are sent as examples. */
const EXAMPLE_COUNT = 3

/**
 * Metric names of the history that ended when another version of Sonde gave a type other metrics. Each earlier version
 * of a type is reported once: the row `ended` of `meta` has the ids of those that were. A type without records from
 * this process is not compared, because its source may be off.
 */
export class EndedMetrics {
  readonly #database: DatabaseSync
  readonly #catalogue: StoreCatalogue
  /** Versions of types that were in the file when it was opened. */
  readonly #earlierIds: readonly number[]
  /** Number of reported types at the last search: more of them are the reason for another search. */
  #searchedCount = 0

  constructor(database: DatabaseSync, catalogue: StoreCatalogue) {
    this.#database = database
    this.#catalogue = catalogue
    this.#earlierIds = [...catalogue.types.keys()]
  }

  /** The names that ended and were not taken before; undefined if there are none. */
  take(): EndedNames | undefined {
    const { types, ownTypeIds } = this.#catalogue
    if (ownTypeIds.size === this.#searchedCount) return undefined
    this.#searchedCount = ownTypeIds.size
    const ownTypes = [...ownTypeIds].flatMap((id) => types.get(id)?.type ?? [])
    const ownTypeNames = new Set(ownTypes.map(({ name }) => name))
    const current = new Set(ownTypes.flatMap(({ metrics }) => [...metrics.values()]))
    const taken = this.#taken()
    const names = new Set<string>()
    for (const id of this.#earlierIds) {
      const type = types.get(id)?.type
      if (type === undefined || ownTypeIds.has(id) || taken.has(id) || !ownTypeNames.has(type.name)) continue
      const ended = [...type.metrics.values()].filter((name) => !current.has(name))
      if (ended.length === 0) continue
      taken.add(id)
      for (const name of ended) names.add(name)
    }
    if (names.size === 0) return undefined
    this.#save([...taken].filter((id) => types.has(id)))
    return { count: names.size, examples: [...names].sort().slice(0, EXAMPLE_COUNT) }
  }

  #taken(): Set<number> {
    const row = this.#database.prepare("SELECT value FROM meta WHERE key = 'ended'").get()
    const ids = String(row?.value ?? '').split(' ')
    return new Set(ids.filter((id) => id !== '').map(Number))
  }

  #save(ids: readonly number[]): void {
    const insert = this.#database.prepare("INSERT OR REPLACE INTO meta VALUES ('ended', ?)")
    inTransaction(this.#database, () => insert.run(ids.join(' ')))
  }
}
