import { keyOfText } from '../../internal/seeded-hash.ts'
import { readComment, type ScrapedFamily } from './parse-comment.ts'
import { type ParseFault, ParseFaults } from './parse-faults.ts'
import { endOfLabels, isNameByte, readLabels, readUnescaped } from './parse-labels.ts'
import { PARSE_LIMITS, type ParseLimits } from './parse-limits.ts'
import { exactInteger, isBlank, NumberReader } from './parse-number.ts'
import { NO_LABELS, type ScrapedSeries, SeriesNumbers } from './parse-series.ts'

/** `text` is that of Prometheus, version 0.0.4: its timestamps are milliseconds. Those of OpenMetrics are seconds. */
export type ExpositionFormat = 'text' | 'openmetrics'

const NEWLINE = 10
const RETURN = 13
const HASH = 35
const OPEN = 123
const CLOSE = 125
const SAMPLES_MIN = 1024
/** Lines are read in steps of so much, and whole. Unit: bytes. */
const STEP_BYTES = 8 << 10
const NO_BYTES = Buffer.alloc(0)
const EOF = '# EOF'

/**
 * Parses consecutive scrapes of one exporter. Results are valid until the next call of `parse`. The bytes must not
 * change while {@link integer} is used.
 *
 * @example
 * const parser = new ExpositionParser()
 * parser.parse(body)
 * for (let i = 0; i < parser.count; i++) console.log(parser.seriesAt(i).name, parser.values[i])
 */
export class ExpositionParser {
  /** Samples of the last body. */
  count = 0
  /** By sample: the number of its series, from 0. */
  numbers = new Uint32Array(SAMPLES_MIN)
  /** By sample: its value; whole ones above 2^53 are rounded, and {@link integer} gives them exactly. */
  values = new Float64Array(SAMPLES_MIN)
  /** By sample: its own time, NaN if it has none. Unit: milliseconds since the Unix epoch. */
  timesMs = new Float64Array(SAMPLES_MIN)
  /** What the last body said of metrics, by name. */
  readonly families = new Map<string, ScrapedFamily>()
  /** The faults of the last body. */
  faults = new ParseFaults()
  /** Samples of the last body with an exemplar; exemplars are not read. */
  exemplars = 0
  readonly #limits: ParseLimits
  readonly #table: SeriesNumbers
  readonly #reader = new NumberReader()
  /** By sample: where its value stands. By series: the body that had it last. */
  #valuesAt = new Uint32Array(SAMPLES_MIN)
  #seenIn = new Uint32Array(SAMPLES_MIN)
  #bytes: Buffer = NO_BYTES
  #body = 0
  #epoch = 0
  #line = 0
  #isOpenMetrics = false
  #hasEnded = false

  /** @param limits Default: {@link PARSE_LIMITS}. */
  constructor(limits: Partial<ParseLimits> = {}) {
    this.#limits = { ...PARSE_LIMITS, ...limits }
    this.#table = new SeriesNumbers(this.#limits.seriesCount, this.#limits.bodyBytes)
  }

  /** Grows when series have other numbers than before: whoever keeps something by number forgets it then. */
  get epoch(): number {
    return this.#table.epoch
  }

  /** The series by number, recently removed series included. */
  get series(): readonly ScrapedSeries[] {
    return this.#table.series
  }

  /** The series of a sample. */
  seriesAt(sample: number): ScrapedSeries {
    return this.#table.series[this.numbers[sample] as number] as ScrapedSeries
  }

  /** A value exactly, from 0 to 2^64 - 1; undefined if it is no such whole number. */
  integer(sample: number): bigint | undefined {
    return exactInteger(this.#bytes, this.#valuesAt[sample] as number, this.values[sample] as number)
  }

  /** Whether the last body was of OpenMetrics and said where it ends. */
  get hasEnded(): boolean {
    return this.#hasEnded
  }

  /** Parses a body. Never throws: a faulty line is left out and noted in {@link faults}. */
  parse(body: Uint8Array, format: ExpositionFormat = 'text'): void {
    for (const _step of this.read(body, format));
  }

  /**
   * Reads a body as {@link parse} does, in steps of some kilobytes: the caller can yield the thread between
   * them. A reading that is stopped before its end leaves the samples up to there.
   */
  *read(body: Uint8Array, format: ExpositionFormat = 'text'): Generator<undefined, void> {
    const bytes = wholeLines(body, this.#limits.bodyBytes)
    this.#begin(bytes, format)
    let at = 0
    let stepEnd = STEP_BYTES
    try {
      while (at < bytes.length) {
        this.#line++
        const next = this.#expectedLine(bytes, at)
        at = next === -1 ? this.#anyLine(bytes, at) : next
        if (at < stepEnd) continue
        stepEnd = at + STEP_BYTES
        yield
      }
      if (body.length > bytes.length) this.faults.add('body_bytes', this.#line)
    } finally {
      this.#table.finish()
    }
  }

  #begin(bytes: Buffer, format: ExpositionFormat): void {
    this.#bytes = bytes
    this.#isOpenMetrics = format === 'openmetrics'
    this.#hasEnded = false
    this.#line = 0
    this.count = 0
    this.exemplars = 0
    this.faults = new ParseFaults()
    this.families.clear()
    this.#table.begin()
    this.#body++
    if (this.#table.epoch !== this.#epoch) this.#seenIn.fill(0)
    this.#epoch = this.#table.epoch
  }

  /** The line at `at` if it has the series that is expected next: where the next line begins, else -1. */
  #expectedLine(bytes: Buffer, at: number): number {
    const text = this.#table.expected(bytes, at)
    if (text === -1 || this.#hasEnded) return -1
    const end = at + this.#table.lengthOf(text)
    if (bytes[end - 1] !== CLOSE && !isBlank(bytes[end])) return -1
    const next = this.#sample(bytes, end, bytes.length)
    if (next === -1) return -1
    const fault = this.#add(this.#table.follow(text))
    if (fault !== undefined) this.faults.add(fault, this.#line)
    return next
  }

  /** Any line: where the next one begins. */
  #anyLine(bytes: Buffer, at: number): number {
    const newline = bytes.indexOf(NEWLINE, at)
    const next = newline === -1 ? bytes.length : newline + 1
    let end = newline === -1 ? bytes.length : newline
    if (end > at && bytes[end - 1] === RETURN) end--
    const fault = this.#readLine(bytes, at, end)
    if (fault !== undefined) this.faults.add(fault, this.#line)
    return next
  }

  #readLine(bytes: Buffer, from: number, end: number): ParseFault | undefined {
    let at = pastBlanks(bytes, from, end)
    if (at === end) return undefined
    if (end - from > this.#limits.lineBytes) return 'line_bytes'
    if (this.#hasEnded) return 'after_end'
    if (bytes[at] === HASH) return this.#readComment(bytes.toString('utf8', at, end))
    const nameAt = at
    while (at < end && isNameByte(bytes[at], at === nameAt)) at++
    const nameEnd = at
    at = pastBlanks(bytes, at, end)
    const hasLabels = bytes[at] === OPEN && at < end
    if (nameEnd === nameAt && !hasLabels) return 'name'
    if (!hasLabels && at === nameEnd) return at === end ? 'value' : 'name'
    const labelsEnd = hasLabels ? endOfLabels(bytes, at, end) : nameEnd
    const fault = labelsEnd === -1 ? 'labels' : this.#readSample(bytes, nameAt, nameEnd, labelsEnd, end)
    if (fault !== 'labels' || !hasLabels || nameEnd === nameAt) return fault
    return this.#readTolerantly(bytes, nameAt, nameEnd, at, end)
  }

  #readComment(text: string): ParseFault | undefined {
    if (text === EOF && this.#isOpenMetrics) {
      this.#hasEnded = true
      return undefined
    }
    return readComment(text, this.families, this.#limits.familyCount)
  }

  /** A line whose name and labels end at `seriesEnd`. */
  #readSample(bytes: Buffer, at: number, nameEnd: number, seriesEnd: number, end: number): ParseFault | undefined {
    if (seriesEnd - at > this.#limits.labelBytes) return 'label_bytes'
    const key = keyOfText(bytes.toString('latin1', at, seriesEnd))
    const isPlain = seriesEnd === nameEnd
    const number = this.#table.known(key)
    if (number !== -1) return this.#finishLine(bytes, seriesEnd, end, number)
    const text = isPlain ? '' : bytes.toString('utf8', nameEnd, seriesEnd).trimStart()
    const read = isPlain ? NO_LABELS : this.#table.labelSet(text, (text) => readLabels(text, this.#limits.labelCount))
    if (typeof read === 'string') return read
    const outside = bytes.toString('latin1', at, nameEnd)
    if ((outside === '') === (read.name === '')) return 'name'
    const fresh = this.#table.numberOf(outside + read.name, read)
    if (fresh === -1) return 'series_count'
    const fault = this.#finishLine(bytes, seriesEnd, end, fresh)
    if (fault === undefined) this.#table.keep(key, fresh, bytes, at, seriesEnd)
    return fault
  }

  /** A line whose values may hold quotes as they are. Where the braces close can be told from the end alone. */
  #readTolerantly(bytes: Buffer, at: number, nameEnd: number, open: number, end: number): ParseFault | undefined {
    // Within the line: a search of the whole body for each line would never end.
    const close = open + bytes.subarray(open, end).lastIndexOf(CLOSE)
    if (close <= open) return 'labels'
    if (close - at > this.#limits.labelBytes) return 'label_bytes'
    const text = bytes.toString('utf8', open, close + 1)
    // The key can be no text that the grammar allows.
    const read = this.#table.labelSet(`"${text}`, () => readUnescaped(text, this.#limits.labelCount))
    if (typeof read === 'string') return read
    const number = this.#table.numberOf(bytes.toString('latin1', at, nameEnd), read)
    if (number === -1) return 'series_count'
    return this.#finishLine(bytes, close + 1, end, number) ?? 'unescaped'
  }

  #finishLine(bytes: Buffer, at: number, end: number, number: number): ParseFault | undefined {
    const next = this.#sample(bytes, at, end)
    if (next !== -1) return this.#add(number)
    const valueAt = pastBlanks(bytes, at, end)
    this.#reader.read(bytes, valueAt, end)
    return this.#reader.end === -1 ? 'value' : 'timestamp'
  }

  /**
   * Reads value, time and what may follow them into the next sample, which is not counted yet: where the next line
   * begins; -1 where they have no form.
   */
  #sample(bytes: Buffer, from: number, to: number): number {
    const reader = this.#reader
    const valueAt = pastBlanks(bytes, from, to)
    const value = reader.read(bytes, valueAt, to)
    if (reader.end === -1) return -1
    let at = pastBlanks(bytes, reader.end, to)
    let timeMs = Number.NaN
    if (at < to && bytes[at] !== NEWLINE && bytes[at] !== RETURN && bytes[at] !== HASH) {
      const time = reader.read(bytes, at, to)
      if (reader.end === -1 || !Number.isFinite(time)) return -1
      timeMs = this.#isOpenMetrics ? time * 1000 : time
      at = pastBlanks(bytes, reader.end, to)
    }
    if (bytes[at] === HASH && at < to) {
      const newline = bytes.indexOf(NEWLINE, at)
      this.exemplars++
      at = newline === -1 || newline > to ? to : newline
    }
    if (bytes[at] === RETURN && at < to) at++
    if (at < to && bytes[at] !== NEWLINE) return -1
    if (this.count === this.values.length) this.#grow()
    this.values[this.count] = value
    this.timesMs[this.count] = timeMs
    this.#valuesAt[this.count] = valueAt
    return at < to ? at + 1 : to
  }

  /** Counts the sample that was read, unless its series had one before. */
  #add(number: number): ParseFault | undefined {
    if (number >= this.#seenIn.length) this.#seenIn = grown(this.#seenIn, new Uint32Array(2 * number))
    if (this.#seenIn[number] === this.#body) return 'duplicate'
    this.#seenIn[number] = this.#body
    this.numbers[this.count++] = number
    return undefined
  }

  #grow(): void {
    const length = 2 * this.count
    this.numbers = grown(this.numbers, new Uint32Array(length))
    this.values = grown(this.values, new Float64Array(length))
    this.timesMs = grown(this.timesMs, new Float64Array(length))
    this.#valuesAt = grown(this.#valuesAt, new Uint32Array(length))
  }
}

/** A body as it is, or the lines of it that fit: a number that is cut is another number. */
function wholeLines(body: Uint8Array, bytesMax: number): Buffer {
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.length)
  return bytes.length <= bytesMax ? bytes : bytes.subarray(0, bytes.lastIndexOf(NEWLINE, bytesMax - 1) + 1)
}

function pastBlanks(bytes: Uint8Array, from: number, to: number): number {
  let at = from
  while (at < to && isBlank(bytes[at])) at++
  return at
}

function grown<T extends Uint32Array | Float64Array>(from: T, into: T): T {
  into.set(from as never)
  return into
}
