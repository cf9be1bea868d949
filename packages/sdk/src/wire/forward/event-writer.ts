import { SondeError } from '../../errors.ts'
import type { Batch } from '../../schema/batch.ts'
import { labelText } from '../../schema/reader.ts'
import { type Views, viewsOf } from '../../schema/views.ts'
import { attributesOfLog } from '../log-attributes.ts'
import { type EventTime, EventTimes } from './event-time.ts'
import { EventCache, type KnownEvents } from './known-events.ts'
import { pack } from './msgpack.ts'
import { EVENT_TIME_AT, type EventTemplate, OPERATION_CODES, OPERATION_NUMBERS, type RecordLayout } from './template.ts'

const START_BYTES = 64 << 10
/** Spare pieces of memory; each is about the size of a message. */
const SPARE_MAX = 4
/** The largest message that Fluent Bit takes by default. Unit: bytes. */
const EVENT_BYTES_MAX = 6_000_000
/** The bit that turns the type byte of `false` into that of `true`. */
const TRUE_BIT = 1

/** Writes records as events `[EventTime, map]`, one behind the other, into memory that it keeps. */
export class EventWriter {
  readonly #cache: EventCache
  readonly #spare: Buffer<ArrayBuffer>[] = []
  /** Memory of this writer that holds events of a message. */
  readonly #given = new WeakSet<ArrayBufferLike>()
  #bytes = Buffer.allocUnsafeSlow(START_BYTES)
  #data = new DataView(this.#bytes.buffer)
  /** Bytes of the events so far. */
  length = 0

  constructor(layout: RecordLayout) {
    this.#cache = new EventCache(layout)
  }

  /**
   * Returns the events and starts again. Memory that is mostly full goes along, because a copy of it is slow; the
   * rest is copied.
   */
  take(): Buffer {
    const taken = this.#bytes.subarray(0, this.length)
    this.length = 0
    if (taken.length * 2 < this.#bytes.length) return Buffer.from(taken)
    this.#given.add(taken.buffer)
    this.#use(this.#spare.pop() ?? Buffer.allocUnsafeSlow(this.#bytes.length))
    return taken
  }

  /** Takes back the memory of events that were sent, to use it again: fresh memory is slow. */
  release({ buffer }: Buffer): void {
    // A copy may lie in memory that Node shares among Buffers.
    if (this.#given.delete(buffer) && this.#spare.length < SPARE_MAX)
      this.#spare.push(Buffer.from(buffer as ArrayBuffer))
  }

  /**
   * Appends the records of a batch, and calls `onEvent` behind each.
   *
   * @throws SondeError `FWD_EVENT` if an event is larger than a receiver takes.
   */
  write(batch: Batch, onEvent: () => void): void {
    const { type, source, count } = batch
    const { recordBytes } = type.layout
    const views = viewsOf(batch.bytes)
    const known = this.#cache.of(type, source)
    const times = new EventTimes(type, batch)
    for (let i = 0, at = 0; i < count; i++, at += recordBytes) {
      const start = this.length
      const template = this.#numbers(known, views.data, at)
      this.#time(start, template, times.of(views.data, at))
      this.#texts(known, template, batch, views, at)
      const bytes = this.length - start
      if (bytes > EVENT_BYTES_MAX) {
        this.length = start
        const place = `an event of type ${type.name}`
        throw new SondeError('FWD_EVENT', `${place} takes ${bytes} bytes; allowed: ${EVENT_BYTES_MAX}`)
      }
      onEvent()
    }
  }

  /** Appends the template of a record and fills its numbers in. */
  #numbers(known: KnownEvents, data: DataView, at: number): EventTemplate {
    let template = known.template(data, at)
    this.#place(template)
    if (!fill(template.operations, data, at, this.#data, this.length)) {
      template = known.withNils(notFinite(template.operations, data, at))
      this.#place(template)
      fill(template.operations, data, at, this.#data, this.length)
    }
    this.length += template.bytes.length
    return template
  }

  #time(start: number, { timestampAt }: EventTemplate, { seconds, nanoseconds }: EventTime): void {
    const microseconds = seconds * 1e6 + Math.floor(nanoseconds / 1000)
    this.#data.setUint32(start + EVENT_TIME_AT, seconds)
    this.#data.setUint32(start + EVENT_TIME_AT + 4, nanoseconds)
    this.#data.setUint32(start + timestampAt, microseconds / 2 ** 32)
    this.#data.setUint32(start + timestampAt + 4, microseconds % 2 ** 32)
  }

  #texts(known: KnownEvents, { texts }: EventTemplate, { symbols }: Batch, views: Views, at: number): void {
    for (const { slot, key, isSymbol, isMap } of texts) {
      if (isSymbol) {
        this.#append(known.label(slot, key, views.data.getUint32(at + slot.offset, true), symbols))
        continue
      }
      this.#append(key)
      const text = labelText(slot, views, at, symbols)
      this.#append(pack(isMap ? attributesOfLog(text) : text))
    }
  }

  #append(bytes: Uint8Array): void {
    this.#reserve(bytes.length)
    this.#bytes.set(bytes, this.length)
    this.length += bytes.length
  }

  #place({ bytes }: EventTemplate): void {
    this.#reserve(bytes.length)
    this.#bytes.set(bytes, this.length)
  }

  #reserve(bytes: number): void {
    if (this.length + bytes <= this.#bytes.length) return
    const grown = Buffer.allocUnsafeSlow(Math.max(this.#bytes.length * 2, this.length + bytes))
    grown.set(this.#bytes.subarray(0, this.length))
    this.#use(grown)
  }

  #use(bytes: Buffer<ArrayBuffer>): void {
    this.#bytes = bytes
    this.#data = new DataView(bytes.buffer)
  }
}

/** Copies numbers from a record into an event. False if one of them is none that JSON can write. */
function fill(operations: Int32Array, data: DataView, at: number, out: DataView, start: number): boolean {
  for (let i = 0; i < operations.length; i += OPERATION_NUMBERS) {
    const from = at + (operations[i + 1] as number)
    const to = start + (operations[i + 2] as number)
    switch (operations[i]) {
      case OPERATION_CODES.u64:
      case OPERATION_CODES.i64:
        out.setUint32(to, data.getUint32(from + 4, true))
        out.setUint32(to + 4, data.getUint32(from, true))
        break
      case OPERATION_CODES.f64:
      case OPERATION_CODES.f32: {
        const value = operations[i] === OPERATION_CODES.f64 ? data.getFloat64(from, true) : data.getFloat32(from, true)
        if (!Number.isFinite(value)) return false
        out.setFloat64(to, value)
        break
      }
      case OPERATION_CODES.u32:
      case OPERATION_CODES.i32:
        out.setUint32(to, data.getUint32(from, true))
        break
      case OPERATION_CODES.u16:
      case OPERATION_CODES.i16:
        out.setUint16(to, data.getUint16(from, true))
        break
      case OPERATION_CODES.bool:
        if (data.getUint8(from) !== 0) out.setUint8(to, out.getUint8(to) | TRUE_BIT)
        break
      default:
        out.setUint8(to, data.getUint8(from))
    }
  }
  return true
}

/** Places of the numbers that JSON cannot write. */
function notFinite(operations: Int32Array, data: DataView, at: number): ReadonlySet<number> {
  const places = new Set<number>()
  for (let i = 0; i < operations.length; i += OPERATION_NUMBERS) {
    const place = operations[i + 1] as number
    const isFloat32 = operations[i] === OPERATION_CODES.f32
    if (!isFloat32 && operations[i] !== OPERATION_CODES.f64) continue
    const value = isFloat32 ? data.getFloat32(at + place, true) : data.getFloat64(at + place, true)
    if (!Number.isFinite(value)) places.add(place)
  }
  return places
}
