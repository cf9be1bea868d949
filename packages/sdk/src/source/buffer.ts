import { SondeError } from '../errors.ts'
import type { Clock } from '../schema/batch.ts'
import { type Encode, encoderOf } from '../schema/encoder.ts'
import type { Fields, RecordType } from '../schema/record-type.ts'
import type { SourceLabels } from '../schema/source-labels.ts'
import type { SourceTexts } from '../schema/texts.ts'
import { allocateViews, type Views } from '../schema/views.ts'

/** Records of one type that a source has not emitted yet. */
export interface RecordBuffer {
  readonly type: RecordType
  readonly recordBytes: number
  readonly views: Views
  /** Capacity. Unit: records. */
  readonly capacity: number
  readonly encode: Encode
  /** Whether its records have fields of text. */
  readonly hasTexts: boolean
  /** Offset of the high word of the time in a record; −1 without a time of the wall clock. */
  readonly timeHighAt: number
  readonly earliestHigh: number
  /** Number of fields of the type; −1 if some are nested records. */
  readonly fieldCount: number
  /** Number of presence words of a record; 0 if no field is optional. */
  readonly presenceWords: number
  /** Whether an object without any field is a record of the type. */
  readonly mayBeEmpty: boolean
  /** Records in the buffer. */
  count: number
  /** Emitted records. */
  emitted: number
  /** Whether the source is closed. */
  isClosed: boolean
}

/** A state of a buffer, to return to. */
export type Mark = Readonly<Pick<RecordBuffer, 'count' | 'emitted'>>

/** Options for the size and the checks of buffers. */
export interface BufferOptions {
  readonly bufferBytes: number
  readonly clock: Clock
}

/** High words of 2000-01-01 as a timestamp: an earlier time of the wall clock is a mistake in the unit. */
export const EARLIEST_HIGH = { ns: 220_417_231, us: 220_417 }

/** @throws SondeError `SRC_RECORD_SIZE` if not even one record fits. */
export function makeBuffer(
  type: RecordType,
  { labels, texts }: { readonly labels: SourceLabels; readonly texts: SourceTexts },
  { bufferBytes, clock }: BufferOptions,
): RecordBuffer {
  const { recordBytes } = type.layout
  const capacity = Math.floor(bufferBytes / recordBytes)
  const fields = Object.values(type.fields)
  if (capacity === 0) {
    throw new SondeError(
      'SRC_RECORD_SIZE',
      `a record of ${type.name} takes ${recordBytes} bytes, the buffer ${bufferBytes}; set bufferBytes to at least ${recordBytes}`,
    )
  }
  return {
    type,
    recordBytes,
    views: allocateViews(capacity * recordBytes),
    capacity,
    encode: encoderOf(type, labels, texts),
    hasTexts: type.layout.slots.some(({ field }) => field.kind === 'symbol' && field.role !== 'label'),
    timeHighAt: type.time === undefined || clock !== 'wall' ? -1 : type.time.offset + 4,
    earliestHigh: EARLIEST_HIGH[type.time?.field.resolution ?? 'ns'],
    fieldCount: fields.some(({ kind }) => kind === 'record') ? -1 : fields.length,
    presenceWords: type.layout.presenceWords,
    mayBeEmpty: fields.every(({ optional }) => optional),
    count: 0,
    emitted: 0,
    isClosed: false,
  }
}

/**
 * Checks for unknown names in a record that was encoded at `offset`. If the record has as many names as it has encoded
 * fields, all are known: counting takes a quarter of the time of comparing every name.
 *
 * @throws SondeError `SRC_VALUE` with the unknown name and the fields of the type.
 */
export function checkNames(buffer: RecordBuffer, record: object, offset: number): void {
  let count = 0
  for (const _ in record) count++
  if (count !== presentCount(buffer, offset)) checkEachName(buffer.type.name, buffer.type.fields, record)
}

/** Number of fields in the record at `offset`; −1 if some are nested records, whose names count too. */
function presentCount({ fieldCount, presenceWords, views }: RecordBuffer, offset: number): number {
  if (presenceWords === 0 || fieldCount < 0) return fieldCount
  let count = 0
  for (let word = 0; word < presenceWords; word++) {
    for (let bits = views.data.getUint32(offset + word * 4, true); bits !== 0; bits &= bits - 1) count++
  }
  return count
}

/** @throws SondeError `SRC_VALUE` if the record, or a nested record, has a field that the type does not have. */
function checkEachName(type: string, fields: Fields, record: object): void {
  for (const name of Object.keys(record)) {
    const field = Object.hasOwn(fields, name) ? fields[name] : undefined
    if (field === undefined) {
      throw new SondeError(
        'SRC_VALUE',
        `${type} has no field ${JSON.stringify(name)}; it has: ${Object.keys(fields).join(', ')}`,
      )
    }
    if (field.kind !== 'record') continue
    const inner: unknown = Object.getOwnPropertyDescriptor(record, name)?.value
    for (const element of [inner].flat()) {
      if (typeof element === 'object' && element !== null) checkEachName(`${type}.${name}`, field.fields, element)
    }
  }
}

/**
 * Removes the records that were added since `mark` and not emitted, and returns the error for the caller: the error of
 * the record at `index` with that fact. An error of foreign code, such as an iterator, is returned unchanged.
 */
export function takeBack(buffer: RecordBuffer, mark: Mark, index: number, cause: unknown): unknown {
  const isEmitted = buffer.emitted > mark.emitted
  const stayed = isEmitted ? buffer.emitted - mark.emitted - mark.count : 0
  buffer.count = isEmitted ? 0 : mark.count
  if (!(cause instanceof SondeError)) return cause
  const outcome =
    stayed === 0
      ? 'nothing of them is reported'
      : `${stayed} before it are reported, since their buffer was full; no other is`
  // Not with the error as its cause, which would print the same sentence again.
  return new SondeError(cause.code, `record ${index} of many: ${cause.message}; ${outcome}`)
}

/** The error of the record at `offset`, whose time is before 2000. */
export function refuseTime({ type: { name, time }, views, timeHighAt }: RecordBuffer, offset: number): never {
  const given = views.data.getBigUint64(offset + timeHighAt - 4, true)
  throw earlyTime(`${name}.${time?.name}`, given, time?.field.resolution === 'us' ? 1000n : 1_000_000n)
}

/**
 * Copies packed records in pieces that fit the buffer; `send` empties it.
 *
 * @throws SondeError `SRC_BYTES` if the bytes are not `count` whole records; the errors of {@link checkPackedTimes}.
 */
export function putPacked(buffer: RecordBuffer, bytes: Uint8Array, count: number, send: () => void): void {
  const { recordBytes } = buffer
  if (!Number.isInteger(count) || bytes.byteLength !== count * recordBytes) {
    throw new SondeError(
      'SRC_BYTES',
      `${bytes.byteLength} bytes for ${count} records of ${buffer.type.name}, which take ${recordBytes} bytes each`,
    )
  }
  checkPackedTimes(buffer, bytes)
  for (let done = 0; done < count; ) {
    const part = Math.min(count - done, buffer.capacity - buffer.count)
    buffer.views.bytes.set(bytes.subarray(done * recordBytes, (done + part) * recordBytes), buffer.count * recordBytes)
    buffer.count += part
    done += part
    if (buffer.count === buffer.capacity) send()
  }
}

/**
 * Checks the time of each packed record.
 *
 * @throws SondeError `SRC_VALUE` with the index of the first record whose time is before 2000.
 */
function checkPackedTimes({ type, recordBytes, timeHighAt, earliestHigh }: RecordBuffer, bytes: Uint8Array): void {
  if (timeHighAt < 0) return
  const data = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  for (let at = timeHighAt; at < bytes.byteLength; at += recordBytes) {
    if (data.getUint32(at, true) >= earliestHigh) continue
    const place = `${type.name}.${type.time?.name} of record ${(at - timeHighAt) / recordBytes}`
    throw earlyTime(place, data.getBigUint64(at - 4, true), type.time?.field.resolution === 'us' ? 1000n : 1_000_000n)
  }
}

/** The error for a time before 2000, with the correct unit. */
export function earlyTime(place: string, given: bigint, unitsPerMs: bigint): SondeError {
  const unit = unitsPerMs === 1000n ? 'microseconds' : 'nanoseconds'
  const shownTime = new Date(Number(given / unitsPerMs)).toISOString()
  return new SondeError(
    'SRC_VALUE',
    `${place} was given ${given}, which is ${shownTime}; allowed: ${unit} since the Unix epoch, from 2000 on`,
  )
}
