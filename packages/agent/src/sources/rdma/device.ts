import { type KernelFiles, ReadFailure } from '../kernel-file.ts'
import type { SourceContext } from '../source.ts'
import { HwCounters } from './hw-counters.ts'
import { readingNow } from './link-pace.ts'
import { RdmaPort } from './port.ts'

/** Name of the folder of a port; the kernel counts ports from 1. */
const PORT = /^[1-9]\d{0,8}$/

/**
 * One RDMA device: its ports, and the counters of the whole device, which some drivers have instead of counters of
 * ports.
 */
export class RdmaDevice {
  readonly name: string
  readonly ports = new Map<number, RdmaPort>()
  readonly #sysfs: KernelFiles
  readonly #context: SourceContext
  readonly #hw: HwCounters
  /** The sweep that last saw the device; used by the source. */
  sweep = 0

  constructor(name: string, sysfs: KernelFiles, context: SourceContext) {
    this.name = name
    this.#sysfs = sysfs
    this.#context = context
    this.#hw = new HwCounters(name, 0, ['class', 'infiniband', name, 'hw_counters'], sysfs, context)
  }

  /** Lists the ports. */
  scan(): void {
    const listed = this.#sysfs.list('class', 'infiniband', this.name, 'ports')
    if (listed instanceof ReadFailure && listed.kind === 'failed') this.#context.failed(this.name, listed.error)
    const numbers = new Set(listed instanceof ReadFailure ? [] : listed.filter((name) => PORT.test(name)).map(Number))
    for (const [number, port] of this.ports) {
      if (!numbers.has(number)) this.#drop(number, port)
    }
    for (const number of [...numbers].sort((a, b) => a - b)) {
      if (this.ports.has(number)) continue
      const port = new RdmaPort(this.name, number, this.#sysfs, this.#context)
      port.scan()
      // A new port is read completely, so it has values before its turn. Then its files are closed, so that files of
      // every sweep are kept open first.
      port.readRest(performance.now())
      port.close()
      this.ports.set(number, port)
    }
    this.#hw.scan()
  }

  /** Reads the counters of the whole device, if it has any. */
  read(nowMs: number): void {
    if (!this.#hw.there) return
    this.#hw.startSweep(nowMs)
    const reading = readingNow(undefined)
    this.#hw.read('frequent', reading)
    this.#hw.read('rest', reading)
  }

  /** Reports the ports that still exist, and forgets the others. Returns how many have reported. */
  report(nowMs: number): number {
    let count = this.#hw.report() ? 1 : 0
    for (const [number, port] of this.ports) {
      if (port.there) {
        port.report(nowMs)
        count++
      } else this.#drop(number, port)
    }
    return count
  }

  /** Reports all series of the device as gone. */
  forget(reason: string): void {
    for (const port of this.ports.values()) port.forget(reason)
    this.#hw.forget(reason)
  }

  close(): void {
    for (const port of this.ports.values()) port.close()
    this.#hw.close()
  }

  #drop(number: number, port: RdmaPort): void {
    port.forget(`port ${number} of ${this.name} is no longer there`)
    this.ports.delete(number)
  }
}
