import type { RecordOf } from '@sonde/sdk'
import type { Integer64 } from '@sonde/sdk/internal'
import { isNumber, KernelText } from '../kernel-text.ts'
import type { hostDiskType } from './type.ts'

/** One disk of `/proc/diskstats`. */
export type HostDisk = Omit<RecordOf<typeof hostDiskType>, 'time'>

/** Content of `/proc/diskstats`; `malformed` is the first line that cannot be read. */
export interface HostDisks {
  readonly disks: HostDisk[]
  readonly malformed: string | undefined
}

/** The kernel counts in sectors of 512 bytes, whatever the sector size of the disk. */
const SECTOR_BYTES = 512n
const MS_PER_SECOND = 1000
/** Kernels before 4.18 have 11 columns. Newer kernels add discards and flushes. */
const COLUMNS_LEAST = 11
const COLUMNS_DISCARD = 15
const COLUMNS_FLUSH = 17

/**
 * Reads `/proc/diskstats`.
 *
 * @param isWanted Whether a disk is read. Default: all are.
 */
export function parseDiskstats(bytes: Uint8Array, isWanted: (disk: string) => boolean = () => true): HostDisks {
  const text = new KernelText(bytes)
  const disks: HostDisk[] = []
  let malformed: string | undefined
  for (; !text.done; text.nextLine()) {
    const start = text.at
    text.word()
    text.word()
    const disk = text.word()
    if (disk !== '' && !isWanted(disk)) continue
    const columns = readColumns(text)
    if (disk !== '' && columns !== undefined && columns.length >= COLUMNS_LEAST) disks.push(diskOf(disk, columns))
    else {
      const line = text.lineFrom(start)
      if (line !== '') malformed ??= line
    }
  }
  return { disks, malformed }
}

function readColumns(text: KernelText): Integer64[] | undefined {
  const columns: Integer64[] = []
  while (!text.lineDone()) {
    const value = text.u64()
    if (!isNumber(value)) return undefined
    columns.push(value)
  }
  return columns
}

function diskOf(disk: string, columns: readonly Integer64[]): HostDisk {
  const at = (index: number) => columns[index] ?? 0
  const seconds = (index: number) => Number(at(index)) / MS_PER_SECOND
  const bytes = (index: number) => BigInt.asUintN(64, BigInt(at(index)) * SECTOR_BYTES)
  return {
    disk,
    reads_total: at(0),
    reads_merged_total: at(1),
    read_bytes_total: bytes(2),
    read_seconds_total: seconds(3),
    writes_total: at(4),
    writes_merged_total: at(5),
    written_bytes_total: bytes(6),
    write_seconds_total: seconds(7),
    in_flight: at(8),
    io_seconds_total: seconds(9),
    waiting_seconds_total: seconds(10),
    ...(columns.length >= COLUMNS_DISCARD && { discards_total: at(11), discarded_bytes_total: bytes(13) }),
    ...(columns.length >= COLUMNS_FLUSH && { flushes_total: at(15), flush_seconds_total: seconds(16) }),
  }
}
