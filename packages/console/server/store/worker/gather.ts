import { isPresent } from '@sonde/sdk'
import { elementsOf, msFactorOf, type PeriodsByType, periodIn, type Slot } from '@sonde/sdk/internal'
import { decodeColumn } from '../codec/decode-column.ts'
import { Samples } from './samples.ts'
import { RAW, type StoreSegment, TIMES_FIELD } from './segments.ts'
import { timeMsAt } from './slots-of-time.ts'
import type { StoredSeries, StoredType } from './store-catalogue.ts'
import type { StoreFile } from './store-file.ts'

/** A field in one version of its type. */
export interface FieldVersion {
  readonly stored: StoredType
  readonly slot: Slot
}

/** The samples to gather: some series in `(fromMs, toMs]`. */
export interface GatherRequest {
  readonly versions: readonly FieldVersion[]
  readonly series: readonly StoredSeries[]
  readonly fromMs: number
  readonly toMs: number
  /** Segments to skip. Default: none. */
  readonly skip?: (segment: StoreSegment) => boolean
}

interface Scratch {
  words: Uint32Array
}

/** Samples by series id; series without samples are left out. Valid until the next gathering from the same file. */
export function gather(file: StoreFile, wanted: GatherRequest): Map<number, Samples> {
  const { versions, series, fromMs, toMs, skip } = wanted
  file.arena.reset()
  const elements = versions[0] === undefined ? 1 : elementsOf(versions[0].slot).length
  const isExact = versions.every(({ slot }) => slot.field.kind === 'u64')
  const parts = versions.flatMap((version) => {
    if (version.stored.type.time === undefined) return []
    const segments = file.segments.inRange(RAW, version.stored.id, fromMs, toMs)
    return segments.filter((segment) => skip?.(segment) !== true).map((segment) => ({ version, segment }))
  })
  const expected = parts.reduce((sum, { segment }) => sum + segment.samples / Math.max(1, segment.series.length), 0)
  const empty = ({ labels }: StoredSeries) =>
    new Samples(labels, { form: isExact ? 'words' : 'numbers', elements }, Math.ceil(expected), file.arena)
  const found = new Map(series.map((one) => [one.id, empty(one)]))
  const scratch: Scratch = { words: new Uint32Array(2048) }
  for (const { version, segment } of parts) {
    file.breathe()
    gatherSegment(file, version, segment, found, wanted, scratch)
  }
  for (const version of versions) gatherHead(file, version, found, wanted)
  for (const [id, samples] of found) if (samples.count === 0) found.delete(id)
  return found
}

function gatherSegment(
  file: StoreFile,
  { stored, slot }: FieldVersion,
  segment: StoreSegment,
  found: ReadonlyMap<number, Samples>,
  { fromMs, toMs }: GatherRequest,
  scratch: Scratch,
): void {
  const elements = elementsOf(slot).length
  const numbers: number[] = []
  for (let i = 0; i < segment.series.length; i++) if (found.has(segment.series[i] ?? -1)) numbers.push(i)
  if (numbers.length === 0) return
  const factor = msFactorOf(stored.type)
  const periods = file.periods.within(segment.source, { fromMs, toMs })
  const timesOf = timesReader(file, segment, factor)
  for (const [number, body] of file.segments.chunks(segment, slot.index + 1, numbers)) {
    const samples = found.get(segment.series[number] ?? -1)
    file.readChunk(() => {
      const times = timesOf(number)
      // Decoded values are copied at once, so one piece of memory serves all chunks.
      const column = decodeColumn(
        body,
        elements < slot.field.count ? { elements: [0], into: scratch.words } : { into: scratch.words },
      )
      if (column.words.length > scratch.words.length) scratch.words = new Uint32Array(column.words.length)
      if (samples === undefined || times === undefined || times.length !== column.count || column.elements !== elements)
        return
      samples.intervalMs = periodIn(periods, stored.type, samples.labels)
      const isWhole = segment.firstMs > fromMs && segment.lastMs <= toMs
      samples.appendColumn(
        times,
        column,
        isWhole ? 0 : firstAfter(times, fromMs),
        isWhole ? times.length : firstAfter(times, toMs),
      )
    })
  }
}

/** Times of a series of a segment in milliseconds. Series that were sampled together share one chunk. */
function timesReader(file: StoreFile, segment: StoreSegment, factor: number) {
  let owner = -1
  let times: Float64Array | undefined
  return (number: number): Float64Array | undefined => {
    const next = segment.timesOf[number] ?? number
    if (next === owner) return times
    owner = next
    times = file.segments.times.of(segment.id, owner, () => {
      const body = file.segments.chunk(segment.id, TIMES_FIELD, owner)
      return body === undefined ? undefined : millisecondsOf(decodeColumn(body).words, factor)
    })
    return times
  }
}

function millisecondsOf(words: Uint32Array, factor: number): Float64Array {
  const times = new Float64Array(words.length >> 1)
  for (let i = 0; i < times.length; i++) {
    times[i] = ((words[2 * i + 1] ?? 0) * 4294967296 + (words[2 * i] ?? 0)) * factor
  }
  return times
}

/** Index of the first time after `timeMs`. */
function firstAfter(times: Float64Array, timeMs: number): number {
  let low = 0
  let high = times.length
  while (low < high) {
    const middle = (low + high) >> 1
    if ((times[middle] ?? 0) > timeMs) high = middle
    else low = middle + 1
  }
  return low
}

function gatherHead(
  file: StoreFile,
  { stored, slot }: FieldVersion,
  found: ReadonlyMap<number, Samples>,
  { fromMs, toMs }: GatherRequest,
): void {
  const { type } = stored
  if (type.time === undefined) return
  const { layout } = type
  const elements = elementsOf(slot)
  const factor = msFactorOf(type)
  const known = new Map<number, PeriodsByType | undefined>()
  const periodsOf = (source: number) => {
    if (!known.has(source)) known.set(source, file.periods.within(source, { fromMs, toMs }))
    return known.get(source)
  }
  for (const row of file.head.inRange(stored.id, fromMs, toMs)) {
    file.breathe()
    const writer = file.writers.of(row.writer)
    if (writer === undefined) continue
    const resolver = file.writers.resolver(writer, stored)
    const { views } = row
    const { source } = writer
    const periods = periodsOf(source)
    for (let at = 0; at + layout.recordBytes <= row.body.length; at += layout.recordBytes) {
      const timeMs = timeMsAt(views, at, type.time.offset, factor)
      if (timeMs <= fromMs || timeMs > toMs || !isPresent(layout, slot, views, at)) continue
      const samples = found.get(resolver.of(views, at, file.catalogue.findSeries)?.id ?? -1)
      if (samples === undefined) continue
      if (samples.source !== source) {
        samples.source = source
        samples.intervalMs = periodIn(periods, type, samples.labels)
      }
      samples.appendRecord(timeMs, elements, views, at)
    }
  }
}
