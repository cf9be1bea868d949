import type { RecordType } from '@sonde/sdk'
import type { Integer64 } from '@sonde/sdk/internal'
import { idText } from '../../native/doca/ids.ts'
import { WideCounter } from '../wide-counter.ts'
import { nameOf, type PlacedCounter, placeOf } from './counters.ts'
import { docaDiagCounterType } from './type.ts'

/** Events of a counter a second at most, for what wraps at 32 bits: bytes at 800 Gbit/s. */
const EVENTS_PER_S = 1e11
const NS_PER_S = 1e9

/** A field of a row: which value of a sample it is, and what is made of it. */
interface RowField {
  readonly name: string
  readonly at: number
  readonly isNs: boolean
  readonly wide: WideCounter | undefined
}

/** A record of an interval, made of the values of the latest sample. */
export interface DiagRow {
  readonly type: RecordType
  readonly labels: Readonly<Record<string, number | string>>
  readonly fields: readonly RowField[]
}

/** Values of a sample: u64 numbers in the order of the IDs. */
export type SampleValues = (at: number) => bigint

/** The records that the values of these counters fill. */
export function rowsOf(device: string, ids: readonly bigint[]): DiagRow[] {
  const rows = new Map<string, { readonly row: Omit<DiagRow, 'fields'>; readonly fields: RowField[] }>()
  ids.forEach((id, at) => {
    const placed = placeOf(id)
    const { row, name } = rowOf(device, placed)
    const key = `${row.type.name} ${JSON.stringify(row.labels)}`
    const known = rows.get(key) ?? { row, fields: [] as RowField[] }
    rows.set(key, known)
    const { isNs = false, extreme } = placed.counter ?? {}
    known.fields.push({ name, at, isNs, wide: extreme === undefined ? new WideCounter() : undefined })
  })
  return [...rows.values()].map(({ row, fields }) => ({ ...row, fields }))
}

function rowOf(device: string, { id, counter, labels }: PlacedCounter) {
  if (counter !== undefined) return { row: { type: counter.type, labels: { device, ...labels } }, name: counter.field }
  return {
    row: { type: docaDiagCounterType, labels: { device, data_id: idText(id), name: nameOf(id) } },
    name: 'value',
  }
}

/** The record of a row. */
export function recordOf({ labels, fields }: DiagRow, time: bigint, values: SampleValues, nowMs: number): object {
  const record: Record<string, unknown> = { time, ...labels }
  for (const { name, at, isNs, wide } of fields) {
    const raw: Integer64 = values(at)
    const value = wide === undefined ? raw : wide.next(exact(raw), { nowMs, eventsPerS: EVENTS_PER_S })
    record[name] = isNs ? Number(value) / NS_PER_S : value
  }
  return record
}

/** A number where it is exact: most are, and a bigint costs more. */
function exact(value: bigint): Integer64 {
  return value <= BigInt(Number.MAX_SAFE_INTEGER) ? Number(value) : value
}
