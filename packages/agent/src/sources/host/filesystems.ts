import { join } from 'node:path'
import { deviceFilter } from '../device-filter.ts'
import type { FieldAbsences } from '../field-absences.ts'
import { type KernelFile, ReadFailure } from '../kernel-file.ts'
import type { HostSourceOptions } from './config.ts'
import { FilesystemCalls } from './filesystem-calls.ts'
import { type Mount, parseMountinfo } from './parse-mounts.ts'
import type { HostPart, HostPartDefinition } from './part.ts'
import type { HostReader } from './reader.ts'
import { hostFilesystemType } from './type.ts'

/** Time between two looks at the mounts and two calls to a file system. */
const EVERY_MS = 5000
/** The highest number of file systems. */
const LIMIT = 128

/**
 * Folders of the kernel, and of containers and pods. Mounts there come and go with each pod; the kubelet knows their
 * space.
 */
const LEFT_OUT =
  /^\/(proc|sys|run\/(credentials|containerd|docker|netns|user)|var\/lib\/(containerd|containers|docker|kubelet\/pods))(\/|$)/

/** A file system that is reported. */
interface Known {
  readonly mount: Mount
  readonly path: string
  readonly absences: FieldAbsences
}

/** Sizes of mounted file systems. The calls run in the background; a sweep reports the last answers. */
class Filesystems implements HostPart {
  readonly #reader: HostReader
  readonly #root: string
  readonly #isWanted: (fstype: string) => boolean
  readonly #absences: FieldAbsences
  /** The mounts of the first process are those of the node. In a container without them, its own count. */
  readonly #files: readonly KernelFile[]
  readonly #calls = new FilesystemCalls()
  #known = new Map<string, Known>()
  #left = 0
  #lookedMs = Number.NEGATIVE_INFINITY

  constructor(reader: HostReader, options: HostSourceOptions) {
    this.#reader = reader
    this.#root = options.root_folder
    this.#isWanted = deviceFilter(options.filesystems)
    this.#absences = reader.absences(hostFilesystemType)
    this.#files = ['1', 'self'].map((id) => reader.procfs.file(id, 'mountinfo'))
  }

  sample(time: bigint): boolean {
    const nowMs = performance.now()
    if (nowMs - this.#lookedMs >= EVERY_MS) {
      this.#lookedMs = nowMs
      this.#look()
      this.#calls.ask([...this.#known.values()].map(({ path }) => path))
    }
    for (const known of this.#known.values()) this.#report(time, known)
    if (this.#left > 0) this.#reader.context.dropped('filesystem_limit', this.#left)
    return this.#known.size > 0
  }

  close(): void {
    this.#calls.close()
  }

  #report(time: bigint, { mount, path, absences }: Known): void {
    const answer = this.#calls.answer(path)
    if (answer === undefined) return
    if ('failure' in answer) {
      absences.absent('', 'failed', answer.failure)
      return
    }
    absences.present('')
    const { mountpoint, fstype, origin, isReadOnly } = mount
    const read_only = isReadOnly ? 1 : 0
    this.#reader.context.source.report(hostFilesystemType, {
      ...{ time, mountpoint, fstype, ...answer.values, read_only, mounted: origin },
    })
  }

  #look(): void {
    const mounts = this.#mounts()
    if (mounts === undefined) return
    const wanted = mounts.filter(({ fstype, mountpoint }) => this.#isWanted(fstype) && !LEFT_OUT.test(mountpoint))
    this.#left = Math.max(0, wanted.length - LIMIT)
    const known = new Map<string, Known>()
    for (const mount of wanted.slice(0, LIMIT)) {
      const { mountpoint, fstype } = mount
      const key = JSON.stringify([mountpoint, fstype])
      const path = join(this.#root, mountpoint)
      const absences =
        this.#known.get(key)?.absences ?? this.#reader.absences(hostFilesystemType, { mountpoint, fstype })
      known.set(key, { mount, path, absences })
    }
    for (const [key, { mount }] of this.#known) {
      const { mountpoint, fstype } = mount
      if (!known.has(key))
        this.#reader.context.absences.gone(hostFilesystemType, { mountpoint, fstype }, 'it is mounted no longer')
    }
    this.#known = known
    if (known.size === 0)
      this.#absences.absent('', 'unsupported', `${this.#files[0]?.path} lists no file system to read`)
    else this.#absences.present('')
  }

  #mounts(): readonly Mount[] | undefined {
    let failure: ReadFailure | undefined
    for (const file of this.#files) {
      const bytes = file.read()
      if (bytes instanceof ReadFailure) {
        failure ??= bytes
        continue
      }
      const { mounts, malformed } = parseMountinfo(bytes)
      if (malformed !== undefined) this.#reader.malformed(file, malformed)
      return mounts
    }
    if (failure?.kind === 'failed') this.#reader.failed(failure.words, failure.error)
    if (failure !== undefined) this.#absences.absent('', failure.code, failure.words)
    return undefined
  }
}

/** The file systems of the node. */
export const filesystems: HostPartDefinition = {
  types: [hostFilesystemType],
  create: (reader, options) => new Filesystems(reader, options),
}
