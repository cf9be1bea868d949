import { join } from 'node:path'
import { codeOf } from '../../disk/error-code.ts'
import { SondeError } from '../../errors.ts'
import { compressFile } from './compress-file.ts'
import type { SourceFile } from './contents.ts'
import type { FilesContext } from './context.ts'
import { liveBelow } from './live-files.ts'
import { dayFolders, foldersIn, recordFilesIn } from './tree.ts'

/** Closed files that wait at most. Further files stay as they are, until the next start. */
const WAITING_COUNT_LIMIT = 64
/** At the end of the sink, how long the last files are compressed. Unit: milliseconds. */
const CLOSE_MS = 1000
/** Days whose files are compressed at the start, the newest first. */
const DAY_COUNT = 2
/** A draft of another process that is older is left over. Unit: microseconds. */
const DRAFT_AGE_US = 3_600_000_000
const DRAFT = '.sonde-compressing-'

/** Compresses closed files, one at a time, behind everything else. */
export class Compressor {
  readonly #context: FilesContext
  readonly #done: (file: SourceFile) => void
  readonly #doneOld: () => void
  readonly #waiting: SourceFile[] = []
  readonly #ending = new AbortController()
  readonly #draft: string
  #running: Promise<void> | undefined

  /**
   * @param options `done` is called once for each file of {@link take}, when its size is final; `doneOld` when files of
   * earlier processes have other sizes.
   */
  constructor(
    context: FilesContext,
    { done, doneOld }: { readonly done: (file: SourceFile) => void; readonly doneOld: () => void },
  ) {
    this.#context = context
    this.#done = done
    this.#doneOld = doneOld
    this.#draft = join(context.config.dataRoot, `${DRAFT}${context.writerId.toString(16)}`)
  }

  /** Compresses files that earlier processes left. */
  begin(): void {
    if (this.#isOn) this.#run(() => this.#compressOld().then(this.#doneOld))
  }

  /** A file of this sink was closed. It counts as written until it is done, so nobody removes it. */
  take(file: SourceFile): void {
    const isFit = this.#isOn && file.recordBlocks > 0 && !file.isGone && !this.#ending.signal.aborted
    if (!isFit || this.#waiting.length >= WAITING_COUNT_LIMIT) {
      this.#done(file)
      return
    }
    this.#waiting.push(file)
    this.#run(() => this.#compressWaiting())
  }

  /** Continues for at most a second. Files that still wait stay as they are. */
  async close(): Promise<void> {
    const limit = setTimeout(() => this.#ending.abort(), CLOSE_MS)
    while (this.#running !== undefined) await this.#running
    clearTimeout(limit)
    this.#ending.abort()
    for (const file of this.#waiting.splice(0)) this.#done(file)
  }

  get #isOn(): boolean {
    return this.#context.config.compression === 'deflate'
  }

  #run(work: () => Promise<void>): void {
    if (this.#running !== undefined) return
    this.#running = work()
      .catch((error: unknown) => this.#context.fail(error))
      .finally(() => {
        this.#running = undefined
        if (this.#waiting.length > 0 && !this.#ending.signal.aborted) this.#run(() => this.#compressWaiting())
      })
  }

  async #compressWaiting(): Promise<void> {
    for (let file = this.#waiting[0]; file !== undefined; file = this.#waiting[0]) {
      if (this.#ending.signal.aborted) return
      const bytes = await this.#compress(file.path)
      if (bytes !== undefined) file.bytes = bytes
      this.#waiting.shift()
      this.#done(file)
    }
  }

  async #compressOld(): Promise<void> {
    const { config, disk } = this.#context
    await this.#removeDrafts()
    for (const day of (await dayFolders(disk, config.dataRoot)).slice(-DAY_COUNT)) {
      for (const source of await foldersIn(disk, day)) {
        for (const { name } of await recordFilesIn(disk, join(day, source))) {
          // Files of this process come first: only some of them may wait.
          await this.#compressWaiting()
          if (this.#ending.signal.aborted) return
          const path = join(day, source, name)
          if (!liveBelow(config.dataRoot).some((file) => file.path === path)) await this.#compress(path)
        }
      }
    }
  }

  /** Drafts of processes that were killed. */
  async #removeDrafts(): Promise<void> {
    const { config, disk } = this.#context
    for (const { name } of await disk.entriesIn(config.dataRoot)) {
      if (!name.startsWith(DRAFT)) continue
      const path = join(config.dataRoot, name)
      if (config.nowUs() - (await disk.stat(path)).mtimeMs * 1000 > DRAFT_AGE_US) await disk.unlink(path)
    }
  }

  /** The new size; undefined if the file stays as it is. A damaged or vanished file is nothing to report here. */
  async #compress(path: string): Promise<number | undefined> {
    try {
      const { disk } = this.#context
      return await compressFile({ disk, path, draft: this.#draft, signal: this.#ending.signal })
    } catch (error) {
      const isOfFile = error instanceof SondeError && error.code.startsWith('DTB_')
      if (!isOfFile && codeOf(error) !== 'ENOENT' && !this.#ending.signal.aborted) this.#context.fail(error)
      return undefined
    }
  }
}
