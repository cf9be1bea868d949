import type { Integer64 } from '@sonde/sdk/internal'
import { Missing } from '../field-absences.ts'
import { ATTRIBUTE_BYTES_LIMIT, type KernelFile, KernelFiles, ReadFailure } from '../kernel-file.ts'
import { counterIn } from '../origins/counter-in-file.ts'
import { WideCounter } from '../wide-counter.ts'

/** The highest rate of retransmissions: one per packet, at 400 Gbit/s and 64 bytes. */
const EVENTS_PER_S = 800_000_000

/** Counts the adaptive retransmissions of a device with the counters of its driver, over all ports. */
export class DriverCounter {
  readonly #files: KernelFiles
  readonly #ports: readonly { readonly file: KernelFile; readonly wide: WideCounter }[]

  constructor(device: string, sysfs: string) {
    this.#files = new KernelFiles(sysfs, { fileBytesLimit: ATTRIBUTE_BYTES_LIMIT })
    const folder = ['class', 'infiniband', device, 'ports'] as const
    const ports = this.#files.list(...folder)
    this.#ports = (ports instanceof ReadFailure ? [] : ports).map((port) => ({
      file: this.#files.file(...folder, port, 'hw_counters', 'roce_adp_retrans'),
      wide: new WideCounter(),
    }))
  }

  /** Reads the counter; returns why it is missing if a port has none. */
  read(): Integer64 | Missing {
    if (this.#ports.length === 0) return new Missing('unsupported', 'the driver lists no port')
    let sum: Integer64 = 0
    for (const { file, wide } of this.#ports) {
      const value = counterIn(file)
      if (value instanceof Missing) return value
      const counted = wide.next(value, { nowMs: performance.now(), eventsPerS: EVENTS_PER_S })
      sum = this.#ports.length === 1 ? counted : BigInt(sum) + BigInt(counted)
    }
    return sum
  }

  close(): void {
    this.#files.close()
  }
}
