import type { Column, QueryFunction } from '@sonde/sdk/internal'
import {
  addBins,
  addColumn,
  BIN_MS,
  binOf,
  columnOfBins,
  emptyBins,
  type FieldBins,
  HOUR_BINS,
  layOver,
  maskOf,
} from './bins.ts'
import { type FieldVersion, type GatherRequest, gather } from './gather.ts'
import { isRolled, readBins } from './rollup.ts'
import { RAW, ROLLUP } from './segments.ts'
import { hourOf, hourStartMs } from './slots-of-time.ts'
import type { StoreFile } from './store-file.ts'

/** Memory for bins of one block of series. */
const BLOCK_BYTES = 32 << 20
const BIN_BYTES = 48

/** The requirements of a question for its columns. */
export interface BinRequest {
  readonly function: QueryFunction
  readonly stepMs: number
  /** How far before the window samples are needed; also before the first bin. Unit: milliseconds. */
  readonly leadMs: number
  readonly intervalMs: number
}

/**
 * Whether bins answer a question: if they give exactly the same numbers, which holds for steps of whole bins; or if
 * some raw samples of the window are deleted. Bins only store what the role of a field needs.
 */
export function isForBins(file: StoreFile, { versions, fromMs, toMs }: GatherRequest, asked: BinRequest): boolean {
  const allowed = versions.every(({ slot }) => {
    const functions: QueryFunction[] =
      slot.field.role === 'counter' ? ['last', 'rate', 'increase'] : ['last', 'avg', 'min', 'max']
    return isRolled(slot) && functions.includes(asked.function)
  })
  if (!allowed) return false
  return versions.some(({ stored }) => {
    const rolled = file.segments.inRange(ROLLUP, stored.id, fromMs, toMs)
    if (rolled.length === 0) return false
    if (asked.stepMs % BIN_MS === 0) return true
    const oldest = file.segments.inRange(RAW, stored.id, 0, toMs)[0]
    const rawMs = Math.min(...(oldest === undefined ? [] : [hourStartMs(oldest.slot)]), file.head.oldestMs(stored.id))
    return rolled.some(({ firstMs }) => firstMs < rawMs)
  })
}

/** Series whose bins are computed at a time. */
export function blockCountOfBins({ fromMs, toMs }: Pick<GatherRequest, 'fromMs' | 'toMs'>): number {
  const count = Math.ceil(toMs / BIN_MS) - binOf(fromMs)
  return Math.max(1, Math.floor(BLOCK_BYTES / (BIN_BYTES * count)))
}

/** The columns of a question's series, from roll-ups, and from raw samples for times without roll-ups. */
export function* binColumns(file: StoreFile, wanted: GatherRequest, asked: BinRequest): Generator<readonly Column[]> {
  const { versions, series, toMs } = wanted
  const firstBin = binOf(wanted.fromMs)
  const count = Math.ceil(toMs / BIN_MS) - firstBin
  const isCounter = versions[0]?.slot.field.role === 'counter'
  const isWhole = asked.stepMs % BIN_MS === 0
  const stepBins = isWhole ? asked.stepMs / BIN_MS : 1
  const intervalMs = isWhole ? asked.intervalMs : BIN_MS
  const blockCount = blockCountOfBins(wanted)
  for (let at = 0; at < series.length; at += blockCount) {
    const block = { ...wanted, series: series.slice(at, at + blockCount) }
    const totals = new Map<number, FieldBins>()
    for (const version of versions) {
      for (const [id, bins] of binsOfVersion(file, version, block, asked, () =>
        emptyBins(firstBin, count, isCounter),
      )) {
        const total = totals.get(id)
        if (total === undefined) totals.set(id, bins)
        else addBins(total, bins, isCounter)
      }
    }
    for (const { id, labels } of block.series) {
      const bins = totals.get(id)
      const column = bins === undefined ? undefined : columnOfBins(bins, isCounter, asked.function, stepBins)
      if (column !== undefined && column.times.length > 0) yield [{ labels, intervalMs, ...column }]
    }
  }
}

function binsOfVersion(
  file: StoreFile,
  version: FieldVersion,
  { series, fromMs, toMs }: GatherRequest,
  asked: BinRequest,
  make: () => FieldBins,
): Map<number, FieldBins> {
  const isCounter = version.slot.field.role === 'counter'
  const rollUps = file.segments.inRange(ROLLUP, version.stored.id, fromMs, toMs)
  const bins = readBins(file, rollUps, version.slot, new Set(series.map(({ id }) => id)), make)
  const dirty = dirtyHours(file, version.stored.id, fromMs, toMs)
  const samples = gather(file, {
    versions: [version],
    series,
    fromMs: binOf(fromMs) * BIN_MS - asked.leadMs,
    toMs,
    // The hour before provides the reading for the first gain.
    skip: ({ rolled, slot }) => rolled === 'yes' && !dirty.has(slot) && !dirty.has(slot + 1),
  })
  const mask = maskOf(make(), (bin) => dirty.has(Math.floor(bin / HOUR_BINS)))
  for (const [id, found] of samples) {
    const fresh = make()
    for (const column of found.take()) addColumn(fresh, column, isCounter, mask)
    const under = bins.get(id)
    if (under === undefined) bins.set(id, fresh)
    else layOver(under, fresh)
  }
  return bins
}

/**
 * Hours with records that are in no roll-up, and the hours after them, whose first gain changes: they are read
 * completely, as far as their raw samples exist.
 */
function dirtyHours(file: StoreFile, type: number, fromMs: number, toMs: number): Set<number> {
  const segments = file.segments.inRange(RAW, type, fromMs, toMs).filter(({ rolled }) => rolled !== 'yes')
  const hours = new Set<number>()
  for (const { firstMs, lastMs } of [...segments, ...file.head.rangesIn(type, fromMs, toMs)]) {
    const last = hourOf(Math.min(lastMs, toMs)) + 1
    for (let hour = hourOf(Math.max(firstMs, fromMs)); hour <= last; hour++) hours.add(hour)
  }
  return hours
}
