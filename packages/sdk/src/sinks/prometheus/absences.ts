import type { Batch } from '../../schema/batch.ts'
import { readRecord } from '../../schema/reader.ts'
import { viewsOf } from '../../schema/views.ts'

/** A series, or a type, that a record of `sonde_absence` says has no value. */
export interface AbsentSeries {
  readonly type: string
  /** Key of the series, empty for all of the type. */
  readonly series: string
  /** Time of the record. Unit: milliseconds since the Unix epoch. */
  readonly timeMs: number
  /** Whether every field is absent now. Otherwise a single field is absent, or a value is back. */
  readonly isWhole: boolean
}

/** The records of a `sonde_absence` batch, one at a time. Why a value is absent is no part of `/metrics`. */
export function* readAbsences({ type, symbols, count, bytes }: Batch): Generator<AbsentSeries> {
  const views = viewsOf(bytes)
  for (let i = 0; i < count; i++) {
    const record = readRecord(type, views, i * type.layout.recordBytes, symbols)
    yield {
      type: String(record.type ?? ''),
      series: String(record.series ?? ''),
      timeMs: Number(record.time ?? 0) / 1e6,
      isWhole: (record.field ?? '') === '' && (record.code ?? '') !== '',
    }
  }
}
