import type { Integer64 } from '@sonde/sdk/internal'
import { headOf } from './block-devices.ts'
import type { HostDisk } from './parse-disks.ts'

/**
 * Work of NVMe namespaces with several paths. Kernels before 6.4 count it at the paths alone, newer ones at the disk as
 * well: a disk that counts nothing itself gets the sum of its paths.
 */
export class Multipath {
  /** What paths counted last, by their disk. A path that left keeps it: without it the sum would fall. */
  readonly #paths = new Map<string, Map<string, HostDisk>>()

  /** Starts a sweep: a path that is not met has nothing under way. */
  startSweep(): void {
    for (const paths of this.#paths.values())
      for (const [name, path] of paths) paths.set(name, { ...path, in_flight: 0 })
  }

  /** Takes what a path counted. */
  take(path: HostDisk): void {
    const head = headOf(path.device) ?? ''
    const paths = this.#paths.get(head) ?? new Map<string, HostDisk>()
    paths.set(path.device, path)
    this.#paths.set(head, paths)
  }

  /** The work of a disk. */
  of(disk: HostDisk): HostDisk {
    const paths = this.#paths.get(disk.device)
    if (paths === undefined || Number(disk.reads_total) + Number(disk.writes_total) > 0) return disk
    return [...paths.values()].reduce(sumOf, disk)
  }

  /** Ends a sweep in which these disks were met. */
  endSweep(disks: ReadonlySet<string>): void {
    for (const head of this.#paths.keys()) if (!disks.has(head)) this.#paths.delete(head)
  }
}

function sumOf(disk: HostDisk, path: HostDisk): HostDisk {
  const sum: Record<string, unknown> = { ...path, device: disk.device }
  for (const [name, value] of Object.entries(disk)) {
    const other = sum[name]
    if (typeof value === 'number' && typeof other === 'number') sum[name] = value + other
    else if (isInteger64(value) && isInteger64(other)) sum[name] = BigInt(value) + BigInt(other)
  }
  return sum as HostDisk
}

function isInteger64(value: unknown): value is Integer64 {
  return typeof value === 'bigint' || Number.isInteger(value)
}
