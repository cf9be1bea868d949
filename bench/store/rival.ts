import { DatabaseSync, type StatementSync } from 'node:sqlite'
import { viewsOf } from '@sonde/sdk'
import { type Column, evaluate, gridOf, type QueryFunction } from '@sonde/sdk/internal'
import { gpuType, INTERVAL_MS, type Load } from './load.ts'

/** Samples a transaction: as many as our store writes at once. */
const SAMPLES_A_TRANSACTION = 40

/** SQLite with one row a sample, in the schema that serves it best: rows by series and time, no second index. */
export class Rival {
  readonly #database: DatabaseSync
  readonly #insert: StatementSync
  readonly #select: StatementSync
  readonly #slots = gpuType.layout.slots.filter(({ field }) => field.role !== 'label' && field.role !== 'timestamp')

  constructor(path: string) {
    this.#database = new DatabaseSync(path)
    this.#database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA cache_size = -65536')
    this.#database.exec(
      'CREATE TABLE sample (series INTEGER, time INTEGER, value, PRIMARY KEY (series, time)) WITHOUT ROWID',
    )
    this.#insert = this.#database.prepare('INSERT INTO sample VALUES (?, ?, ?)')
    this.#select = this.#database.prepare('SELECT time, value FROM sample WHERE series = ? AND time > ? AND time <= ?')
    this.#select.setReturnArrays(true)
  }

  /** Writes a load; labels cost nothing here, the series are numbers. */
  write({ batches, timesMs }: Load): void {
    const { recordBytes } = gpuType.layout
    for (const [sample, { bytes, count }] of batches.entries()) {
      if (sample % SAMPLES_A_TRANSACTION === 0) this.#database.exec('BEGIN')
      const { f64, data } = viewsOf(bytes)
      const time = Math.round((timesMs[sample] ?? 0) * 1000)
      for (let gpu = 0; gpu < count; gpu++) {
        for (const [field, { offset, field: of }] of this.#slots.entries()) {
          const at = gpu * recordBytes + offset
          const value = of.kind === 'f64' ? (f64[at >> 3] ?? 0) : data.getBigUint64(at, true)
          this.#insert.run(gpu * this.#slots.length + field, time, value)
        }
      }
      if (sample % SAMPLES_A_TRANSACTION === SAMPLES_A_TRANSACTION - 1) this.#database.exec('COMMIT')
    }
    if (this.#database.isTransaction) this.#database.exec('COMMIT')
    this.#database.exec('PRAGMA wal_checkpoint(TRUNCATE)')
  }

  /** One metric of all GPUs, evaluated as ours is. */
  query(metric: string, fn: QueryFunction, fromMs: number, toMs: number, stepMs: number): Float64Array[] {
    const field = this.#slots.findIndex(({ name }) => gpuType.metrics.get(name) === metric)
    const grid = gridOf(fromMs, toMs, stepMs)
    return Array.from({ length: 64 }, (_, gpu) => {
      const series = gpu * this.#slots.length + field
      const rows = this.#select.all(series, (fromMs - 2 * stepMs - 5 * INTERVAL_MS) * 1000, toMs * 1000) as unknown as [
        number,
        number,
      ][]
      const column: Column = {
        labels: {},
        intervalMs: INTERVAL_MS,
        times: Float64Array.from(rows, ([time]) => time / 1000),
        values: { numbers: Float64Array.from(rows, ([, value]) => value) },
      }
      return evaluate(column, fn, grid, stepMs).values
    })
  }

  close(): void {
    this.#database.close()
  }
}
