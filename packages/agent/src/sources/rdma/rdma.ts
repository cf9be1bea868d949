import { SondeError } from '@sonde/sdk'
import { countOf, turn } from '@sonde/sdk/internal'
import { deviceFilter } from '../device-filter.ts'
import { ATTRIBUTE_BYTES_LIMIT, KernelFiles, ReadFailure } from '../kernel-file.ts'
import { namedPlanesText, type Planes, planesText, readPlanes } from '../rdma-planes.ts'
import { type SampledSource, sampled } from '../sampled.ts'
import type { Probe, SourceContext, SourceDefinition } from '../source.ts'
import { LONGEST_TURN_MS, leastReads } from '../turns.ts'
import { type RdmaOptions, rdmaOptions } from './config.ts'
import { RdmaDevice } from './device.ts'
import { rdmaExplain } from './explain.ts'
import type { RdmaPort } from './port.ts'
import { rdmaDriverType, rdmaHwFirstType, rdmaHwType, rdmaPortCountersType, rdmaPortType } from './type.ts'

/** Open files: all files of {@link KEPT_PORTS} ports, or the frequent files of 800 ports. */
const DESCRIPTOR_LIMIT = 4096
/** With more ports than this, files that are read in turns are closed after the read. */
const KEPT_PORTS = 80
/**
 * Files are opened again when another device has the name or the device is gone. This limit catches the cases that are
 * not noticed.
 */
const READS_PER_OPEN = 256
const FOLDER = ['class', 'infiniband'] as const
/** While the list of devices stays the same, planes are looked for once in so many sweeps. */
const SWEEPS_PER_PLANES = 60

/**
 * Reads RDMA devices from the files of the kernel: identity, link and counters of each port, and counters of the
 * adapter.
 */
class RdmaSource implements SampledSource {
  readonly #context: SourceContext
  readonly #wanted: (device: string) => boolean
  readonly #limitMs: number
  readonly #sysfs: KernelFiles
  readonly #devices = new Map<string, RdmaDevice>()
  #sweep = 0
  /** Duration of the last {@link #reportAll}. Unit: milliseconds. */
  #frequentMs = 0
  /** Index of the port whose turn it is. */
  #turn = 0
  /** Index of the device that is scanned next. */
  #looked = 0
  #planes: Planes = new Map()
  /** The list of devices whose planes are known. */
  #listed = ''
  /** Whether there are so many ports that a sweep does half of its usual work. */
  #isCrowded = false

  constructor(options: RdmaOptions, context: SourceContext) {
    this.#context = context
    this.#wanted = deviceFilter(options.devices)
    this.#limitMs = options.sweep_limit_ms
    this.#sysfs = new KernelFiles(context.paths.sysfs, {
      fileBytesLimit: ATTRIBUTE_BYTES_LIMIT,
      descriptorLimit: DESCRIPTOR_LIMIT,
      readsPerOpen: READS_PER_OPEN,
    })
  }

  probe(): Probe {
    const listed = this.#sysfs.list(...FOLDER)
    if (listed instanceof ReadFailure) return listed.probe
    const planes = readPlanes(listed, this.#sysfs)
    const devices = listed.filter((name) => this.#wanted(name) && !planes.has(name))
    const ports = devices.flatMap((device) => this.#statesOf(device))
    // A port whose state may not be read still has counters.
    const there = ports.filter((bytes) => !(bytes instanceof ReadFailure) || bytes.kind !== 'missing')
    if (there.some((bytes) => !(bytes instanceof ReadFailure)))
      return { state: 'present', found: countOf(there.length, 'port') }
    const failure = ports.find((bytes) => bytes instanceof ReadFailure)
    if (failure !== undefined) return failure.probe
    const folder = `${this.#sysfs.root}/${FOLDER.join('/')}`
    const reasons = [
      `no device of ${folder}, which lists ${listed.length}, is wanted and has a port`,
      namedPlanesText(listed.filter(this.#wanted), planes),
    ]
    return { state: 'absent', reason: reasons.filter(Boolean).join('; ') }
  }

  found(): string {
    return countOf(
      this.#devices.values().reduce((sum, { ports }) => sum + ports.size, 0),
      'port',
    )
  }

  async sample(): Promise<void> {
    this.#sweep++
    const looksForDevices = !this.#isCrowded || this.#sweep % 2 === 0
    const failure = looksForDevices ? await this.#follow() : undefined
    const startMs = performance.now()
    if (!this.#isCrowded || !looksForDevices) this.#scanInTurn()
    const ports = [...this.#devices.values()].flatMap((device) => [...device.ports.values()])
    this.#isCrowded = ports.length > KEPT_PORTS
    this.#readRest(ports, startMs)
    if (this.#reportAll(startMs) === 0) {
      throw (
        failure?.error ?? new SondeError('SRC_READ', `no port of an RDMA device below ${this.#sysfs.root} can be read`)
      )
    }
  }

  close(): void {
    this.#sysfs.close()
  }

  #statesOf(device: string): (Uint8Array | ReadFailure)[] {
    const ports = this.#sysfs.list(...FOLDER, device, 'ports')
    if (ports instanceof ReadFailure) return [ports]
    return ports.map((port) => {
      const file = this.#sysfs.file(...FOLDER, device, 'ports', port, 'state')
      const bytes = file.read()
      file.close()
      return bytes
    })
  }

  /** Follows the list of devices: adds new and renamed devices, forgets devices that are not listed. */
  async #follow(): Promise<ReadFailure | undefined> {
    const listed = this.#sysfs.list(...FOLDER)
    const names = listed instanceof ReadFailure ? [] : listed
    this.#followPlanes(names)
    for (const name of names) {
      if (this.#planes.has(name)) continue
      let device = this.#devices.get(name)
      if (device === undefined) {
        if (!this.#wanted(name)) continue
        device = new RdmaDevice(name, this.#sysfs, this.#context)
        this.#devices.set(name, device)
        device.scan()
        if (turn.isOver()) await turn.next()
      }
      device.sweep = this.#sweep
    }
    for (const device of this.#devices.values()) {
      if (device.sweep !== this.#sweep) this.#forget(device)
    }
    return listed instanceof ReadFailure ? listed : undefined
  }

  /** A device is listed a moment before the kernel says that programs can use it, so planes are looked for again. */
  #followPlanes(names: readonly string[]): void {
    const listed = names.join(' ')
    if (listed === this.#listed && this.#sweep % SWEEPS_PER_PLANES !== 0) return
    this.#listed = listed
    this.#planes = readPlanes(names, this.#sysfs)
  }

  #forget(device: RdmaDevice): void {
    const owner = this.#planes.get(device.name)
    const reason = owner === undefined ? `device ${device.name} is no longer there` : planesText([device.name], owner)
    device.forget(reason)
    this.#devices.delete(device.name)
  }

  /** Lists the ports of one device, and everything of one of its ports; the next sweep takes the next. */
  #scanInTurn(): void {
    const look = this.#looked++
    const device = [...this.#devices.values()][look % Math.max(this.#devices.size, 1)]
    if (device === undefined) return
    device.scan()
    const due = Math.floor(look / this.#devices.size) % Math.max(device.ports.size, 1)
    ;[...device.ports.values()][due]?.scan()
  }

  /**
   * Reads the frequent files and reports everything, device by device, so that the values are still in the processor's
   * cache. Returns how many have reported.
   */
  #reportAll(startMs: number): number {
    const fromMs = performance.now()
    let count = 0
    let index = this.#sweep
    for (const device of this.#devices.values()) {
      let complete = true
      for (const port of device.ports.values()) {
        const half = index++ % 2 === 0 ? 'state' : 'hardware'
        complete = port.readFrequent(startMs, this.#isCrowded ? half : 'all') && complete
      }
      if (!complete) this.#scanAgain(device, startMs)
      device.read(startMs)
      count += device.report(startMs)
    }
    this.#frequentMs = performance.now() - fromMs
    return count
  }

  /** A file is missing: the device or a port is gone, or the driver was loaded again and has other counters. */
  #scanAgain(device: RdmaDevice, startMs: number): void {
    device.scan()
    for (const port of device.ports.values()) {
      port.scan()
      port.readFrequent(startMs, 'all')
    }
  }

  /**
   * Reads files in turns, for as many ports as fit into the time limit. The rest of the sweep is assumed to take as
   * long as last time. Enough ports are read to keep each turn short.
   */
  #readRest(ports: readonly RdmaPort[], startMs: number): void {
    const least = Math.max(1, leastReads(ports.length, this.#context.intervalMs, LONGEST_TURN_MS))
    const untilMs = startMs + this.#limitMs - this.#frequentMs
    for (let i = 0; i < ports.length && (i < least || performance.now() < untilMs); i++) {
      const port = ports[this.#turn++ % ports.length]
      port?.startSweep(startMs)
      if (port?.readRest(startMs) === false) port.scan()
      if (this.#isCrowded) port?.closeRest()
    }
  }
}

/** Registry row of the rdma source. */
export const rdma: SourceDefinition = {
  name: 'rdma',
  summary: 'RDMA ports: link, traffic, errors, congestion, retransmissions',
  types: [rdmaPortType, rdmaPortCountersType, rdmaHwFirstType, rdmaHwType, rdmaDriverType],
  host: 'agent',
  intervalMs: 1000,
  options: rdmaOptions,
  explain: rdmaExplain,
  load: async () => ({
    create: (options, context) => sampled(new RdmaSource(options as RdmaOptions, context), context),
  }),
}
