import { SondeError, shown } from '../errors.ts'
import { array, type Integer64, label, timestamp, value } from '../schema/field.ts'
import type { ReadRecord } from '../schema/reader.ts'
import { defineOwnType } from '../schema/record-type.ts'
import { wallNs } from '../source/clock.ts'
import { Source } from '../source/source.ts'

/** An event with data in a format of the application. */
export interface OpaqueEvent {
  /** Id of the application: the 16 bytes of a GUID, or its text, `9910c128-3961-47e6-be6c-715a0f03add6`. */
  readonly appId: string | Uint8Array
  /** A number of the application. Range: 0 to 2^64 − 1. Default: 0. */
  readonly userDefined1?: Integer64
  /** A second number. Default: 0. */
  readonly userDefined2?: Integer64
  /** The data, up to {@link maxOpaqueBytes}; may be empty. */
  readonly data: Uint8Array
  /** Time of the event. Unit: nanoseconds since the Unix epoch. Default: now. */
  readonly time?: Integer64
}

/** An opaque event that was read. */
export interface ReadOpaqueEvent {
  /** Unit: nanoseconds since the Unix epoch. */
  readonly time: bigint
  /** The GUID as text, in lower case. */
  readonly appId: string
  readonly userDefined1: bigint
  readonly userDefined2: bigint
  readonly data: Uint8Array
}

/** Size of a record before its data. Unit: bytes. */
const HEAD_BYTES = 32
const GUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/

function opaqueType(recordBytes: number) {
  return defineOwnType(`sonde_opaque_${recordBytes}`, 'Data that only its application understands', {
    time: timestamp(),
    app_id: label('GUID of the application'),
    size: value('u32', { help: 'Bytes of data that are used' }),
    user_defined1: value('u64', { help: 'A number of the application' }),
    user_defined2: value('u64', { help: 'Another number of the application' }),
    data: array(value('u8'), recordBytes - HEAD_BYTES),
  })
}

/**
 * The types of opaque events, `sonde_opaque_64` to `sonde_opaque_65536`. The number is the size of the record in bytes,
 * 32 more than the largest data.
 */
export const opaqueTypes = Object.freeze(Array.from({ length: 11 }, (_, i) => opaqueType(64 << i)))

/**
 * Limit of the data of an opaque event: the buffer of the source, rounded down to a power of two, minus 32; at most 65
 * 504. Unit: bytes.
 */
export function maxOpaqueBytes(source: Source): number {
  const largest = opaqueTypes.findLast((type) => source.capacityFor(type) > 0)
  return largest === undefined ? 0 : largest.layout.recordBytes - HEAD_BYTES
}

/**
 * Reports an event as a record of the smallest of the {@link opaqueTypes} that fits its data.
 *
 * @throws SondeError `OPQ_SIZE` if the data exceeds {@link maxOpaqueBytes}; `OPQ_VALUE` if `appId` is no GUID, the data
 * is not bytes, or the source or the event is missing; `OPQ_DISABLED` if the schema of the source has no `opaqueEvents:
 * true`; the errors of `report`.
 */
export function reportOpaque(source: Source, event: OpaqueEvent): void {
  if (!(source instanceof Source)) throw refused('the source of an opaque event', source, 'one of schema.createSource')
  if (event === null || typeof event !== 'object') {
    throw refused('an opaque event', event, 'an object with appId and data')
  }
  const { userDefined1 = 0, userDefined2 = 0, data, time = wallNs() } = event
  const app_id = guidText(event.appId)
  if (!(data instanceof Uint8Array)) {
    throw new SondeError('OPQ_VALUE', `data of an opaque event is ${shown(data)}; allowed: a Uint8Array`)
  }
  const type = typeFor(source, data.length)
  const room = type.layout.recordBytes - HEAD_BYTES
  const padded = Array.from({ length: room }, (_, i) => data[i] ?? 0)
  const record = {
    time,
    app_id,
    size: data.length,
    user_defined1: userDefined1,
    user_defined2: userDefined2,
    data: padded,
  }
  try {
    source.report(type, record)
  } catch (error) {
    if (!(error instanceof SondeError) || error.code !== 'SRC_TYPE') throw error
    throw new SondeError(
      'OPQ_DISABLED',
      `source ${source.info.id} takes no opaque events; set opaqueEvents: true in the options of its schema`,
      { cause: error },
    )
  }
}

/**
 * The event of a record of one of the {@link opaqueTypes}, as `readRecord` returns it.
 *
 * @throws SondeError `OPQ_VALUE` if the record has another type, or its length exceeds its data.
 */
export function readOpaque(record: ReadRecord): ReadOpaqueEvent {
  const { time, app_id, size, user_defined1, user_defined2, data } = record
  const isWhole =
    typeof time === 'bigint' &&
    typeof app_id === 'string' &&
    typeof size === 'number' &&
    typeof user_defined1 === 'bigint' &&
    typeof user_defined2 === 'bigint' &&
    Array.isArray(data) &&
    size <= data.length
  if (!isWhole) throw new SondeError('OPQ_VALUE', 'this record is no opaque event; allowed: those of opaqueTypes')
  const appId = app_id
  const bytes = Uint8Array.from(data.slice(0, size), Number)
  return { time, appId, userDefined1: user_defined1, userDefined2: user_defined2, data: bytes }
}

function typeFor(source: Source, bytes: number): (typeof opaqueTypes)[number] {
  const smallest = opaqueTypes.find((type) => bytes <= type.layout.recordBytes - HEAD_BYTES)
  if (smallest !== undefined && source.capacityFor(smallest) > 0) return smallest
  const advice =
    smallest === undefined
      ? 'no event may have more than 65504; cut it into several'
      : `set bufferBytes of its schema or source to at least ${smallest.layout.recordBytes}, or cut it into several`
  throw new SondeError(
    'OPQ_SIZE',
    `an opaque event of ${bytes} bytes; source ${source.info.id} takes at most ${maxOpaqueBytes(source)}: ${advice}`,
  )
}

function refused(what: string, given: unknown, allowed: string): SondeError {
  return new SondeError('OPQ_VALUE', `${what} is ${shown(given)}; allowed: ${allowed}`)
}

function guidText(appId: string | Uint8Array): string {
  if (appId instanceof Uint8Array && appId.length === 16) {
    const hex = Buffer.from(appId).toString('hex')
    return hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')
  }
  const text = typeof appId === 'string' ? appId.toLowerCase() : ''
  if (GUID.test(text)) return text
  throw new SondeError(
    'OPQ_VALUE',
    `the application of an opaque event is ${shown(appId)}; allowed: the 16 bytes of a GUID, or 9910c128-3961-47e6-be6c-715a0f03add6`,
  )
}
