import type { RecordType } from '@sonde/sdk'
import { deviceLabelOf, type Integer64 } from '@sonde/sdk/internal'
import { idText } from '../../native/doca/ids.ts'
import { WideCounter } from '../wide-counter.ts'
import { nameOf, type PlacedCounter, placedCounter } from './counters.ts'
import { docaDiagCounterType } from './type.ts'

/** Highest rate of a counter, for counters that wrap at 32 bits: bytes at 800 Gbit/s. */
const EVENTS_PER_S = 1e11
const NS_PER_S = 1e9

/** A field of a row: the index of its value in a sample, and its conversion. */
interface RowField {
  readonly name: string
  readonly at: number
  readonly isNs: boolean
  readonly wide: WideCounter | undefined
}

/** A record of an interval, filled with the values of the latest sample. */
export interface DiagRow {
  readonly type: RecordType
  readonly labels: Readonly<Record<string, number | string>>
  readonly fields: readonly RowField[]
}

/** Returns a value of a sample by its index. The values are u64, in the order of the IDs. */
export type SampleValues = (at: number) => bigint

/** Returns the rows that the values of these counters fill. */
export function rowsOf(device: string, ids: readonly bigint[]): DiagRow[] {
  const rows = new Map<string, { readonly row: Omit<DiagRow, 'fields'>; readonly fields: RowField[] }>()
  ids.forEach((id, at) => {
    const placed = placedCounter(id)
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
  const type = counter?.type ?? docaDiagCounterType
  const own = { [deviceLabelOf(type) ?? '']: device }
  if (counter !== undefined) return { row: { type, labels: { ...own, ...labels } }, name: counter.field }
  return { row: { type, labels: { ...own, data_id: idText(id), name: nameOf(id) } }, name: 'value' }
}

/** Returns the record of a row. */
export function recordOf({ labels, fields }: DiagRow, time: bigint, values: SampleValues, nowMs: number): object {
  const record: Record<string, unknown> = { time, ...labels }
  for (const { name, at, isNs, wide } of fields) {
    const raw: Integer64 = values(at)
    const value = wide === undefined ? raw : wide.next(exact(raw), { nowMs, eventsPerS: EVENTS_PER_S })
    record[name] = isNs ? Number(value) / NS_PER_S : value
  }
  return record
}

/** Converts to a number if that is exact. Most values are, and a bigint is slower. */
function exact(value: bigint): Integer64 {
  return value <= BigInt(Number.MAX_SAFE_INTEGER) ? Number(value) : value
}
