import type { EventDisk } from './disk.ts'

/** A disk in memory, for days of events; of so many bytes. */
export function memoryDisk(bytesMax: number = Number.POSITIVE_INFINITY): EventDisk & {
  readonly files: Map<string, Uint8Array>
  bytesMax: number
} {
  const files = new Map<string, Uint8Array>()
  const missing = (path: string) => Object.assign(new Error(`ENOENT: ${path}`), { code: 'ENOENT' })
  const used = () => [...files.values()].reduce((sum, { byteLength }) => sum + byteLength, 0)
  const fileAt = (path: string) => {
    const file = files.get(path)
    if (file === undefined) throw missing(path)
    return file
  }
  const disk = {
    files,
    bytesMax,
    makeFolder: async () => undefined,
    lock: () => ({ close: () => undefined }),
    names: async (folder: string) => [...files.keys()].map((path) => path.slice(folder.length + 1)),
    sizeOf: async (path: string) => fileAt(path).byteLength,
    async create(path: string) {
      if (files.has(path)) throw Object.assign(new Error(`EEXIST: ${path}`), { code: 'EEXIST' })
      files.set(path, new Uint8Array(0))
      return {
        async write(bytes: Uint8Array, at: number) {
          const before = fileAt(path)
          const room = Math.min(bytes.byteLength, Math.max(0, disk.bytesMax - used() + before.byteLength - at))
          const after = new Uint8Array(Math.max(before.byteLength, at + room))
          after.set(before)
          after.set(bytes.subarray(0, room), at)
          files.set(path, after)
          if (room < bytes.byteLength) throw Object.assign(new Error('ENOSPC: no space left'), { code: 'ENOSPC' })
        },
        truncate: async (bytes: number) => void files.set(path, fileAt(path).slice(0, bytes)),
        sync: async () => undefined,
        close: async () => undefined,
      }
    },
    read: async (path: string, at: number, bytes: number) => fileAt(path).slice(at, at + bytes),
    async rename(from: string, to: string) {
      files.set(to, fileAt(from))
      files.delete(from)
    },
    async unlink(path: string) {
      if (!files.delete(path)) throw missing(path)
    },
    syncFolder: async () => undefined,
  }
  return disk
}
