import { Arena } from './arena.ts'
import { compact } from './compaction.ts'
import { inTransaction, queryNumber } from './database.ts'
import type { HeadUnit } from './head.ts'
import { rollUp } from './rollup.ts'
import { RAW, ROLLUP } from './segments.ts'
import type { SeriesLookup } from './series-resolver.ts'
import { DAY_MS, dayOf, hourOf } from './slots-of-time.ts'
import type { StoreFile } from './store-file.ts'

/**
 * Size of the records of a unit that are compacted at once; a busier hour becomes several segments. It needs twice as
 * much memory, which the process keeps. Unit: bytes.
 */
export const COMPACT_BYTES = 8 << 20
/** The part of the file that records may always use, even if names use more than the rest. */
const RECORDS_PART = 3 / 4
/** Free space that is kept for the records of the next hour, besides an eighth of the file. Unit: bytes. */
const FREE_BYTES = 4 << 20
/** Pages that are returned to the disk in one turn. */
const VACUUM_PAGES = 256
/**
 * Hours of an unfinished day that are rolled up together. A question about the last day reads about as many hours from
 * raw samples, and the roll-up of a day is written four times.
 */
const FLOW_HOURS = 6
/** Hours after which a series without a segment is forgotten. */
const SERIES_IDLE_HOURS = 2

/**
 * Runs the due work: compaction of past hours, roll-ups, retention. A generator, so that questions get their turn in
 * between. A day with newly compacted records may get more of them, because it is not over or because old records are
 * being read in. It is rolled up six hours at a time.
 */
export function* maintain(file: StoreFile, nowMs: number): Generator<undefined, void> {
  const currentHour = hourOf(nowMs)
  const inFlow = new Set<number>([dayOf(currentHour)])
  for (const unit of file.head.units()) {
    if (unit.hour >= currentHour && unit.bytes < COMPACT_BYTES) continue
    inFlow.add(dayOf(unit.hour))
    yield* compactUnit(file, unit, unit.hour < currentHour ? 1 : COMPACT_BYTES)
  }
  yield* moveHead(file)
  for (const { type, day, hours } of file.segments.daysToRoll()) {
    if (!inFlow.has(day) || hours >= FLOW_HOURS) yield* rollUpDay(file, type, day)
  }
  yield* expireByAge(file, nowMs)
  yield* expireBySize(file)
  forgetUnused(file, nowMs)
  yield* giveBack(file)
}

/**
 * Compacts the current records of a unit while there are at least `leastBytes`. Records that come meanwhile wait for
 * the next upkeep, which makes a larger segment of them.
 */
function* compactUnit(file: StoreFile, unit: HeadUnit, leastBytes: number): Generator<undefined, void> {
  const stored = file.catalogue.types.get(unit.type)
  const writer = file.writers.of(unit.writer)
  const addSeries: SeriesLookup = (typeName, labels) => file.catalogue.seriesOfStored(typeName, labels)
  let memory: Uint8Array = new Uint8Array(0)
  const arena = new Arena()
  for (let { bytes } = unit; bytes >= leastBytes; ) {
    const records = file.head.ofUnit(unit, COMPACT_BYTES, memory)
    if (records.ids.length === 0) return
    // New memory for each part of a backlog would have to be cleared and collected.
    memory = new Uint8Array(records.bytes.buffer)
    const segments =
      stored === undefined || writer === undefined
        ? []
        : yield* compact(
            unit,
            records,
            stored,
            { id: writer.source, symbols: writer.symbols },
            {
              resolver: file.writers.resolver(writer, stored),
              lookup: addSeries,
            },
            arena,
          )
    inTransaction(file.database, () => {
      file.segments.insert(segments)
      for (const id of records.ids) file.head.delete(id)
    })
    file.head.deleteEmptyFiles()
    bytes -= records.bytes.length
    yield
    // Under load, compaction of everything takes long.
    yield* expireBySize(file)
  }
}

/** Moves the remaining rows out of head files with little data, so that the files can be deleted. */
function* moveHead(file: StoreFile): Generator<undefined, void> {
  for (const sparse of file.head.sparseFiles()) {
    while (inTransaction(file.database, () => file.head.moveRows(sparse, COMPACT_BYTES)) > 0) yield
  }
  file.head.deleteEmptyFiles()
}

function* rollUpDay(file: StoreFile, type: number, day: number): Generator<undefined, void> {
  const stored = file.catalogue.types.get(type)
  if (stored !== undefined) yield* rollUp(file, stored, day)
}

/**
 * The time for the age of history. If the wall clock is set ahead while the store runs, history does not become older
 * by that.
 */
export function ageingClockMs(wallMs: number): number {
  return Math.min(wallMs, performance.timeOrigin + performance.now())
}

function* expireByAge(file: StoreFile, nowMs: number): Generator<undefined, void> {
  const { retentionDays, rollupRetentionDays } = file.settings
  const agedMs = ageingClockMs(nowMs)
  const rawLimit = hourOf(agedMs - retentionDays * DAY_MS)
  const dayLimit = dayOf(hourOf(agedMs - rollupRetentionDays * DAY_MS))
  for (;;) {
    const slot = file.segments.oldestSlot(RAW)
    if (slot === undefined || slot >= rawLimit) break
    yield* deleteHour(file, slot)
  }
  for (;;) {
    const slot = file.segments.oldestSlot(ROLLUP)
    if (slot === undefined || slot >= dayLimit) break
    deleteSlot(file, ROLLUP, slot)
    yield
  }
}

/**
 * Over the size limit the oldest hours are deleted first, then the oldest roll-ups, then the oldest records that are
 * not yet compacted. Names over the limit do not cause this, because deleting records does not free names.
 */
function* expireBySize(file: StoreFile): Generator<undefined, void> {
  if (isTooLarge(file)) yield* moveHead(file)
  while (isTooLarge(file)) {
    const hour = file.segments.oldestSlot(RAW)
    const day = hour === undefined ? file.segments.oldestSlot(ROLLUP) : undefined
    if (hour !== undefined) yield* deleteHour(file, hour)
    else if (day !== undefined) deleteSlot(file, ROLLUP, day)
    else if (!inTransaction(file.database, () => file.head.deleteOldest())) return
    file.head.deleteEmptyFiles()
    yield
  }
}

function isTooLarge(file: StoreFile): boolean {
  const { maxBytes } = file.settings
  const usedBytes = file.usedBytes()
  return usedBytes > maxBytes && usedBytes - file.catalogue.fileBytes > maxBytes * RECORDS_PART
}

/** Deletes an hour, after its day is rolled up. */
function* deleteHour(file: StoreFile, hour: number): Generator<undefined, void> {
  for (const { type, day } of file.segments.daysToRoll()) {
    if (day === dayOf(hour)) yield* rollUpDay(file, type, day)
  }
  deleteSlot(file, RAW, hour)
  yield
}

function deleteSlot(file: StoreFile, level: number, slot: number): void {
  inTransaction(file.database, () => {
    for (const id of file.segments.idsOfSlot(level, slot)) file.segments.delete(id)
  })
}

/**
 * Deletes names without data: writers, series, types and sources, and clients that are gone for long.
 */
function forgetUnused(file: StoreFile, nowMs: number): void {
  const currentHour = hourOf(nowMs)
  inTransaction(file.database, () => {
    file.writers.deleteUnused()
    file.clients.prune(nowMs)
  })
  // Before that time, series may be only in the head, written before the file was opened.
  if (currentHour < Math.max(file.openedHour, file.cleanedHour) + SERIES_IDLE_HOURS) return
  file.cleanedHour = currentHour
  const used = file.segments.seriesIds()
  const isUsed = (id: number) => used.has(id)
  inTransaction(file.database, () => {
    file.catalogue.deleteSeries(currentHour - SERIES_IDLE_HOURS, isUsed)
    file.catalogue.deleteUnused(file.liveTypes)
    file.periods.deleteUnused()
  })
  file.writers.forgetSeries()
}

/** Returns free pages to the disk, and shortens the write-ahead log. */
function* giveBack(file: StoreFile): Generator<undefined, void> {
  const { database } = file
  const pageBytes = queryNumber(database, 'PRAGMA page_size')
  const isMuchFree = () => {
    const free = queryNumber(database, 'PRAGMA freelist_count')
    return free * pageBytes > FREE_BYTES + (queryNumber(database, 'PRAGMA page_count') * pageBytes) / 8
  }
  while (isMuchFree()) {
    database.exec(`PRAGMA incremental_vacuum(${VACUUM_PAGES})`)
    yield
  }
  // First the bytes that the log refers to.
  file.head.sync()
  database.exec('PRAGMA wal_checkpoint(TRUNCATE)')
}
