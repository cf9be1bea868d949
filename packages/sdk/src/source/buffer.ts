import { SondeError } from '../errors.ts'
import type { Clock } from '../schema/batch.ts'
import { type Encode, encoderOf } from '../schema/encoder.ts'
import type { Fields, RecordType } from '../schema/record-type.ts'
import type { SourceLabels } from '../schema/source-labels.ts'
import type { SourceTexts } from '../schema/texts.ts'
import { allocateViews, type Views } from '../schema/views.ts'

/** The records of one type that a source has not emitted yet. */
export interface RecordBuffer {
  readonly type: RecordType
  readonly recordBytes: number
  readonly views: Views
  /** Records that it holds at most. */
  readonly capacity: number
  readonly encode: Encode
  /** Whether its records have fields of text. */
  readonly hasTexts: boolean
  /** Where in a record the high word of its time is; −1 where it has none, or one of a clock that begins anywhere. */
  readonly timeHighAt: number
  readonly earliestHigh: number
  /** Fields of the type; −1 where some are records themselves. */
  readonly fieldCount: number
  /** Words in which a record says which fields it has; 0 if it has all. */
  readonly presenceWords: number
  /** Whether an object without any field is a record of the type. */
  readonly mayBeEmpty: boolean
  /** Records that it holds. */
  count: number
  /** Records that it emitted. */
  emitted: number
  /** Whether its source is closed. */
  isClosed: boolean
}

/** Where a buffer was. */
export type Mark = Readonly<Pick<RecordBuffer, 'count' | 'emitted'>>

/** What decides the size and the checks of a source's buffers. */
export interface BufferOptions {
  readonly bufferBytes: number
  readonly clock: Clock
}

/**
 * High words of 2000-01-01 as a timestamp: what is earlier was not meant to be, as far as real clocks are concerned.
 */
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
 * Looks for names that the type has not in a record that was encoded at `offset`. A record with as many names as it has
 * fields has no other: counting takes a quarter of the time of looking at every name, which only the others need.
 *
 * @throws SondeError `SRC_VALUE` with the name, and those that the type has.
 */
export function checkNames(buffer: RecordBuffer, record: object, offset: number): void {
  let count = 0
  for (const _ in record) count++
  if (count !== presentCount(buffer, offset)) checkEachName(buffer.type.name, buffer.type.fields, record)
}

/** Fields that the record at `offset` has; −1 where some are records themselves, whose names count too. */
function presentCount({ fieldCount, presenceWords, views }: RecordBuffer, offset: number): number {
  if (presenceWords === 0 || fieldCount < 0) return fieldCount
  let count = 0
  for (let word = 0; word < presenceWords; word++) {
    for (let bits = views.data.getUint32(offset + word * 4, true); bits !== 0; bits &= bits - 1) count++
  }
  return count
}

/** @throws SondeError `SRC_VALUE` if the record, or one nested in it, has a field that the type has not. */
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
 * Takes the records back that came since `mark` and were not emitted, and gives the error that says so: that of the
 * record at `index`. One that is none of Sonde's, such as of an iterator, stays as it is.
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
  // Not as its cause, which would print the same sentence again.
  return new SondeError(cause.code, `record ${index} of many: ${cause.message}; ${outcome}`)
}

/** Tells of the record at `offset` that its time is before 2000. */
export function refuseTime({ type: { name, time }, views, timeHighAt }: RecordBuffer, offset: number): never {
  const given = views.data.getBigUint64(offset + timeHighAt - 4, true)
  throw earlyTime(`${name}.${time?.name}`, given, time?.field.resolution === 'us' ? 1000n : 1_000_000n)
}

/**
 * Copies packed records, split between records where they exceed the buffer; `send` empties it.
 *
 * @throws SondeError `SRC_BYTES` unless they are whole records, `count` of them; else as {@link checkPackedTimes}.
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
 * Looks at the time of each packed record.
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

/** A time before 2000, and the unit that was meant. */
export function earlyTime(place: string, given: bigint, unitsPerMs: bigint): SondeError {
  const unit = unitsPerMs === 1000n ? 'microseconds' : 'nanoseconds'
  const shownTime = new Date(Number(given / unitsPerMs)).toISOString()
  return new SondeError(
    'SRC_VALUE',
    `${place} was given ${given}, which is ${shownTime}; allowed: ${unit} since the Unix epoch, from 2000 on`,
  )
}
