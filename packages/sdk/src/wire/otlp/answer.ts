import { readFields } from '../protobuf/reader.ts'

/** What a receiver says of a request that it has taken. */
export interface ExportAnswer {
  /** Data points or log records that it refused. */
  readonly rejected: bigint
  /** Its words; empty if all is well. With 0 rejected they are a warning. */
  readonly message: string
}

const NOTHING: ExportAnswer = { rejected: 0n, message: '' }
const utf8 = new TextDecoder()

/**
 * Reads an `ExportMetricsServiceResponse` or `ExportLogsServiceResponse` in protobuf: both have the same fields. Empty
 * bytes are a full success. Undefined if the bytes are no such message. Pure.
 */
export function readAnswer(bytes: Uint8Array): ExportAnswer | undefined {
  const partial = fieldsOf(bytes)
  if (partial === undefined) return undefined
  const inner = partial.find(({ field, wire }) => field === 1 && wire === 2)
  if (inner === undefined) return NOTHING
  const fields = fieldsOf(inner.bytes)
  if (fields === undefined) return undefined
  const rejected = fields.find(({ field, wire }) => field === 1 && wire === 0)?.value ?? 0n
  const message = fields.find(({ field, wire }) => field === 2 && wire === 2)?.bytes
  return { rejected: refusedOf(rejected), message: utf8.decode(message) }
}

/** The same in JSON. Counts are decimal texts; numbers are read too. */
export function readJsonAnswer(text: string): ExportAnswer | undefined {
  if (text.trim() === '') return NOTHING
  const answer = objectIn(text)
  if (answer === undefined) return undefined
  const { partialSuccess } = answer
  if (partialSuccess === null || typeof partialSuccess !== 'object') return NOTHING
  const { rejectedDataPoints, rejectedLogRecords, errorMessage } = partialSuccess as Readonly<Record<string, unknown>>
  const count = String(rejectedDataPoints ?? rejectedLogRecords ?? 0)
  if (!/^-?\d{1,19}$/.test(count)) return undefined
  return { rejected: refusedOf(BigInt(count)), message: typeof errorMessage === 'string' ? errorMessage : '' }
}

/** The receiver has taken the request, so a negative count must not cause another attempt. */
function refusedOf(count: bigint): bigint {
  return count > 0n ? count : 0n
}

/** The message of a `google.rpc.Status`, the body of an error; empty if there is none. */
export function statusMessage(bytes: Uint8Array): string {
  const message = fieldsOf(bytes)?.find(({ field, wire }) => field === 2 && wire === 2)
  return message === undefined ? '' : utf8.decode(message.bytes)
}

/** The same in JSON. */
export function jsonStatusMessage(text: string): string {
  const message = objectIn(text)?.message
  return typeof message === 'string' ? message : ''
}

/** The fields of a message; undefined if the bytes end within a field. */
function fieldsOf(bytes: Uint8Array) {
  const fields = []
  const read = readFields(bytes)
  for (let step = read.next(); ; step = read.next()) {
    if (step.done) return step.value ? fields : undefined
    fields.push(step.value)
  }
}

function objectIn(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return value !== null && typeof value === 'object' && !Array.isArray(value)
      ? (value as Readonly<Record<string, unknown>>)
      : undefined
  } catch {
    return undefined
  }
}
