import type { RecordType } from '@sonde/sdk'
import type { ReadPage } from '@sonde/sdk/internal'
import { crc32 } from '@sonde/sdk/internal'
import type { ClientSlotFile } from './client-slot-file.ts'

/** Why a page is not taken; undefined if it is: its bytes are in `target` then, which is as long as it says. */
export function checkPage(
  page: ReadPage,
  type: RecordType,
  file: ClientSlotFile | undefined,
  target: Uint8Array,
): string | undefined {
  const { slot, bytes, count, crc } = page
  if (count * type.layout.recordBytes !== target.length || count === 0) return 'wrong_size'
  if (bytes !== undefined) target.set(bytes)
  else if (slot === undefined || file?.read(slot, target) !== true) return 'wrong_slot'
  if (crc32(target) !== crc) return 'wrong_checksum'
  return undefined
}
