import {
  Absences,
  absenceType,
  type Batch,
  createSource,
  type ReadRecord,
  type RecordType,
  readRecord,
  viewsOf,
} from '@sonde/sdk'
import { NODE_CLASSES } from './classes/classes.ts'
import type { Effects } from './effects.ts'
import type { Workload } from './model/schedule.ts'
import { NodeReport } from './report/node-report.ts'
import { Simulation } from './simulation.ts'
import { EPOCH_MS } from './time.ts'

/** What a test asks of a simulated node. */
export interface TestReportOptions {
  readonly node?: string
  readonly seed?: number
  readonly workload?: Workload
  readonly effects?: readonly Effects[]
  readonly intervalMs?: number
}

/** A simulated node in the hands of a test, which says what time it is. */
export class TestReport {
  readonly simulation: Simulation
  readonly #report: NodeReport
  readonly #flush: () => void
  #records = new Map<RecordType, ReadRecord[]>()
  #bytes: Uint8Array[] = []

  constructor({
    node = 'hgx-h100',
    seed = 1,
    workload = 'training',
    effects = [],
    intervalMs = 1000,
  }: TestReportOptions) {
    const nodeClass = NODE_CLASSES.find(({ name }) => name === node) ?? NODE_CLASSES[0]
    this.simulation = new Simulation({ seed, node: nodeClass, workload, effects })
    const source = createSource({ id: 'test', intervalMs, emit: (batch) => this.#take(batch) })
    this.#flush = () => source.flush()
    const paths = { procfs: '', sysfs: '' }
    const absences = new Absences(source)
    const context = { name: 'test', source, absences, paths, failed: () => undefined, dropped: () => undefined }
    this.#report = new NodeReport(this.simulation, context)
  }

  /** Samples at a time, in seconds of the simulation; the records of a type, by the values of their labels. */
  at(t: number): <T extends RecordType>(type: T) => Map<string, ReadRecord> {
    this.#records = new Map()
    this.#bytes = []
    this.#report.sample(BigInt(EPOCH_MS) * 1_000_000n + BigInt(Math.round(t * 1e9)), t)
    this.#flush()
    const records = this.#records
    return (type) => {
      const keyOf = (record: ReadRecord) => type.labels.map(({ name }) => String(record[name])).join('/')
      return new Map((records.get(type) ?? []).map((record) => [keyOf(record), record]))
    }
  }

  /** The bytes of all records at a time, as text: comparing that is quick. */
  bytesAt(t: number): string {
    this.at(t)
    return Buffer.concat(this.#bytes).toString('base64')
  }

  #take({ type, count, bytes, source: { symbols } }: Batch): void {
    // What is absent is told at the time of telling, whatever time it is in the simulation.
    if (type === absenceType) return
    this.#bytes.push(bytes.slice())
    const views = viewsOf(bytes)
    const known = this.#records.get(type) ?? []
    this.#records.set(type, known)
    for (let i = 0; i < count; i++) known.push(readRecord(type, views, i * type.layout.recordBytes, symbols))
  }
}

/** A number of a record, whatever its kind; NaN where it is absent. */
export function numberOf(record: ReadRecord | undefined, field: string): number {
  const value = record?.[field]
  return value === undefined ? Number.NaN : Number(value)
}
