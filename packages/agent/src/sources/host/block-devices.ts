import { type KernelFiles, ReadFailure } from '../kernel-file.ts'

/** Kind of a block device. Some NVMe devices are paths: each leads to the same disk through another controller. */
export type BlockKind = 'disk' | 'path' | 'partition'

/** `nvme0c1n1` is the path through controller 1 to the disk `nvme0n1`. */
const PATH = /^(nvme\d+)c\d+(n\d+)$/

/** Returns the disk that a path leads to; undefined if the name is not that of a path. */
export function headOf(device: string): string | undefined {
  const [, subsystem, namespace] = PATH.exec(device) ?? []
  return subsystem === undefined ? undefined : `${subsystem}${namespace}`
}

/** Finds the kind of each block device in sysfs, once while the device stays. */
export class BlockDevices {
  readonly #sysfs: KernelFiles
  readonly #kinds = new Map<string, BlockKind>()
  #met = new Set<string>()
  /** Names in sysfs, listed once in a sweep that meets a new device. */
  #listed: { readonly whole: ReadonlySet<string>; readonly all: ReadonlySet<string> } | undefined

  constructor(sysfs: KernelFiles) {
    this.#sysfs = sysfs
  }

  /** Returns the kind of a device of this sweep. Ask for a disk before its partitions. */
  kindOf(device: string): BlockKind {
    this.#met.add(device)
    let kind = this.#kinds.get(device)
    if (kind === undefined) {
      kind = this.#lookUp(device)
      this.#kinds.set(device, kind)
    }
    return kind
  }

  /** Ends a sweep. Devices that were not met are forgotten: the name may return as another device. */
  endSweep(): void {
    for (const device of this.#kinds.keys()) if (!this.#met.has(device)) this.#kinds.delete(device)
    this.#met = new Set()
    this.#listed = undefined
  }

  #lookUp(device: string): BlockKind {
    this.#listed ??= { whole: this.#list('block'), all: this.#list('class', 'block') }
    const { whole, all } = this.#listed
    const name = device.replaceAll('/', '!')
    if (!whole.has(name) && all.has(name)) return this.#has(name, 'partition') ? 'partition' : 'disk'
    if (headOf(device) !== undefined && this.#isHidden(name)) return 'path'
    return whole.has(name) || !this.#isPartOfKnown(device) ? 'disk' : 'partition'
  }

  #list(...path: readonly string[]): ReadonlySet<string> {
    const names = this.#sysfs.list(...path)
    return new Set(names instanceof ReadFailure ? [] : names)
  }

  #has(name: string, file: string): boolean {
    const files = this.#sysfs.list('class', 'block', name)
    return !(files instanceof ReadFailure) && files.includes(file)
  }

  #isHidden(name: string): boolean {
    const file = this.#sysfs.file('block', name, 'hidden')
    const bytes = file.read()
    file.close()
    return !(bytes instanceof ReadFailure) && bytes[0] === 0x31
  }

  /** Without sysfs, `sda1` is a partition of `sda` and `nvme0n1p1` of `nvme0n1`, if that disk is known. */
  #isPartOfKnown(device: string): boolean {
    const stem = /^(.+\D)\d+$/.exec(device)?.[1]
    if (stem === undefined) return false
    return this.#kinds.has(stem) || (/\dp$/.test(stem) && this.#kinds.has(stem.slice(0, -1)))
  }
}
