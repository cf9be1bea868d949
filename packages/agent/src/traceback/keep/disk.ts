import { constants } from 'node:fs'
import { type FileHandle, open, readdir, rename, stat, unlink } from 'node:fs/promises'
import { join } from 'node:path'
import { SondeError } from '@sonde/sdk'
import { type FileLock, lockFile, makeFolders, PRIVATE_FILE_MODE } from '@sonde/sdk/internal'

/** A file that is being written. */
export interface EventDiskFile {
  /** Writes all bytes at an offset, or throws. */
  write(bytes: Uint8Array, at: number): Promise<void>
  truncate(bytes: number): Promise<void>
  sync(): Promise<void>
  close(): Promise<void>
}

/** The functions of the file system that events need. All throw system errors. */
export interface EventDisk {
  /** Creates the folder and its parents if they are missing. */
  makeFolder(folder: string): Promise<void>
  /** Takes the lock of a folder for the life of this process; undefined if another process has it. */
  lock(folder: string): FileLock | undefined
  /** Names of the entries of a folder. */
  names(folder: string): Promise<readonly string[]>
  /** Unit: bytes. */
  sizeOf(path: string): Promise<number>
  /** Creates a file that must not exist. */
  create(path: string): Promise<EventDiskFile>
  /** Reads bytes from an offset; fewer than requested only at the end of the file. */
  read(path: string, at: number, bytes: number): Promise<Uint8Array>
  rename(from: string, to: string): Promise<void>
  unlink(path: string): Promise<void>
  /** Syncs the entries of a folder to disk. */
  syncFolder(folder: string): Promise<void>
}

/** Names of event files: the event's number and the kind of file. */
export const EVENT_FILE_NAME = /^(\d{1,16})\.(bin|json)(\.part)?$/

/** Name of the lock in a folder of events. */
export const EVENTS_LOCK = '.lock'

/** Whether events create a file with that name in their folder. */
export function isEventsName(name: string): boolean {
  return name === EVENTS_LOCK || EVENT_FILE_NAME.test(name)
}

/** The file system of the machine. */
export const systemDisk: EventDisk = {
  makeFolder: async (folder) => void (await makeFolders(folder)),
  lock: (folder) => lockFile(join(folder, EVENTS_LOCK)),
  names: (folder) => readdir(folder),
  sizeOf: async (path) => (await stat(path)).size,
  create: async (path) => diskFile(await open(path, 'wx', PRIVATE_FILE_MODE)),
  async read(path, at, bytes) {
    // A pipe without a writer would block the open call for the life of the process.
    const handle = await open(path, constants.O_RDONLY | constants.O_NONBLOCK)
    try {
      if (!(await handle.stat()).isFile()) throw new SondeError('TRB_NOTE', `${path} is not a file`)
      const buffer = new Uint8Array(bytes)
      let read = 0
      while (read < bytes) {
        const { bytesRead } = await handle.read(buffer, read, bytes - read, at + read)
        if (bytesRead === 0) break
        read += bytesRead
      }
      return buffer.subarray(0, read)
    } finally {
      await handle.close()
    }
  },
  rename,
  unlink,
  async syncFolder(folder) {
    const handle = await open(folder, 'r')
    try {
      await handle.sync()
    } finally {
      await handle.close()
    }
  },
}

function diskFile(handle: FileHandle): EventDiskFile {
  return {
    async write(bytes, at) {
      for (let written = 0; written < bytes.byteLength; ) {
        const { bytesWritten } = await handle.write(bytes, written, bytes.byteLength - written, at + written)
        written += bytesWritten
      }
    },
    truncate: (bytes) => handle.truncate(bytes),
    sync: () => handle.datasync(),
    close: () => handle.close(),
  }
}
