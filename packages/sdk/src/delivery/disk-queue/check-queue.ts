import { readdir } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { Disk } from '../../disk/disk.ts'
import { messageOf } from '../../errors.ts'
import { Cursor } from './cursor.ts'
import { isLateName } from './late-file.ts'
import { openFolder, readSegment, setAside } from './open-folder.ts'
import { ordinalOf } from './segment.ts'

/** The ledger of the folder of a queue: `in = out + dropped + queued`. Unit: records, since the queue was made. */
export interface QueueCheck {
  readonly segments: number
  readonly in: number
  readonly out: number
  readonly dropped: number
  readonly queued: number
  /** Part of `queued` that cannot be read: it will be dropped as `queue_unreadable`. */
  readonly unreadable: number
  /** What is wrong, as sentences. */
  readonly faults: readonly string[]
  /** What was repaired, as sentences. */
  readonly repaired: readonly string[]
}

/** Reads every segment of a queue, and compares what is in it with its ledger. Changes nothing. */
export async function checkQueue(folder: string): Promise<QueueCheck> {
  const disk = new Disk()
  try {
    return await check(disk, resolve(folder))
  } finally {
    disk.leave()
  }
}

/**
 * Repairs the folder of a queue, as far as that is possible: cuts a torn end, removes segments that were sent, and sets
 * files aside that are no segments. Then checks it.
 *
 * @throws SondeError `QUE_LOCKED` if a process uses the queue, `QUE_FOLDER` if it is a link; errors of the system.
 */
export async function repairQueue(folder: string): Promise<QueueCheck> {
  const disk = new Disk()
  const path = resolve(folder)
  const cursor = new Cursor(disk, path)
  try {
    const found = await openFolder(disk, path, cursor, performance.now())
    const repaired = [...found.faults]
    try {
      for (const segment of found.segments) {
        const { records, fault } = await readSegment(disk, segment.path, segment.bytes)
        if (records === 0) await setAside(disk, segment.path, fault, repaired)
      }
    } finally {
      found.lock.close()
    }
    return { ...(await check(disk, path)), repaired }
  } finally {
    disk.leave()
  }
}

async function check(disk: Disk, folder: string): Promise<QueueCheck> {
  const faults: string[] = []
  const place = await new Cursor(disk, folder).read()
  const names = (await disk.inTurn(() => readdir(folder))).filter((name) => ordinalOf(name) !== undefined).sort()
  const firsts = names.map((name) => ordinalOf(name) ?? 0)
  const ordinal = place?.ordinal ?? firsts[0] ?? 0
  // A queue from which nothing has left has no cursor.
  if (place === undefined && ordinal > 0) faults.push(`${join(folder, '.cursor')} is missing: all is sent again`)
  let [end, unreadable] = [ordinal, 0]
  for (const [index, name] of names.entries()) {
    const first = firsts[index] ?? 0
    const path = join(folder, name)
    // What an earlier file has less than the names say is missing.
    unreadable += missing(end, first, ordinal)
    if (first < end && index > 0) faults.push(`${end - first} records before ${path} overlap it, and are not sent`)
    if (first > end) faults.push(`${first - end} records before ${path} are missing`)
    const { records, lost } = await recordsIn(disk, path, faults)
    end = Math.max(end, first + records)
    unreadable += Math.min(lost, missing(first, first + records, ordinal))
  }
  // Records that a process left when it ended; the next process gives them a place.
  for (const name of (await disk.inTurn(() => readdir(folder))).filter(isLateName).sort())
    end += (await recordsIn(disk, join(folder, name), faults)).records
  const out = place?.out ?? 0
  return {
    segments: names.length,
    ...{ in: end, out, dropped: ordinal - out, queued: end - ordinal, unreadable, faults, repaired: [] },
  }
}

/** How many ordinals are missing from one to another, of those that have not left. */
function missing(from: number, to: number, left: number): number {
  return Math.max(0, to - Math.max(from, left))
}

async function recordsIn(disk: Disk, path: string, faults: string[]): Promise<{ records: number; lost: number }> {
  try {
    const stats = await disk.lstat(path)
    if (!stats.isFile()) {
      faults.push(`${path} is no file`)
      return { records: 0, lost: 0 }
    }
    const { records, lost, bytes, fault, isDamaged } = await readSegment(disk, path, stats.size)
    if (bytes < stats.size) faults.push(`${path}: the last ${stats.size - bytes} bytes are no whole block`)
    if (isDamaged) faults.push(`${path}: ${fault}`)
    return { records, lost }
  } catch (error) {
    faults.push(`${path} cannot be read: ${messageOf(error)}`)
    return { records: 0, lost: 0 }
  }
}
