import type { Labels, RecordOf, RecordType } from '@sonde/sdk'
import { seriesKey } from '@sonde/sdk/internal'
import type { AttributeReader, ParseAttribute } from '../attribute-reader.ts'
import type { FieldAbsences } from '../field-absences.ts'
import { type KernelFile, ReadFailure } from '../kernel-file.ts'
import { within } from '../ranges/within.ts'
import { leastReads, longestRest } from '../turns.ts'
import type { HostPart, HostPartDefinition } from './part.ts'
import type { HostReader } from './reader.ts'

/** Sweeps after which a part looks anew for what there is. */
const SWEEPS_PER_LOOK = 16

/** A series that a look found. */
export interface FoundSeries {
  readonly type: RecordType
  readonly labels: Labels
  /** Where its files are; one of the same labels at another place is opened there. */
  readonly place: string
  open(): SlowSeries
}

/** The files of one series, which move slowly or are slow to read. */
export interface SlowSeries {
  /** What was read last; undefined if nothing was. */
  readonly values: Readonly<Record<string, unknown>> | undefined
  read(): void
  close(): void
}

/** A series that is read. */
interface KnownSeries extends Pick<FoundSeries, 'type' | 'labels' | 'place'> {
  readonly series: SlowSeries
  /** The sweep before which it is left alone. */
  restsUntil: number
  /** What its last read took. Unit: milliseconds. */
  tookMs: number
}

/** Options of {@link SlowPart}. */
export interface SlowPartOptions {
  /** Types that it may report, and what it means when there is no series of one. */
  readonly types: readonly (readonly [type: RecordType, none: string])[]
  /** Series at most; further ones are dropped and counted for the reason of the limit. */
  readonly limit: readonly [reason: string, count: number]
  /**
   * Series read in one sweep, in turn, and more where a turn would last too long. Of a type that says `inTurns` nothing
   * is reported of the others, else what was last read.
   */
  readonly readsPerSweep: number
  /** Names on the way to the folder below sysfs that lists them. */
  readonly folder: readonly string[]
  /** Makes what finds the series by the names in the folder. */
  readonly finder: (reader: HostReader) => (names: string[]) => readonly FoundSeries[]
}

/**
 * Reads series a few at a sweep. To ask a sensor may be a command to some firmware: one that takes long twice is left
 * alone for as many sweeps as it took milliseconds.
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

  /** Reads those whose turn it is; which these were. */
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
      // One read alone may have taken long because this process had to wait.
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
    this.#tellTypes(found)
  }

  #tellTypes(found: readonly FoundSeries[] | ReadFailure): void {
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

/** A part whose series are read a few at a sweep. */
export function slowPart(options: SlowPartOptions): HostPartDefinition {
  return { types: options.types.map(([type]) => type), create: (reader) => new SlowPart(reader, options) }
}

/** A file that holds one field, and how to read it. */
export interface FieldFile {
  readonly field: string
  readonly file: KernelFile
  readonly parse: ParseAttribute<number | bigint | string>
}

/** A series of which each field is a file. Without a field that is not optional there is no record. */
export class FileSeries implements SlowSeries {
  values: Readonly<Record<string, unknown>> | undefined
  readonly #type: RecordType
  readonly #attributes: AttributeReader
  readonly #files: readonly FieldFile[]

  constructor(reader: HostReader, { type, labels }: Pick<FoundSeries, 'type' | 'labels'>, files: readonly FieldFile[]) {
    this.#type = type
    this.#files = files.map((one) => ({ ...one, parse: within(type, one.field, one.parse) }))
    this.#attributes = reader.attributes(type, labels)
    const { absences } = this.#attributes
    const given = new Set(files.map(({ field }) => field))
    for (const { name, field } of type.layout.slots)
      if (field.optional && !given.has(name)) absences.absent(name, 'unsupported', 'the kernel has no file of it')
  }

  read(): void {
    const values: Record<string, unknown> = {}
    for (const { field, file, parse } of this.#files) {
      // A series without what it is about is absent as a whole.
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
