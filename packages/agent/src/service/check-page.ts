import { crc32 } from 'node:zlib'
import { msFactorOf, numberAt, type RecordType, viewsOf } from '@sonde/sdk'
import type { ReadPage } from '@sonde/sdk/internal'
import type { SlotFile } from './slot-file.ts'

/** A wall clock may run ahead by this much and be believed. Unit: milliseconds. */
const AHEAD_LIMIT_MS = 3_600_000

/** Why a page is not taken; undefined where it is: its bytes are in `target` then, which is as long as it says. */
export function checkPage(
  page: ReadPage,
  type: RecordType | undefined,
  file: SlotFile | undefined,
  target: Uint8Array,
): string | undefined {
  const { slot, bytes, count, crc, clock } = page
  if (type === undefined) return 'foreign_type'
  if (count * type.layout.recordBytes !== target.length || count === 0) return 'wrong_size'
  if (bytes !== undefined) target.set(bytes)
  else if (slot === undefined || file?.read(slot, target) !== true) return 'wrong_slot'
  if (crc32(target) !== crc) return 'wrong_checksum'
  return clock === 'wall' && isAhead(type, target, count) ? 'time_ahead' : undefined
}

/** Views look at the first and the last time of a batch: one of the next century would make all others old. */
function isAhead(type: RecordType, bytes: Uint8Array, count: number): boolean {
  const { time, layout } = type
  if (time === undefined) return false
  const views = viewsOf(bytes)
  const limitMs = Date.now() + AHEAD_LIMIT_MS
  return [0, (count - 1) * layout.recordBytes].some((at) => numberAt(time, views, at) * msFactorOf(type) > limitMs)
}
