import type { Integer64 } from '@sonde/sdk/internal'
import { headOf } from './block-devices.ts'
import type { HostDisk } from './parse-disks.ts'

/**
 * Counts of NVMe disks that have several paths. Kernels before 6.4 count only at the paths, newer kernels also at the
 * disk. A disk without counts gets the sum of its paths.
 */
export class Multipath {
  /**
   * The last counts of each path, by disk. A path that disappears keeps its counts, because a sum that falls looks like
   * a restart.
   */
  readonly #paths = new Map<string, Map<string, HostDisk>>()

  /** Starts a sweep. A path that is not met in it has no requests in flight. */
  startSweep(): void {
    for (const paths of this.#paths.values())
      for (const [name, path] of paths) paths.set(name, { ...path, in_flight: 0 })
  }

  /** Keeps the counts of a path. */
  take(path: HostDisk): void {
    const head = headOf(path.disk) ?? ''
    const paths = this.#paths.get(head) ?? new Map<string, HostDisk>()
    paths.set(path.disk, path)
    this.#paths.set(head, paths)
  }

  /** Returns the counts of a disk: its counts if it has any, otherwise the sum of its paths. */
  of(disk: HostDisk): HostDisk {
    const paths = this.#paths.get(disk.disk)
    if (paths === undefined || Number(disk.reads_total) + Number(disk.writes_total) > 0) return disk
    return [...paths.values()].reduce(sumOf, disk)
  }

  /** Ends a sweep. Paths of disks that were not met are forgotten. */
  endSweep(disks: ReadonlySet<string>): void {
    for (const head of this.#paths.keys()) if (!disks.has(head)) this.#paths.delete(head)
  }
}

function sumOf(disk: HostDisk, path: HostDisk): HostDisk {
  const sum: Record<string, unknown> = { ...path, disk: disk.disk }
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
