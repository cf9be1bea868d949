import { type Batch, type ReadRecord, type RecordType, readRecord, viewsOf } from '@sonde/sdk'
import { absenceType, periodType } from '@sonde/sdk/internal'
import { SourceOutlet } from '../../hosting/source-outlet.ts'
import { NODE_CLASSES } from './classes/classes.ts'
import type { Effects } from './effects.ts'
import type { Workload } from './model/schedule.ts'
import { NodeReport } from './report/node-report.ts'
import { Simulation } from './simulation.ts'
import { EPOCH_MS } from './time.ts'

/** Options of a simulated node in tests. */
export interface TestReportOptions {
  readonly node?: string
  readonly seed?: number
  readonly workload?: Workload
  readonly effects?: readonly Effects[]
  readonly intervalMs?: number
  /** Whether absences and periods are among the batches. They have the time of their report, not of the simulation. */
  readonly hasAbsences?: boolean
}

/** A simulated node whose time a test controls. */
export class TestReport {
  readonly simulation: Simulation
  readonly #report: NodeReport
  readonly #flush: () => void
  readonly #hasAbsences: boolean
  #batches: Batch[] = []

  constructor({
    node = 'hgx-h100',
    seed = 1,
    workload = 'training',
    effects = [],
    intervalMs = 1000,
    hasAbsences = false,
  }: TestReportOptions) {
    this.#hasAbsences = hasAbsences
    const nodeClass = NODE_CLASSES.find(({ name }) => name === node) ?? NODE_CLASSES[0]
    this.simulation = new Simulation({ seed, node: nodeClass, workload, effects })
    const { context, source } = new SourceOutlet({
      ...{ name: 'test', intervalMs, paths: { procfs: '', sysfs: '' }, emit: (batch) => this.#take(batch) },
      stats: { failed: { add: () => undefined }, dropped: new Map() },
    })
    this.#flush = () => source.flush()
    this.#report = new NodeReport(this.simulation, context)
  }

  /**
   * Samples at a time, in seconds of the simulation. The result returns the records of a type, by the values of their
   * labels.
   */
  at(t: number): <T extends RecordType>(type: T) => ReadonlyMap<string, ReadRecord> {
    this.#batches = []
    this.#report.sample(BigInt(EPOCH_MS) * 1_000_000n + BigInt(Math.round(t * 1e9)), t)
    this.#flush()
    const batches = this.#batches
    // A test reads only a few types, but each of them often.
    const read = new Map<RecordType, ReadonlyMap<string, ReadRecord>>()
    return (type) => {
      const records = read.get(type) ?? recordsOf(type, batches)
      read.set(type, records)
      return records
    }
  }

  /** All records at a time. */
  batchesAt(t: number): readonly Batch[] {
    this.at(t)
    return this.#batches
  }

  /** The bytes of all records at a time as text, for fast comparison. */
  bytesAt(t: number): string {
    return Buffer.concat(this.batchesAt(t).map(({ bytes }) => bytes)).toString('base64')
  }

  #take(batch: Batch): void {
    if (this.#hasAbsences || (batch.type !== absenceType && batch.type !== periodType))
      this.#batches.push({ ...batch, bytes: batch.bytes.slice() })
  }
}

/** The records of a type, by the values of their labels. */
function recordsOf(type: RecordType, batches: readonly Batch[]): Map<string, ReadRecord> {
  const records = new Map<string, ReadRecord>()
  for (const { bytes, count, symbols } of batches.filter((batch) => batch.type === type)) {
    const views = viewsOf(bytes)
    for (let i = 0; i < count; i++) {
      const record = readRecord(type, views, i * type.layout.recordBytes, symbols)
      records.set(type.labels.map(({ name }) => String(record[name])).join('/'), record)
    }
  }
  return records
}

/** A number of a record of any kind; NaN if it is absent. */
export function numberOf(record: ReadRecord | undefined, field: string): number {
  const value = record?.[field]
  return value === undefined ? Number.NaN : Number(value)
}
