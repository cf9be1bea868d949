import type { Slot } from '@sonde/sdk/internal'
import { decodeColumn } from '../codec/decode-column.ts'
import { encodeColumn } from '../codec/encode-column.ts'
import { Scratch } from '../codec/scratch.ts'
import {
  addColumn,
  COUNTER_PARTS,
  DAY_BINS,
  emptyAll,
  emptyBins,
  type FieldBins,
  GAUGE_PARTS,
  HOUR_BINS,
  layOver,
  maskOf,
} from './bins.ts'
import { inTransaction } from './database.ts'
import { type FieldVersion, gather } from './gather.ts'
import { type NewSegment, RAW, ROLLUP, type StoreSegment } from './segments.ts'
import { DAY_HOURS, DAY_MS, dayOf, hourStartMs } from './slots-of-time.ts'
import type { StoredType } from './store-catalogue.ts'
import type { StoreFile } from './store-file.ts'

/** Samples of one field in memory at the same time: as many as fit into the arena. */
const SAMPLE_BUDGET = 1 << 20
/** Series of a segment. */
const SERIES_BLOCK_LIMIT = 1024

const encodeScratch = new Scratch()
const decodeScratch = new Scratch()

/** Whether roll-ups keep a field: only counters and gauges with a single number. */
export function isRolled({ field }: Slot): boolean {
  return (field.role === 'counter' || field.role === 'gauge') && field.count === 1
}

/**
 * Creates the roll-up of a type's day from those raw hours that are in no roll-up, and the hours after them, whose
 * first gain changes. The other hours keep the bins of an earlier roll-up. The new segments are laid over the old
 * segments, which are deleted last. So questions may come in between, and after a crash the work is simply repeated.
 */
export function* rollUp(file: StoreFile, stored: StoredType, day: number): Generator<undefined, void> {
  const nextDay = (day + 1) * DAY_HOURS
  const raw = file.segments.ofSlots(RAW, stored.id, day * DAY_HOURS, nextDay - 1)
  const before = file.segments.ofSlots(ROLLUP, stored.id, day, day)
  const ids = [...new Set([...raw, ...before].flatMap(({ series }) => [...series]))].sort((a, b) => a - b)
  const fresh = raw.flatMap(({ rolled, slot }) => (rolled === 'no' ? [slot, slot + 1] : []))
  const hours = new Set(fresh.filter((hour) => dayOf(hour) === day))
  const slots = stored.type.time === undefined ? [] : stored.type.layout.slots.filter(isRolled)
  const samples = raw.reduce((sum, segment) => sum + segment.samples, 0)
  const atOnce = Math.max(1, Math.floor((SAMPLE_BUDGET * ids.length) / Math.max(1, samples)))
  const source = [...raw, ...before].at(-1)?.source ?? 0
  for (const block of slots.length === 0 ? [] : blocksOf(ids, SERIES_BLOCK_LIMIT)) {
    const chunks = new Map<number, (Uint8Array | undefined)[]>()
    for (const slot of slots) {
      const bodies: (Uint8Array | undefined)[] = []
      for (const part of blocksOf(block, atOnce)) {
        bodies.push(...binChunks(file, { stored, slot }, day, part, before, hours))
        yield
      }
      chunks.set(slot.index + 1, bodies)
    }
    const segment = segmentOfBins(stored, source, day, block, chunks, [...raw, ...before])
    inTransaction(file.database, () => file.segments.insert([segment]))
  }
  inTransaction(file.database, () => {
    for (const { id } of before) file.segments.delete(id)
    for (const { id, rolled } of raw) if (rolled === 'no') file.segments.markRolled(id, 'yes')
    if (fresh.includes(nextDay)) rollAgain(file, stored, nextDay)
  })
}

/** The roll-up of an hour's day computes its first gain from the hour before, whose readings have changed. */
function rollAgain(file: StoreFile, { id: type }: StoredType, hour: number): void {
  for (const { id, rolled } of file.segments.ofSlots(RAW, type, hour, hour))
    if (rolled === 'yes') file.segments.markRolled(id, 'no')
}

function* blocksOf(ids: readonly number[], count: number): Generator<readonly number[]> {
  for (let at = 0; at < ids.length; at += count) yield ids.slice(at, at + count)
}

function binChunks(
  file: StoreFile,
  version: FieldVersion,
  day: number,
  ids: readonly number[],
  before: readonly StoreSegment[],
  hours: ReadonlySet<number>,
): (Uint8Array | undefined)[] {
  const isCounter = version.slot.field.role === 'counter'
  const firstBin = day * DAY_BINS
  const samples = gather(file, {
    versions: [version],
    series: ids.flatMap((id) => file.catalogue.seriesById(id) ?? []),
    // The hour before provides the reading for the first gain.
    fromMs: hourStartMs(Math.min(...hours) - 1),
    toMs: hourStartMs(Math.max(...hours) + 1),
    skip: ({ slot, rolled }) => rolled === 'yes' && !hours.has(slot) && !hours.has(slot + 1),
  })
  const make = () => emptyBins(firstBin, DAY_BINS, isCounter)
  const same = unchanged(file, before, version.slot, new Set(ids.filter((id) => !samples.has(id))))
  const known = readBins(file, before, version.slot, new Set(ids.filter((id) => !same.has(id))), make)
  // Series come and go, and most have few samples: allocating bins for each would take longer than reading the samples.
  const [own, fresh] = [make(), make()]
  const mask = maskOf(own, (bin) => hours.has(Math.floor(bin / HOUR_BINS)))
  return ids.map((id) => {
    if (same.has(id)) return same.get(id)
    const columns = samples.get(id)?.take() ?? []
    const bins = known.get(id) ?? own
    if (bins === own) emptyAll(own)
    for (const column of columns) {
      emptyAll(fresh)
      addColumn(fresh, column, isCounter, mask)
      layOver(bins, fresh)
    }
    return encodeBins(bins)
  })
}

/**
 * Chunks of series without new samples, copied from the only earlier segment that has bins of them: most series of a
 * day of pods are gone when it is rolled up again.
 */
function unchanged(
  file: StoreFile,
  segments: readonly StoreSegment[],
  slot: Slot,
  wanted: ReadonlySet<number>,
): Map<number, Uint8Array> {
  const found = new Map<number, Uint8Array>()
  const several: number[] = []
  for (const [id, body] of chunksOf(file, segments, slot, wanted)) {
    if (found.has(id)) several.push(id)
    found.set(id, body)
  }
  for (const id of several) found.delete(id)
  return found
}

/** Chunks of roll-ups and their series, in the order of the segments. */
function* chunksOf(
  file: StoreFile,
  segments: readonly StoreSegment[],
  slot: Slot,
  wanted: ReadonlySet<number>,
): Generator<readonly [id: number, body: Uint8Array, segment: StoreSegment]> {
  for (const segment of wanted.size === 0 ? [] : segments) {
    file.breathe()
    const numbers = [...segment.series.keys()].filter((number) => wanted.has(segment.series[number] ?? -1))
    for (const [number, body] of file.segments.chunks(segment, slot.index + 1, numbers))
      yield [segment.series[number] ?? -1, body, segment]
  }
}

/** Bins of roll-ups by series, later segments laid over earlier segments; `make` creates the empty bins. */
export function readBins(
  file: StoreFile,
  segments: readonly StoreSegment[],
  slot: Slot,
  wanted: ReadonlySet<number>,
  make: () => FieldBins,
): Map<number, FieldBins> {
  const found = new Map<number, FieldBins>()
  const parts = (slot.field.role === 'counter' ? COUNTER_PARTS : GAUGE_PARTS).length
  for (const [id, body, segment] of chunksOf(file, segments, slot, wanted)) {
    const bins = found.get(id) ?? make()
    found.set(id, bins)
    // Decoded values are copied at once, so one piece of memory serves all.
    const into = decodeScratch.words(parts * DAY_BINS)
    file.readChunk(() => layOver(bins, decodeBins(body, segment.slot, parts, into)))
  }
  return found
}

function encodeBins({ parts }: FieldBins): Uint8Array | undefined {
  const [last, end] = parts
  const present = new Uint8Array(Math.ceil(DAY_BINS / 8))
  let filled = 0
  for (let i = 0; i < DAY_BINS; i++) {
    if ((end?.[i] ?? 0) === 0) continue
    present[i >> 3] = (present[i >> 3] ?? 0) | (1 << (i & 7))
    filled++
  }
  if (filled === 0 || last === undefined) return undefined
  const values = encodeScratch.numbers(DAY_BINS * parts.length)
  for (const [index, part] of parts.entries()) values.set(part, index * DAY_BINS)
  const words = new Uint32Array(values.buffer, values.byteOffset, 2 * values.length)
  return encodeColumn({ kind: 'f64', count: DAY_BINS, elements: parts.length, words, present, texts: null })
}

function decodeBins(body: Uint8Array, day: number, parts: number, into: Uint32Array): FieldBins {
  const { words, count } = decodeColumn(body, { into })
  const values = new Float64Array(words.buffer, words.byteOffset, words.length >> 1)
  const of = (index: number) => values.subarray(index * count, (index + 1) * count)
  return { firstBin: day * DAY_BINS, parts: Array.from({ length: parts }, (_, index) => of(index)) }
}

function segmentOfBins(
  stored: StoredType,
  source: number,
  day: number,
  series: readonly number[],
  chunks: NewSegment['chunks'],
  from: readonly StoreSegment[],
): NewSegment {
  return {
    level: ROLLUP,
    type: stored.id,
    source,
    clock: from[0]?.clock ?? 'wall',
    slot: day,
    firstMs: Math.max(day * DAY_MS, Math.min(...from.map(({ firstMs }) => firstMs))),
    lastMs: Math.min((day + 1) * DAY_MS, Math.max(...from.map(({ lastMs }) => lastMs))),
    samples: DAY_BINS * series.length,
    rolled: 'never',
    series: Uint32Array.from(series),
    timesOf: new Uint32Array(series.length),
    chunks,
  }
}
