import type { Batch, SourceInfo } from './batch.ts'
import { periodType } from './builtin.ts'
import { deviceLabelOf } from './entity.ts'
import { readRecords } from './reader.ts'
import type { RecordType } from './record-type.ts'
import { type Labels, labelOf } from './series.ts'
import { viewsOf } from './views.ts'

/** Limit of known types and devices of one source, because a client may name any. Further devices have no period. */
const ENTRY_COUNT_LIMIT = 1024

/** A day: what comes more rarely has no period. Unit: microseconds. */
export const PERIOD_US_MAX = 86_400_000_000

/**
 * The period of records in a record of `sonde_period`; undefined if there is none, or it exceeds a day: a client may
 * report any number. Unit: milliseconds.
 */
export function reportMsOf({ report_us }: { readonly report_us: number | bigint }): number | undefined {
  const us = Number(report_us)
  return us > 0 && us <= PERIOD_US_MAX ? us / 1000 : undefined
}

/** Report periods of one source, by type and by device within it; empty stands for all. Unit: milliseconds. */
export type PeriodsByType = ReadonlyMap<string, ReadonlyMap<string, number>>

/**
 * How often sources report, as their records of `sonde_period` say: the period of a type and device, else that of the
 * type, of the device, of the source. A view keeps one, and gives it every batch.
 */
export class Periods {
  readonly #sources = new WeakMap<object, Map<string, Map<string, number>>>()
  /** The longest of each source: asked for every series that may have expired. */
  readonly #longest = new WeakMap<object, number>()

  /** Learns from a batch; those of other types say nothing. */
  take(batch: Batch): void {
    if (batch.type.fingerprint !== periodType.fingerprint) return
    const owner = ownerOf(batch.source)
    let periods = this.#sources.get(owner)
    if (periods === undefined) {
      periods = new Map()
      this.#sources.set(owner, periods)
    }
    let count = periods.values().reduce((sum, devices) => sum + devices.size, 0)
    for (const said of readRecords(periodType, viewsOf(batch.bytes), batch.count, batch.symbols)) {
      const { type, device } = said
      const periodMs = reportMsOf(said)
      if (periodMs === undefined) continue
      const devices = periods.get(type)
      if (devices?.has(device) !== true && count++ >= ENTRY_COUNT_LIMIT) continue
      if (devices === undefined) periods.set(type, new Map([[device, periodMs]]))
      else devices.set(device, periodMs)
    }
    this.#longest.set(owner, Math.max(0, ...Array.from(periods.values(), (devices) => Math.max(...devices.values()))))
  }

  /** How far apart records of a series are; 0 if nobody said it. Unit: milliseconds. */
  ofSeries(source: SourceInfo, type: RecordType, labels: Labels): number {
    return periodIn(this.#sources.get(ownerOf(source)), type, labels)
  }

  /** The longest that any series of a type may have, or of any type; 0 if nobody said it. Unit: milliseconds. */
  longestOf(source: SourceInfo, type?: RecordType): number {
    const owner = ownerOf(source)
    return type === undefined ? (this.#longest.get(owner) ?? 0) : longestIn(this.#sources.get(owner), type)
  }
}

/** The period of a series; 0 if nobody said it, or where the series of its type are read in turns. */
export function periodIn(
  periods: PeriodsByType | undefined,
  type: Pick<RecordType, 'name' | 'inTurns' | 'entity'>,
  labels: Labels,
): number {
  if (periods === undefined || type.inTurns) return 0
  const device = deviceOf(type, labels)
  for (const devices of [periods.get(type.name), periods.get('')]) {
    const periodMs = devices?.get(device) ?? devices?.get('')
    if (periodMs !== undefined) return periodMs
  }
  return 0
}

/** The longest period that a series of a type may have; 0 if nobody said any. */
export function longestIn(periods: PeriodsByType | undefined, type: Pick<RecordType, 'name' | 'inTurns'>): number {
  if (periods === undefined || type.inTurns) return 0
  return Math.max(0, ...(periods.get(type.name)?.values() ?? []), ...(periods.get('')?.values() ?? []))
}

/** The device that a series is about. A label of another meaning may have the same text, as the name of a pod. */
function deviceOf(type: Pick<RecordType, 'entity'>, labels: Labels): string {
  const name = deviceLabelOf(type)
  return name === undefined ? '' : labelOf(labels, name)
}

/** A source that replaces another has its periods. */
function ownerOf(source: SourceInfo): object {
  return source.owner ?? source
}
