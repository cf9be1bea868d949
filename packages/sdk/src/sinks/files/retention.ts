import { hostname } from 'node:os'
import { dirname, join } from 'node:path'
import type { Disk } from '../../disk/disk.ts'
import { codeOf } from '../../disk/error-code.ts'
import type { SourceFile } from './contents.ts'
import type { FilesContext } from './context.ts'
import { isEnded, readFingerprint, readSource } from './head.ts'
import { liveBelow } from './live-files.ts'
import { SCHEMA_FOLDER, schemaFileName } from './paths.ts'
import { dayFolders, foldersIn, recordFilesIn } from './tree.ts'

/** A file that seems closed. */
interface OldFile {
  readonly path: string
  readonly timeUs: number
  readonly bytes: number
}

/** Files that are remembered, the oldest; of the others only the size. */
const KNOWN_COUNT_LIMIT = 10_000
/** How often the folders are looked through, for files of other processes. Unit: milliseconds. */
const WALK_EVERY_MS = 3_600_000
const DAY_US = 86_400_000_000
/** A sidecar may be a little older than the first file that refers to it. Unit: microseconds. */
const SIDECAR_AGE_US = 3_600_000_000

/**
 * Removes the oldest closed files if all files exceed the limit, or are too old. Keeps files of other programs below
 * the root, and files that a living process may still write. Folders are read at the start and once an hour; in
 * between, the sink knows its own files. Every step is one system call, so that no turn is long.
 */
export class Retention {
  readonly #context: FilesContext
  #known: OldFile[] = []
  /** Whether `#known` is all there is. */
  #isComplete = false
  /** Size of all closed files. Unit: bytes. */
  #bytes = 0
  #walkedMs = Number.NEGATIVE_INFINITY
  /** Files that were closed while folders are read. */
  #closed: OldFile[] = []
  /** Schemas that a file that was removed had. */
  readonly #schemas = new Set<string>()
  #running: Promise<void> | undefined

  constructor(context: FilesContext) {
    this.#context = context
  }

  /** A file of this sink was closed. */
  note({ path, timeUs, bytes }: SourceFile): void {
    this.#bytes += bytes
    this.#closed.push({ path, timeUs, bytes })
  }

  /** Files have other sizes: the folders are read again at the next run. */
  forgetSizes(): void {
    this.#walkedMs = Number.NEGATIVE_INFINITY
  }

  /** Removes files over the limit, unless a removal is running. Never rejects. */
  run(): Promise<void> {
    const { retentionBytes, retentionDays } = this.#context.config
    if (retentionBytes === 0 && retentionDays === 0) return Promise.resolve()
    this.#running ??= this.#clean()
      .catch((error: unknown) => this.#context.fail(error))
      .finally(() => {
        this.#running = undefined
      })
    return this.#running
  }

  async #clean(): Promise<void> {
    const { nowMs } = this.#context.config
    if (nowMs() - this.#walkedMs >= WALK_EVERY_MS) await this.#walk()
    this.#takeClosed()
    for (let next = this.#next(); next !== undefined; next = this.#next()) {
      this.#known.shift()
      const isGone = await this.#remove(next)
      // A file that cannot be removed does not count: removing more of the others would not help.
      this.#bytes -= next.bytes
      if (isGone) await this.#removeEmpty(dirname(next.path))
      if (this.#known.length === 0 && !this.#isComplete) await this.#walk()
      this.#takeClosed()
    }
    if (this.#isComplete) for (const fingerprint of this.#schemas) await this.#removeSchema(fingerprint)
  }

  /** The oldest file, where there is too much or it is too old. */
  #next(): OldFile | undefined {
    const { dataRoot, retentionBytes, retentionDays, nowUs } = this.#context.config
    const oldest = this.#known[0]
    if (oldest === undefined) return undefined
    let liveBytes = 0
    for (const file of liveBelow(dataRoot)) liveBytes += file.bytes
    const isTooMuch = retentionBytes > 0 && this.#bytes + liveBytes > retentionBytes
    const isTooOld = retentionDays > 0 && nowUs() - oldest.timeUs > retentionDays * DAY_US
    return isTooMuch || isTooOld ? oldest : undefined
  }

  async #walk(): Promise<void> {
    const { disk } = this.#context
    const { dataRoot, nowMs } = this.#context.config
    this.#walkedMs = nowMs()
    this.#closed = []
    const own = new Set(liveBelow(dataRoot).map(({ path }) => path))
    const known: OldFile[] = []
    let bytes = 0
    this.#isComplete = true
    for (const day of await dayFolders(disk, dataRoot)) {
      const ofDay: OldFile[] = []
      for (const source of await foldersIn(disk, day)) {
        for (const { name, timeUs } of await recordFilesIn(disk, join(day, source))) {
          const path = join(day, source, name)
          if (!own.has(path)) ofDay.push({ path, timeUs, bytes: (await sizeOf(disk, path)) ?? 0 })
        }
      }
      for (const file of ofDay) bytes += file.bytes
      if (known.length >= KNOWN_COUNT_LIMIT) this.#isComplete = false
      else known.push(...ofDay.sort((a, b) => a.timeUs - b.timeUs))
    }
    // A file that was closed during the read may be missing in it; the entry of this sink is correct.
    const noted = new Set(this.#closed.map(({ path }) => path))
    this.#known = known.filter(({ path }) => !noted.has(path))
    this.#bytes = this.#known.reduce(
      (sum, file) => sum + file.bytes,
      bytes - known.reduce((sum, file) => sum + file.bytes, 0),
    )
    for (const file of this.#closed) this.#bytes += file.bytes
  }

  #takeClosed(): void {
    if (this.#isComplete && this.#known.length + this.#closed.length <= KNOWN_COUNT_LIMIT)
      this.#known.push(...this.#closed)
    else if (this.#closed.length > 0) this.#isComplete = false
    this.#closed = []
  }

  /** Whether it is gone. */
  async #remove({ path }: OldFile): Promise<boolean> {
    try {
      const fingerprint = await this.#removable(path)
      if (fingerprint === undefined) return false
      await this.#context.disk.unlink(path)
      if (fingerprint !== '') this.#schemas.add(fingerprint)
      return true
    } catch (error) {
      if (codeOf(error) === 'ENOENT') return true
      this.#context.fail(error)
      return false
    }
  }

  /** The fingerprint of the schema of a file that may be removed: one of ours that is closed, or was never begun. */
  async #removable(path: string): Promise<string | undefined> {
    const handle = await this.#context.disk.open(path, 'r')
    try {
      const { size, mtimeMs } = await handle.stat()
      if (liveBelow(this.#context.config.dataRoot).some((file) => file.path === path)) return undefined
      const isRecent = this.#context.config.nowUs() - mtimeMs * 1000 < DAY_US
      if (size === 0) return isRecent ? undefined : ''
      const fingerprint = await readFingerprint(handle)
      if (fingerprint === undefined || (await isEnded(handle, size))) return fingerprint
      const { host, pid } = (await readSource(handle, size)) ?? {}
      const mayBeWritten = isRecent && (host !== hostname() || (pid !== process.pid && isAlive(pid)))
      return mayBeWritten ? undefined : fingerprint
    } finally {
      await handle.close()
    }
  }

  /** Removes the folders of a source, a day and a year, as far as nothing is in them. */
  async #removeEmpty(folder: string): Promise<void> {
    const { dataRoot } = this.#context.config
    for (let at = folder; at.length > dataRoot.length; at = dirname(at)) {
      try {
        await this.#context.disk.rmdir(at)
      } catch (error) {
        if (codeOf(error) !== 'ENOTEMPTY' && codeOf(error) !== 'ENOENT') this.#context.fail(error)
        return
      }
    }
  }

  /** Removes a sidecar that no file refers to any more. */
  async #removeSchema(fingerprint: string): Promise<void> {
    this.#schemas.delete(fingerprint)
    const { config, disk, sidecars } = this.#context
    if (liveBelow(config.dataRoot).some(({ contents }) => contents.typeSet.fingerprint === fingerprint)) return
    // A source goes on with its schema, so one of the newest refers to it most often.
    for (const { path } of this.#known.toReversed()) if ((await fingerprintOf(disk, path)) === fingerprint) return
    const path = join(config.dataRoot, SCHEMA_FOLDER, schemaFileName(fingerprint))
    const madeMs = await modifiedMs(disk, path)
    if (madeMs === undefined || config.nowUs() - madeMs * 1000 < SIDECAR_AGE_US) return
    sidecars.delete(fingerprint)
    await disk.unlink(path)
  }
}

async function fingerprintOf(disk: Disk, path: string): Promise<string | undefined> {
  try {
    const handle = await disk.open(path, 'r')
    try {
      return await readFingerprint(handle)
    } finally {
      await handle.close()
    }
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined
    throw error
  }
}

async function sizeOf(disk: Disk, path: string): Promise<number | undefined> {
  return (await statOf(disk, path))?.size
}

async function modifiedMs(disk: Disk, path: string): Promise<number | undefined> {
  return (await statOf(disk, path))?.mtimeMs
}

async function statOf(disk: Disk, path: string) {
  try {
    return await disk.stat(path)
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined
    throw error
  }
}

/** Whether a process of this machine is there, of whoever's. */
function isAlive(pid: number | undefined): boolean {
  if (typeof pid !== 'number' || !Number.isInteger(pid) || pid <= 0) return false
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return codeOf(error) === 'EPERM'
  }
}
