import { dirname } from 'node:path'
import { Disk, type DiskFile } from '../../disk/disk.ts'
import { SondeError } from '../../errors.ts'
import { makeFolders } from '../../internal/make-folders.ts'

const LINE_FEED = 0x0a

/** A file of lines that is appended to, and that older files follow as `path.1`, `path.2` and so on. */
export class LineFile {
  readonly #disk = new Disk()
  readonly #path: string
  readonly #limitBytes: number
  readonly #filesMax: number

  constructor({ path, limitBytes, filesMax }: { path: string; limitBytes: number; filesMax: number }) {
    this.#path = path
    this.#limitBytes = limitBytes
    this.#filesMax = filesMax
  }

  /**
   * Appends whole lines, all of them or none. The file is opened by its name for each write, so that it may be moved
   * away at any time. Calls must not overlap.
   *
   * @throws the error of the file system; SondeError `OUT_FILE` if the path is no regular file.
   */
  async append(lines: Uint8Array): Promise<void> {
    let file = await this.#open()
    try {
      const { size } = await file.stat()
      if (size > 0 && size + lines.byteLength > this.#limitBytes) {
        await file.close()
        await this.#rotate()
        file = await this.#open()
      }
      await this.#write(file, lines)
    } finally {
      await file.close()
    }
  }

  /** The file is no longer used. */
  leave(): void {
    this.#disk.leave()
  }

  async #open(): Promise<DiskFile> {
    let file: DiskFile
    try {
      file = await this.#disk.open(this.#path, 'a')
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
      await this.#disk.inTurn(() => makeFolders(dirname(this.#path)))
      file = await this.#disk.open(this.#path, 'a')
    }
    if ((await file.stat()).isFile()) return file
    await file.close()
    throw new SondeError('OUT_FILE', `${this.#path} is no regular file; choose another path`)
  }

  async #write(file: DiskFile, lines: Uint8Array): Promise<void> {
    const { size } = await file.stat()
    // A line that a killed process began is ended. Its records were not acknowledged, and are written again.
    const isTorn = size > 0 && (await file.readAt(size - 1, 1))[0] !== LINE_FEED
    const blocks = isTorn ? [Uint8Array.of(LINE_FEED), lines] : [lines]
    try {
      await writeAll(file, blocks, size)
    } catch (error) {
      // A full disk takes a part of a write.
      await file.truncate(size).catch(() => undefined)
      throw error
    }
  }

  /** Renames each file to the next number, the oldest first; the last is replaced. */
  async #rotate(): Promise<void> {
    if (this.#filesMax === 1) return this.#disk.unlink(this.#path)
    for (let number = this.#filesMax - 1; number > 0; number--) {
      const from = number === 1 ? this.#path : `${this.#path}.${number - 1}`
      await this.#disk.rename(from, `${this.#path}.${number}`).catch((error: NodeJS.ErrnoException) => {
        if (error.code !== 'ENOENT') throw error
      })
    }
  }
}

async function writeAll(file: DiskFile, blocks: readonly Uint8Array[], at: number): Promise<void> {
  let rest = Buffer.concat(blocks)
  let place = at
  while (rest.byteLength > 0) {
    const { bytesWritten } = await file.writev([rest], place)
    place += bytesWritten
    rest = rest.subarray(bytesWritten)
  }
}
