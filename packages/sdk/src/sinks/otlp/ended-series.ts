import type { Batch, SourceInfo } from '../../schema/batch.ts'
import { absenceType } from '../../schema/builtin.ts'
import type { PointBlock } from '../../wire/otlp/points.ts'
import { readAbsences } from '../prometheus/absences.ts'
import { emptyBlock } from './empty-block.ts'
import type { SeriesOrigin, SeriesState } from './temporality.ts'

/** A series without a record for so long has ended. Unit: milliseconds. */
const EXPIRY_MS = 300_000
/** Between two searches for series that have expired. Unit: milliseconds. */
const EXPIRY_EVERY_MS = 10_000
/** A point that says that a series has ended stands behind its last record. Unit: nanoseconds. */
const BEHIND_NS = 1_000_000

/** The series of a type from one source. */
interface OwnedSeries {
  readonly series: Set<SeriesState>
  /** One for each version of the type. */
  readonly origins: Set<SeriesOrigin>
}

/**
 * Which series have ended: those of devices and sources that are gone, and those without a record for five minutes. A
 * last point without a value says so to the receiver. An ended series is forgotten; a later record begins it anew.
 */
export class EndedSeries {
  /** By identity. */
  readonly #series: Map<string, SeriesState>
  readonly #nowMs: () => number
  /** By source and type. */
  readonly #owned = new Map<string, Map<string, OwnedSeries>>()
  readonly #ending = new Set<SeriesState>()
  /** Sources that have ended, and since when. Unit: milliseconds since the Unix epoch. */
  readonly #retired = new Map<string, number>()
  #expireAtMs = 0

  /** @param series All series; those that end are removed. `nowMs` is a clock that never goes back. */
  constructor(series: Map<string, SeriesState>, nowMs: () => number) {
    this.#series = series
    this.#nowMs = nowMs
  }

  /** Whether series have ended that the receiver does not know of. */
  get hasAny(): boolean {
    return this.#ending.size > 0
  }

  /** A series begins. */
  add(series: SeriesState): void {
    const { origin } = series
    const types = this.#owned.get(origin.owner) ?? new Map<string, OwnedSeries>()
    const owned = types.get(origin.type) ?? { series: new Set(), origins: new Set() }
    owned.series.add(series)
    owned.origins.add(origin)
    this.#owned.set(origin.owner, types.set(origin.type, owned))
  }

  /** A series has a record. */
  continues(series: SeriesState): void {
    if (this.#ending.size > 0) this.#ending.delete(series)
  }

  /** Takes a batch of absences. False if it is another batch. */
  take(batch: Batch): boolean {
    if (batch.type.fingerprint !== absenceType.fingerprint) return false
    const owner = ownerText(batch.source)
    const wholeTypes = new Set<string>()
    for (const { type, series, isWhole } of readAbsences(batch)) {
      const owned = this.#owned.get(owner)?.get(type)
      if (!isWhole || owned === undefined || wholeTypes.has(type)) continue
      if (series === '') {
        wholeTypes.add(type)
        for (const each of owned.series) this.#ending.add(each)
      } else for (const { keyOf } of owned.origins) this.#end(this.#series.get(keyOf(series)))
    }
    return true
  }

  /** A source ends when all its records have been sent, which holds once a record after this moment has been sent. */
  retire(source: SourceInfo, nowMs: number): void {
    const owner = ownerText(source)
    if (this.#owned.has(owner)) this.#retired.set(owner, nowMs)
  }

  /**
   * The last points of the series that have ended since the last call. Call it when no request is under way.
   * `newestMs`: time of the newest record that was sent.
   */
  blocks(newestMs: number): PointBlock[] {
    for (const [owner, retiredMs] of this.#retired) {
      if (newestMs < retiredMs) continue
      this.#retired.delete(owner)
      for (const { series } of this.#owned.get(owner)?.values() ?? []) for (const each of series) this.#ending.add(each)
    }
    this.#findExpired()
    return this.#blocksOf(this.#ending)
  }

  /** The last points of all series. */
  allBlocks(): PointBlock[] {
    return this.#blocksOf(this.#series.values())
  }

  /** Forgets all but the series that are there still. */
  forget(): void {
    this.#owned.clear()
    this.#ending.clear()
    this.#retired.clear()
    for (const series of this.#series.values()) this.add(series)
  }

  #end(series: SeriesState | undefined): void {
    if (series !== undefined) this.#ending.add(series)
  }

  #findExpired(): void {
    const nowMs = this.#nowMs()
    if (nowMs < this.#expireAtMs) return
    this.#expireAtMs = nowMs + EXPIRY_EVERY_MS
    for (const series of this.#series.values()) if (nowMs - series.seenMs > EXPIRY_MS) this.#ending.add(series)
  }

  #blocksOf(ended: Iterable<SeriesState>): PointBlock[] {
    const blocks = Array.from(
      Map.groupBy(ended, ({ origin }) => origin),
      ([origin, series]) => lastPoints(origin, series),
    )
    for (const series of [...ended]) this.#remove(series)
    return blocks
  }

  #remove(series: SeriesState): void {
    const { key, origin } = series
    series.hasEnded = true
    this.#ending.delete(series)
    this.#series.delete(key)
    const types = this.#owned.get(origin.owner)
    const owned = types?.get(origin.type)
    owned?.series.delete(series)
    if (owned?.series.size === 0) types?.delete(origin.type)
    if (types?.size === 0) this.#owned.delete(origin.owner)
  }
}

/** A source and its successor have the same text. */
export function ownerText({ id, tag, labels }: SourceInfo): string {
  return JSON.stringify([id, tag, labels])
}

/** A point without a value for each value that the series have. */
function lastPoints(origin: SeriesOrigin, series: readonly SeriesState[]): PointBlock {
  const block = emptyBlock(origin, series.length)
  for (const [record, each] of series.entries()) {
    block.attributes[record] = each.attributes
    block.histogramAttributes[record] = each.histogramAttributes
    const low = each.timeLow + BEHIND_NS
    block.times[record * 2] = low
    block.times[record * 2 + 1] = each.timeHigh + (low > 0xffff_ffff ? 1 : 0)
    for (const [index, values] of block.values.entries()) values.present[record] = each.end(index, values, record)
  }
  return block
}
