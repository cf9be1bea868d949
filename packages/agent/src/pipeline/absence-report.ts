import { type Batch, readRecords, viewsOf } from '@sonde/sdk'
import { absenceType } from '@sonde/sdk/internal'
import type { RecentRing } from './recent.ts'
import type { KeptBatch } from './writer-share.ts'

/** An absent value, as a record of `sonde_absence` says. */
interface AbsentValue {
  /** Key of the series, empty for all of the type. */
  readonly series: string
  /** Field, empty for all. */
  readonly field: string
  readonly reason: string
  readonly arrivedMs: number
}

/** Absences in the window, of the agent's own sources or of one client. The last record of a value counts. */
export class AbsenceReport {
  /** By type, and there by series and field. */
  readonly #values = new Map<string, Map<string, AbsentValue>>()
  /** When a series, or all of a type, was reported to be gone. */
  readonly #goneMs = new Map<string, number>()

  take({ bytes, count, symbols, arrivedMs }: KeptBatch): void {
    for (const record of readRecords(absenceType, viewsOf(bytes), count, symbols)) {
      const { type, series, field, code, reason } = record
      const values = this.#values.get(type) ?? new Map<string, AbsentValue>()
      this.#values.set(type, values)
      if (code === 'gone') this.#goneMs.set(pairKey(type, series), arrivedMs)
      else if (code === '') values.delete(pairKey(series, field))
      else values.set(pairKey(series, field), { series, field, reason, arrivedMs })
    }
  }

  /** Why a value is absent; undefined if the source reports no reason. */
  reasonOf(type: string, series: string, field: string): string | undefined {
    const values = this.#values.get(type)
    return (values?.get(pairKey(series, field)) ?? values?.get(pairKey('', field)))?.reason
  }

  /** When a series last left, alone or with its type; 0 if it never did. Unit: milliseconds since the Unix epoch. */
  goneMsOf(type: string, series: string): number {
    return Math.max(this.#goneMs.get(pairKey(type, '')) ?? 0, this.#goneMs.get(pairKey(type, series)) ?? 0)
  }

  /** Absent values of series that have not left. */
  *ofSeries(type: string): Generator<AbsentValue> {
    for (const value of this.#values.get(type)?.values() ?? []) {
      if (value.series !== '' && value.arrivedMs > this.goneMsOf(type, value.series)) yield value
    }
  }
}

/** Finds the report for a batch. A client of the service reports absences of its own series only. */
export function absenceReports(recent: RecentRing): (batch: Pick<Batch, 'page'>) => AbsenceReport {
  const reports = new Map<bigint, AbsenceReport>()
  const reportOf = ({ page }: Pick<Batch, 'page'>): AbsenceReport => {
    const client = page?.client ?? 0n
    const report = reports.get(client) ?? new AbsenceReport()
    reports.set(client, report)
    return report
  }
  for (const batch of recent.batches(absenceType)) if (!recent.isRetired(batch.source)) reportOf(batch).take(batch)
  return reportOf
}

function pairKey(first: string, second: string): string {
  return `${first}\n${second}`
}
