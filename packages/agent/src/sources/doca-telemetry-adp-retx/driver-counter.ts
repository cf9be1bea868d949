import { ATTRIBUTE_BYTES_LIMIT, type KernelFile, KernelFiles, ReadFailure } from '../kernel-file.ts'
import { isNumber, parseAttribute } from '../kernel-text.ts'
import { WideCounter } from '../wide-counter.ts'

/** The highest rate of retransmissions: one per packet, at 400 Gbit/s and 64 bytes. */
const EVENTS_PER_S = 800_000_000

/** Counts the adaptive retransmissions of a device with the counters of its driver, over all ports. */
export class DriverCounter {
  readonly #files: KernelFiles
  readonly #ports: readonly { readonly file: KernelFile; readonly wide: WideCounter }[]

  private constructor(files: KernelFiles, ports: readonly KernelFile[]) {
    this.#files = files
    this.#ports = ports.map((file) => ({ file, wide: new WideCounter() }))
  }

  /** Opens the counter of a device; undefined if its driver has none, or if it may not be read. */
  static open(device: string, sysfs: string): DriverCounter | undefined {
    const files = new KernelFiles(sysfs, { fileBytesLimit: ATTRIBUTE_BYTES_LIMIT })
    const folder = ['class', 'infiniband', device, 'ports'] as const
    const ports = files.list(...folder)
    const numbers = ports instanceof ReadFailure ? [] : ports
    const counter = new DriverCounter(
      files,
      numbers.map((port) => files.file(...folder, port, 'hw_counters', 'roce_adp_retrans')),
    )
    if (numbers.length > 0 && counter.read() !== undefined) return counter
    counter.close()
    return undefined
  }

  /** Reads the counter; undefined if a port cannot be read. */
  read(): number | bigint | undefined {
    let sum: number | bigint = 0
    for (const { file, wide } of this.#ports) {
      const bytes = file.read()
      const value = bytes instanceof ReadFailure ? undefined : parseAttribute(bytes)
      if (value === undefined || !isNumber(value)) return undefined
      const counted = wide.next(value, { nowMs: performance.now(), eventsPerS: EVENTS_PER_S })
      sum = this.#ports.length === 1 ? counted : BigInt(sum) + BigInt(counted)
    }
    return sum
  }

  close(): void {
    this.#files.close()
  }
}
