import type { Batch } from '../../schema/batch.ts'
import { type ReadRecord, readRecords } from '../../schema/reader.ts'
import { viewsOf } from '../../schema/views.ts'
import { attributesOfLog, isLogType } from '../log-attributes.ts'
import { ProtobufWriter } from '../protobuf/writer.ts'
import { encodeAttributes, writeValue } from './attributes.ts'

/** Log records of a batch with their origin, encoded. Blocks of one resource or scope have the same object. */
export interface LogBlock {
  readonly resource: Uint8Array
  readonly scope: Uint8Array
  /** Each a `LogRecord`, encoded. */
  readonly records: readonly Uint8Array[]
  /** The first record, and the first behind the last. */
  readonly from: number
  readonly to: number
}

/** Number of the field of attributes in a `LogRecord`. */
const LOG_ATTRIBUTES = 6
const NONE = new Uint8Array(0)
const writer = new ProtobufWriter()

/** Whether a batch has log records. */
export function isLog({ type }: Batch): boolean {
  return isLogType(type)
}

/** The records of a batch of log records, each as a `LogRecord`. Pure. */
export function encodeLogRecords(batch: Batch): Uint8Array[] {
  const observed = BigInt(Math.round((performance.timeOrigin + batch.arrivedMs) * 1e6))
  // A field set may have left out fields.
  return Array.from(readRecords(batch.type, viewsOf(batch.bytes), batch.count, batch.symbols), (given) => {
    const record = given as ReadRecord
    const [level, body] = [textIn(record, 'level'), textIn(record, 'body')]
    const [dropped, severity] = [wholeIn(record, 'dropped_attributes'), wholeIn(record, 'severity')]
    const time = record.time
    writer.clear()
    writeTime(11, observed)
    writer.bytes(10, idBytes(textIn(record, 'span_id'), 8))
    writer.bytes(9, idBytes(textIn(record, 'trace_id'), 16))
    if (dropped > 0) writer.uint(7, dropped)
    writer.raw(encodeAttributes(LOG_ATTRIBUTES, attributesOfLog(textIn(record, 'attributes'))))
    if (body !== '') writeValue(writer, 5, body)
    if (level !== '') writer.text(3, level)
    if (severity > 0) writer.uint(2, severity)
    if (typeof time === 'bigint') writeTime(1, time)
    return writer.finish()
  })
}

/** A client can give the type other fields: what is no text, or no small whole number, is left out. */
function textIn(record: ReadRecord, name: string): string {
  const value = record[name]
  return typeof value === 'string' ? value : ''
}

function wholeIn(record: ReadRecord, name: string): number {
  const value = record[name]
  return typeof value === 'number' && Number.isInteger(value) ? value : 0
}

/** Encodes blocks as an `ExportLogsServiceRequest`, grouped by resource and scope. Undefined without a record. Pure. */
export function encodeLogs(blocks: readonly LogBlock[]): Uint8Array<ArrayBuffer> | undefined {
  writer.clear()
  for (const [resource, ofResource] of [...Map.groupBy(blocks, (block) => block.resource)].reverse()) {
    const end = writer.size
    for (const [scope, ofScope] of [...Map.groupBy(ofResource, (block) => block.scope)].reverse()) {
      const endOfScope = writer.size
      for (const { records, from, to } of ofScope.toReversed())
        for (let i = to - 1; i >= from; i--) writer.bytes(2, records[i] ?? NONE)
      writer.bytes(1, scope)
      writer.close(2, endOfScope)
    }
    writer.bytes(1, resource)
    writer.close(1, end)
  }
  return writer.size === 0 ? undefined : writer.finish()
}

function writeTime(field: number, ns: bigint): void {
  writer.fixed64(field, Number(ns & 0xffff_ffffn), Number((ns >> 32n) & 0xffff_ffffn))
}

/** An id that is none is left out. */
function idBytes(hex: string, bytes: number): Uint8Array {
  return hex.length === bytes * 2 && /^[0-9a-f]+$/.test(hex) ? Buffer.from(hex, 'hex') : NONE
}
