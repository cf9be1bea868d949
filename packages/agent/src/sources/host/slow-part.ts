import type { Labels, RecordOf, RecordType } from '@sonde/sdk'
import { seriesKey } from '@sonde/sdk/internal'
import type { AttributeReader, ParseAttribute } from '../attribute-reader.ts'
import type { FieldAbsences } from '../field-absences.ts'
import { type KernelFile, ReadFailure } from '../kernel-file.ts'
import { withinRange } from '../ranges/within.ts'
import { leastReads, longestRest } from '../turns.ts'
import type { HostPart, HostPartDefinition } from './part.ts'
import type { HostReader } from './reader.ts'

/** Sweeps between two searches for series. */
const SWEEPS_PER_LOOK = 16

/** A series that was found. */
export interface FoundSeries {
  readonly type: RecordType
  readonly labels: Labels
  /** Identifies its files. If series with the same labels move to another place, their files are opened again. */
  readonly place: string
  open(): SlowSeries
}

/** The files of one series that changes slowly or is slow to read. */
export interface SlowSeries {
  /** The values of the last read; undefined if there are none. */
  readonly values: Readonly<Record<string, unknown>> | undefined
  read(): void
  close(): void
}

/** A series that is read. */
interface KnownSeries extends Pick<FoundSeries, 'type' | 'labels' | 'place'> {
  readonly series: SlowSeries
  /** The sweep from which the series is read again. */
  restsUntil: number
  /** Duration of its last read. Unit: milliseconds. */
  tookMs: number
}

/** Options of {@link SlowPart}. */
export interface SlowPartOptions {
  /** Types that the part may report, each with the reason why it may have no series. */
  readonly types: readonly (readonly [type: RecordType, none: string])[]
  /** The highest number of series. Further series are dropped, and counted under the reason of the limit. */
  readonly limit: readonly [reason: string, count: number]
  /**
   * Series that are read in each sweep, in turn; more if a round would take too long. In a sweep in which a series is
   * not read, its last values are reported, unless its type is declared `inTurns`.
   */
  readonly readsPerSweep: number
  /** Names on the path to the folder below sysfs. */
  readonly folder: readonly string[]
  /** Creates the function that finds series by the names in the folder. */
  readonly finder: (reader: HostReader) => (names: string[]) => readonly FoundSeries[]
}

/**
 * Reads a few series in each sweep. Reading a sensor may send a command to some firmware: a series whose last two reads
 * were slow is skipped for as many sweeps as the shorter read took milliseconds.
 */
export class SlowPart implements HostPart {
  readonly #reader: HostReader
  readonly #options: SlowPartOptions
  readonly #find: (names: string[]) => readonly FoundSeries[]
  readonly #types: readonly (readonly [type: RecordType, absences: FieldAbsences, none: string])[]
  #known = new Map<string, KnownSeries>()
  #left = 0
  #sweep = 0
  #turn = 0

  constructor(reader: HostReader, options: SlowPartOptions) {
    this.#reader = reader
    this.#options = options
    this.#find = options.finder(reader)
    this.#types = options.types.map(([type, none]) => [type, reader.absences(type), none])
  }

  sample(time: bigint): boolean {
    if (this.#sweep % SWEEPS_PER_LOOK === 0) this.#look()
    this.#sweep++
    const all = [...this.#known.values()]
    const read = this.#readSome(all)
    let hasValues = false
    for (const one of all) {
      const { type, labels, series } = one
      const { values } = series
      if (values === undefined) continue
      hasValues = true
      if (type.inTurns && !read.has(one)) continue
      this.#reader.context.source.report(type, { time, ...labels, ...values } as RecordOf<RecordType>)
    }
    if (this.#left > 0) this.#reader.context.dropped(this.#options.limit[0], this.#left)
    return hasValues
  }

  /** Reads the series whose turn it is, and returns them. */
  #readSome(all: readonly KnownSeries[]): ReadonlySet<KnownSeries> {
    const { intervalMs } = this.#reader.context
    const least = leastReads(all.filter(({ type }) => type.inTurns).length, intervalMs)
    const read = new Set<KnownSeries>()
    let left = Math.max(this.#options.readsPerSweep, least)
    for (let i = 0; i < all.length && left > 0; i++) {
      const one = all[this.#turn++ % all.length]
      if (one === undefined || one.restsUntil > this.#sweep) continue
      left--
      const startMs = performance.now()
      one.series.read()
      read.add(one)
      const tookMs = performance.now() - startMs
      // A single slow read may only mean that this process had to wait for the processor.
      const rest = Math.floor(Math.min(tookMs, one.tookMs))
      one.restsUntil = this.#sweep + (one.type.inTurns ? Math.min(rest, longestRest(intervalMs)) : rest)
      one.tookMs = tookMs
    }
    return read
  }

  #look(): void {
    const listed = this.#reader.sysfs.list(...this.#options.folder)
    const found = listed instanceof ReadFailure ? listed : this.#find(listed)
    const kept = new Map<string, KnownSeries>()
    this.#left = 0
    for (const one of found instanceof ReadFailure ? [] : found) {
      const key = `${one.type.name}{${seriesKey(one.labels)}}`
      const known = this.#known.get(key)
      if (kept.has(key) || kept.size >= this.#options.limit[1]) this.#left++
      else kept.set(key, known?.place === one.place ? known : opened(one))
    }
    for (const [key, known] of this.#known) {
      if (kept.get(key) === known) continue
      known.series.close()
      if (!kept.has(key)) this.#reader.context.absences.gone(known.type, known.labels, 'it is no longer there')
    }
    this.#known = kept
    this.#reportTypes(found)
  }

  #reportTypes(found: readonly FoundSeries[] | ReadFailure): void {
    const there = new Set([...this.#known.values()].map(({ type }) => type))
    for (const [type, absences, none] of this.#types) {
      if (there.has(type)) absences.present('')
      else if (found instanceof ReadFailure && found.kind !== 'missing')
        absences.absent('', found.code, found.error.message)
      else absences.absent('', 'unsupported', none)
    }
  }
}

function opened({ type, labels, place, open }: FoundSeries): KnownSeries {
  return { type, labels, place, series: open(), restsUntil: 0, tookMs: 0 }
}

/** Defines a part that reads a few series in each sweep. */
export function slowPart(options: SlowPartOptions): HostPartDefinition {
  return { types: options.types.map(([type]) => type), create: (reader) => new SlowPart(reader, options) }
}

/** A file that holds one field, and its parser. */
export interface FieldFile {
  readonly field: string
  readonly file: KernelFile
  readonly parse: ParseAttribute<number | bigint | string>
}

/** A series in which each field is a file. There is no record if a required field is missing. */
export class FileSeries implements SlowSeries {
  values: Readonly<Record<string, unknown>> | undefined
  readonly #type: RecordType
  readonly #attributes: AttributeReader
  readonly #files: readonly FieldFile[]

  constructor(reader: HostReader, { type, labels }: Pick<FoundSeries, 'type' | 'labels'>, files: readonly FieldFile[]) {
    this.#type = type
    this.#files = files.map((one) => ({ ...one, parse: withinRange(type, one.field, one.parse) }))
    this.#attributes = reader.attributes(type, labels)
    const { absences } = this.#attributes
    const given = new Set(files.map(({ field }) => field))
    for (const { name, field } of type.layout.slots)
      if (field.optional && !given.has(name)) absences.absent(name, 'unsupported', 'the kernel has no file of it')
  }

  read(): void {
    const values: Record<string, unknown> = {}
    for (const { field, file, parse } of this.#files) {
      // If a required field is missing, the whole series is absent.
      const said = this.#type.fields[field]?.optional === true ? field : ''
      const value = this.#attributes.read(said, file, parse)
      if (value !== undefined) values[field] = value
      else if (said === '') {
        this.values = undefined
        return
      }
    }
    this.values = Object.keys(values).length > 0 ? values : undefined
  }

  close(): void {
    for (const { file } of this.#files) file.close()
  }
}
