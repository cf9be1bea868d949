import type { Batch } from '../../schema/batch.ts'
import { readRecords } from '../../schema/reader.ts'
import { viewsOf } from '../../schema/views.ts'
import { readableRecord } from '../../wire/log-attributes.ts'

/**
 * Records as JSON lines, `{"type", "source", "labels", "record"}`. A u64 is a decimal string, and an absent field is
 * left out. Numbers that JSON cannot write are `"NaN"`, `"+Inf"` or `"-Inf"`.
 */
export function encodeLines(batches: readonly Batch[]): string {
  let lines = ''
  for (const { type, source, count, bytes, symbols } of batches) {
    const { id, labels } = source
    for (const each of readRecords(type, viewsOf(bytes), count, symbols)) {
      const record = readableRecord(type, each)
      lines += `${JSON.stringify({ type: type.name, source: id, labels, record }, plain)}\n`
    }
  }
  return lines
}

function plain(_key: string, value: unknown): unknown {
  if (typeof value === 'bigint') return String(value)
  if (typeof value !== 'number' || Number.isFinite(value)) return value
  return Number.isNaN(value) ? 'NaN' : value > 0 ? '+Inf' : '-Inf'
}
