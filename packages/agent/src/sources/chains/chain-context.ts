import fs from 'node:fs/promises'
import { FairLimit } from '../../processor/fair-limit.ts'
import { ownReadings } from '../../processor/readings.ts'
import {
  ATTRIBUTE_BYTES_LIMIT,
  type FailureKind,
  FILE_BYTES_LIMIT,
  failureKind,
  kernelErrorCode,
  OPEN_FLAGS,
} from '../kernel-file.ts'
import type { SourcePaths } from '../source.ts'

/** An answer without the content that was asked for. */
export class ReadRefusal {
  readonly kind: FailureKind
  /**
   * The error code of the kernel, such as EACCES; `late` if the call did not return in time, `starved` if Sonde itself
   * got no processor time, `content` if the file has wrong content.
   */
  readonly code: string
  /** The reason in words. */
  readonly words: string

  constructor(kind: FailureKind, code: string, words = `${code}: ${WORDS[kind]}`) {
    this.kind = kind
    this.code = code
    this.words = words
  }
}

const WORDS: Readonly<Record<FailureKind, string>> = {
  missing: 'nothing is there',
  unsupported: 'the driver refuses',
  denied: 'not permitted',
  failed: 'it could not be read',
}

/**
 * Gives access to the files that chains check, below the roots of procfs, sysfs and devfs. A test passes other roots.
 */
export interface ChainContext {
  readonly procfs: string
  readonly sysfs: string
  readonly devfs: string
  /** See {@link SourcePaths}. */
  readonly doca_library?: string
  /** See {@link SourcePaths}. */
  readonly nvml_library?: string
  /** Reads a file. A file that is longer than the limit of the sources is refused, as it is by them. */
  read(path: string): Promise<Uint8Array | ReadRefusal>
  /** Lists the names in a folder, sorted. */
  list(path: string): Promise<readonly string[] | ReadRefusal>
  /** Returns the last part of the target of a link. */
  target(path: string): Promise<string | ReadRefusal>
  /** Checks whether this user may read and write a file, without opening it. */
  permits(path: string): Promise<true | ReadRefusal>
}

const PART_BYTES = 4096
/** After this time a driver is taken to hang. Unit: milliseconds. */
const CALL_LIMIT_MS = 2000
/** Concurrent calls. Each takes one of the four threads of the pool, and a call that hangs keeps its thread. */
const CALLS_LIMIT = 2

/**
 * Reads the files of the kernel, two at a time. A call that hangs is given up after two seconds. While two calls hang,
 * further calls are refused at once.
 */
export class KernelContext implements ChainContext {
  readonly procfs: string
  readonly sysfs: string
  readonly devfs: string
  readonly doca_library: string
  readonly nvml_library: string
  #busy = 0
  #hanging = 0
  #waiting: (() => void)[] = []

  constructor({ procfs, sysfs, devfs = '/dev', doca_library = '', nvml_library = '' }: SourcePaths) {
    this.procfs = procfs
    this.sysfs = sysfs
    this.devfs = devfs
    this.doca_library = doca_library
    this.nvml_library = nvml_library
  }

  read(path: string): Promise<Uint8Array | ReadRefusal> {
    const limitBytes = path.startsWith(`${this.sysfs}/`) ? ATTRIBUTE_BYTES_LIMIT : FILE_BYTES_LIMIT
    return this.#attempt(async () => {
      const file = await fs.open(path, OPEN_FLAGS)
      try {
        return await readBytes(file, limitBytes)
      } finally {
        await file.close()
      }
    })
  }

  list(path: string): Promise<readonly string[] | ReadRefusal> {
    return this.#attempt(async () => (await fs.readdir(path)).sort())
  }

  target(path: string): Promise<string | ReadRefusal> {
    return this.#attempt(async () => (await fs.readlink(path)).split('/').at(-1) ?? '')
  }

  permits(path: string): Promise<true | ReadRefusal> {
    return this.#attempt(async () => {
      await fs.access(path, fs.constants.R_OK | fs.constants.W_OK)
      return true as const
    })
  }

  async #attempt<T>(call: () => Promise<T | ReadRefusal>): Promise<T | ReadRefusal> {
    while (this.#busy >= CALLS_LIMIT) {
      if (this.#hanging >= CALLS_LIMIT) return new ReadRefusal('failed', 'late')
      await new Promise<void>((resolve) => this.#waiting.push(resolve))
    }
    this.#busy++
    const pending = call()
      .catch((error: unknown) => new ReadRefusal(failureKind(error), kernelErrorCode(error) || 'error'))
      .finally(() => {
        this.#busy--
        this.#waiting.shift()?.()
      })
    const { promise: late, resolve: giveUp } = Promise.withResolvers<ReadRefusal>()
    const limit = new FairLimit({
      limitMs: CALL_LIMIT_MS,
      read: ownReadings,
      onOver: () => giveUp(new ReadRefusal('failed', 'late')),
      onShort: (words) => giveUp(new ReadRefusal('failed', 'starved', words)),
    }).keepAlive()
    const answer = await Promise.race([pending, late])
    limit.stop()
    if (!(answer instanceof ReadRefusal) || (answer.code !== 'late' && answer.code !== 'starved')) return answer
    this.#hanging++
    void pending.finally(() => this.#hanging--)
    for (const resume of this.#waiting.splice(0)) resume()
    return answer
  }
}

/** Reads a whole file. procfs returns a page at a time, so one read is not enough. */
async function readBytes(file: fs.FileHandle, limitBytes: number): Promise<Uint8Array | ReadRefusal> {
  const parts: Buffer[] = []
  let length = 0
  for (;;) {
    const { bytesRead, buffer } = await file.read(Buffer.allocUnsafe(PART_BYTES), 0, PART_BYTES, length)
    if (bytesRead === 0) return Buffer.concat(parts)
    parts.push(buffer.subarray(0, bytesRead))
    length += bytesRead
    if (length > limitBytes) return new ReadRefusal('failed', 'content', `it is longer than ${limitBytes} bytes`)
  }
}
