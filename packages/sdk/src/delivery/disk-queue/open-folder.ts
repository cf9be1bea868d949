import { lstat, readdir, truncate } from 'node:fs/promises'
import { basename, join, resolve } from 'node:path'
import { Disk } from '../../disk/disk.ts'
import { messageOf, SondeError, shown } from '../../errors.ts'
import { type FileLock, lockFile } from '../../internal/file-lock.ts'
import { makeFolders } from '../../internal/make-folders.ts'
import { tightenFolder } from '../../internal/private-files.ts'
import type { Cursor, CursorPlace } from './cursor.ts'
import { isLateName } from './late-file.ts'
import { isQueueName, newSegment, ordinalOf, type QueueSegment, segmentPath } from './segment.ts'
import { SegmentReader } from './segment-reader.ts'

/** What an earlier process left in the folder of a queue. */
export interface FoundQueue {
  readonly lock: FileLock
  /** Segments with records that have not left, the oldest first. */
  readonly segments: readonly QueueSegment[]
  readonly cursor: CursorPlace
  /** Ordinal of the next record. */
  readonly end: number
  /** Last pages of clients in the newest segment. */
  readonly pages: ReadonlyMap<bigint, bigint>
  /** A sentence for each part that was cut, set aside or ignored. */
  readonly faults: readonly string[]
}

/** A file with the name of a segment, before it is read. */
interface FoundFile {
  readonly first: number
  readonly bytes: number
  readonly changedMs: number
}

/**
 * Makes the folder of a queue private, and locks it.
 *
 * @throws SondeError `QUE_FOLDER` if it is a link or no folder, `QUE_LOCKED` if another process uses it; errors of the
 * system.
 */
async function lockFolder(disk: Disk, folder: string): Promise<FileLock> {
  await disk.inTurn(() => makeFolders(folder))
  if (!(await disk.inTurn(() => lstat(folder))).isDirectory())
    throw new SondeError('QUE_FOLDER', `queueDir is ${shown(folder)}, which is a link; allowed: a folder`)
  await disk.inTurn(() => tightenFolder(folder, isQueueName))
  const lock = lockFile(join(folder, '.lock'))
  if (lock !== undefined) return lock
  throw new SondeError(
    'QUE_LOCKED',
    `the queue in ${folder} is in use by another process; give each destination of each process a queueDir of its own`,
  )
}

/**
 * Checks, before a program starts, that a folder can be its own. Other faults may pass: the queue tries again.
 *
 * @throws SondeError `QUE_FOLDER`, `QUE_LOCKED`; see {@link lockFolder}.
 */
export async function checkFolderIsFree(folder: string): Promise<void> {
  const disk = new Disk()
  try {
    const lock = await lockFolder(disk, resolve(folder))
    lock.close()
  } catch (error) {
    if (error instanceof SondeError) throw error
  } finally {
    disk.leave()
  }
}

/**
 * Opens the folder of a queue, and finds what an earlier process left. Nothing in it prevents that: a torn end is cut,
 * and a file that holds no records is set aside.
 *
 * @throws see {@link lockFolder}.
 */
export async function openFolder(disk: Disk, folder: string, cursor: Cursor, nowMs: number): Promise<FoundQueue> {
  const lock = await lockFolder(disk, folder)
  try {
    return { lock, ...(await findSegments(disk, folder, cursor, nowMs)) }
  } catch (error) {
    lock.close()
    throw error
  }
}

async function findSegments(
  disk: Disk,
  folder: string,
  cursor: Cursor,
  nowMs: number,
): Promise<Omit<FoundQueue, 'lock'>> {
  const faults: string[] = []
  const found = await filesIn(disk, folder, faults)
  const place = await cursor.read()
  let newest = await lastSegment(disk, folder, found, faults)
  for (const name of (await disk.inTurn(() => readdir(folder))).filter(isLateName).sort()) {
    const first = Math.max(place?.ordinal ?? 0, (found.at(-1)?.first ?? 0) + newest.records)
    const { size: bytes, mtimeMs: changedMs } = await disk.lstat(join(folder, name))
    await disk.rename(join(folder, name), segmentPath(folder, first))
    found.push({ first, bytes, changedMs })
    const { pages } = newest
    newest = await lastSegment(disk, folder, found, faults)
    newest = { ...newest, pages: new Map([...pages, ...newest.pages]) }
  }
  const segments = found.map(({ first, bytes, changedMs }, index): QueueSegment => {
    const end = found[index + 1]?.first ?? first + newest.records
    const madeMs = nowMs - Math.max(0, Date.now() - changedMs)
    const size = index + 1 === found.length ? newest.bytes : bytes
    return newSegment({ path: segmentPath(folder, first), first, end, bytes: size, madeMs, isOpen: false })
  })
  const ordinal = place?.ordinal ?? segments[0]?.first ?? 0
  for (const { path, end } of segments) if (end <= ordinal) await disk.unlink(path)
  return {
    segments: segments.filter(({ end }) => end > ordinal),
    cursor: { ordinal, out: place?.out ?? 0 },
    end: Math.max(ordinal, segments.at(-1)?.end ?? 0),
    pages: newest.pages,
    faults,
  }
}

/** The segments of a folder, the oldest first. Anything else with such a name is set aside. */
async function filesIn(disk: Disk, folder: string, faults: string[]): Promise<FoundFile[]> {
  const files: FoundFile[] = []
  for (const name of (await disk.inTurn(() => readdir(folder))).sort()) {
    const first = ordinalOf(name)
    if (first === undefined) continue
    const stats = await disk.lstat(join(folder, name))
    if (stats.isFile()) files.push({ first, bytes: stats.size, changedMs: stats.mtimeMs })
    else await setAside(disk, join(folder, name), 'it is no file', faults)
  }
  return files
}

/** Reads the newest segment, whose writer may have been killed. Files without a record are removed from the list. */
async function lastSegment(disk: Disk, folder: string, files: FoundFile[], faults: string[]) {
  for (let file = files.at(-1); file !== undefined; file = files.at(-1)) {
    const path = segmentPath(folder, file.first)
    const read = await readSegment(disk, path, file.bytes)
    if (read.records > 0) {
      if (read.isDamaged) faults.push(`${path} is damaged: ${read.fault}; the records there are lost`)
      if (read.bytes < file.bytes) {
        await disk.inTurn(() => truncate(path, read.bytes))
        faults.push(`${path}: the last ${file.bytes - read.bytes} bytes were no whole block, and were cut`)
      }
      return read
    }
    files.pop()
    if (read.isOurs) {
      await disk.unlink(path)
      if (read.isTorn) faults.push(`${path} had no whole block of records, and was removed`)
    } else await setAside(disk, path, read.fault, faults)
  }
  return { records: 0, bytes: 0, pages: new Map<bigint, bigint>() }
}

/**
 * Reads a segment to its end: its records, with those that are lost in damaged blocks, its pages, and whether it holds.
 */
export async function readSegment(disk: Disk, path: string, fileBytes: number) {
  const reader = new SegmentReader(disk, path)
  const pages = new Map<bigint, bigint>()
  try {
    for (let read = await reader.next(fileBytes); read !== undefined; read = await reader.next(fileBytes)) {
      const { page } = read.batch
      if (page !== undefined) pages.set(page.client, page.sequence)
    }
    const { end, fault, at } = reader
    const records = reader.readRecords === 0 ? 0 : reader.passedRecords
    const isTorn = end?.state === 'truncated'
    // A writer that was killed at once leaves a file without a whole block.
    const isOurs = fault === undefined && (at > 0 || isTorn || fileBytes === 0)
    const why = fault?.message ?? 'it has no records'
    const isDamaged = fault !== undefined || (records === 0 && fileBytes > 0 && !isTorn)
    const lost = records - (records === 0 ? 0 : reader.readRecords)
    return { records, lost, pages, isOurs, isTorn, isDamaged, bytes: isTorn ? end.at : fileBytes, fault: why }
  } finally {
    await reader.close()
  }
}

/** Renames a file that is no segment, so that it neither is read nor lost. */
export async function setAside(disk: Disk, path: string, why: string, faults: string[]): Promise<void> {
  try {
    await disk.rename(path, `${path}.unreadable`)
    faults.push(`${path} is no segment of a queue: ${why}; it was renamed to ${basename(path)}.unreadable`)
  } catch (error) {
    faults.push(`${path} is no segment of a queue: ${why}; it cannot be set aside: ${messageOf(error)}`)
  }
}
