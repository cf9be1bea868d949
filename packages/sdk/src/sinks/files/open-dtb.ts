import { closeSync, fstatSync, openSync, readSync, statSync } from 'node:fs'
import { messageOf, SondeError } from '../../errors.ts'
import type { DtbInput } from '../../wire/dtb/decode.ts'

/** Size of one read. Unit: bytes. */
const WINDOW_BYTES = 1 << 20

/** A file of records that is open for reading. */
export interface DtbFile extends DtbInput {
  /** Reads the current length of the file, and discards the buffer. */
  refresh(): void
  /** May be called twice. */
  close(): void
}

/**
 * Opens a file of records for `DtbDecoder`, also one that is being written. Memory: 1 MiB, or that of the largest
 * block.
 *
 * @throws SondeError `DTB_READ`, from here or from a later call, where the file is none or cannot be read.
 */
export function openDtb(path: string): DtbFile {
  const trying = <T>(call: () => T): T => {
    try {
      return call()
    } catch (cause) {
      throw new SondeError('DTB_READ', `${path} cannot be read: ${messageOf(cause)}`, { cause })
    }
  }
  // Opening a FIFO would wait for its writer.
  if (!trying(() => statSync(path)).isFile()) throw new SondeError('DTB_READ', `${path} is not a file`)
  const descriptor = trying(() => openSync(path, 'r'))
  const sizeNow = () => trying(() => fstatSync(descriptor)).size
  let isOpen = true
  let bytes = sizeNow()
  let buffer = new Uint8Array(Math.min(WINDOW_BYTES, bytes + 8))
  let windowAt = 0
  let windowBytes = 0

  /** Fills the window from a place on: all of it, since the next block is most likely asked for next. */
  const fill = (at: number, wanted: number) => {
    if (buffer.length < wanted + 8)
      buffer = new Uint8Array(Math.max(wanted + 8, Math.min(WINDOW_BYTES, bytes - at + 8)))
    windowAt = at
    windowBytes = 0
    const room = Math.min(buffer.length, bytes - at)
    while (windowBytes < room) {
      const got = trying(() => readSync(descriptor, buffer, windowBytes, room - windowBytes, at + windowBytes))
      if (got === 0) break
      windowBytes += got
    }
  }

  return {
    get bytes() {
      return bytes
    },
    read(at, wanted) {
      const end = Math.min(at + wanted, bytes)
      if (at < windowAt || end > windowAt + windowBytes) fill(at, Math.max(0, end - at))
      return buffer.subarray(at - windowAt, Math.max(at, Math.min(end, windowAt + windowBytes)) - windowAt)
    },
    refresh() {
      bytes = sizeNow()
      windowBytes = 0
    },
    close() {
      if (isOpen) closeSync(descriptor)
      isOpen = false
    },
  }
}
