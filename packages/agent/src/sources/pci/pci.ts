import { SondeError, wallNs } from '@sonde/sdk'
import { countOf } from '@sonde/sdk/internal'
import { ATTRIBUTE_BYTES_LIMIT, KernelFiles, ReadFailure } from '../kernel-file.ts'
import { type SampledSource, sampled } from '../sampled.ts'
import type { Probe, SourceContext, SourceDefinition } from '../source.ts'
import { inTurn, leastReads } from '../turns.ts'
import { PciBus } from './bus.ts'
import { type PciOptions, pciOptions } from './config.ts'
import type { PciDevice } from './device.ts'
import { pciExplain } from './explain.ts'
import { PciInventory } from './inventory.ts'
import { pciAerType, pciDeviceType } from './type.ts'

/**
 * Number of devices whose link and errors are read in one sweep; bridges use the rest, and at least a quarter. Above
 * it, devices take turns, and a sweep reports only the devices that it read. If a turn would take too long, a sweep
 * reads more.
 */
const REFRESH_LIMIT = 48

/**
 * PCI devices by the files of sysfs: what they are, where they are plugged in, how their link runs, and what errors
 * they saw.
 */
class PciSource implements SampledSource {
  readonly #context: SourceContext
  readonly #bus: PciBus
  readonly #sysfs: KernelFiles
  readonly #inventory: PciInventory
  #sweep = 0

  constructor(options: PciOptions, context: SourceContext) {
    this.#context = context
    this.#sysfs = new KernelFiles(context.paths.sysfs, { fileBytesLimit: ATTRIBUTE_BYTES_LIMIT, links: 'refuse' })
    this.#bus = new PciBus(this.#sysfs)
    this.#inventory = new PciInventory(options, this.#bus, this.#sysfs, context)
  }

  async probe(): Promise<Probe> {
    const addresses = this.#bus.addresses()
    if (addresses instanceof ReadFailure) return addresses.probe
    const { found, failure } = await this.#inventory.survey(addresses)
    if (found > 0) return { state: 'present', found: countOf(found, 'device') }
    if (failure?.kind === 'denied' || failure?.kind === 'failed') return failure.probe
    return { state: 'absent', reason: this.#nothing(addresses.length) }
  }

  found(): string {
    return countOf(this.#inventory.devices.size, 'device')
  }

  async sample(): Promise<void> {
    const addresses = this.#bus.addresses()
    const inventory = this.#inventory
    if (addresses instanceof ReadFailure) {
      // A bus that is no longer there took all its devices along; one that cannot be read may still have them.
      if (addresses.kind === 'missing') await inventory.follow([])
      throw addresses.error
    }
    if (!(await inventory.follow(addresses))) return
    const time = wallNs()
    const devices = [...inventory.devices.values()]
    for (const device of this.#inTurn(devices)) device.refresh(time)
    for (const device of devices) {
      // A device may leave in the middle of a sweep; what is left of its files says nothing then.
      if (!device.missed || inventory.meetAgain(device)) device.report()
    }
    if (inventory.leftOut > 0) this.#context.dropped('device_limit', inventory.leftOut)
    if (inventory.devices.size === 0) throw this.#failure(addresses.length)
  }

  close(): void {
    this.#inventory.close()
    this.#sysfs.close()
  }

  #inTurn(devices: readonly PciDevice[]): PciDevice[] {
    const bridges = devices.filter((device) => device.isBridge)
    const others = devices.filter((device) => !device.isBridge)
    const { intervalMs } = this.#context
    const left = Math.max(REFRESH_LIMIT - others.length, REFRESH_LIMIT / 4)
    const countOf = (list: readonly PciDevice[], count: number) => Math.max(count, leastReads(list.length, intervalMs))
    this.#sweep++
    return [
      ...inTurn(others, countOf(others, REFRESH_LIMIT), this.#sweep),
      ...inTurn(bridges, countOf(bridges, left), this.#sweep),
    ]
  }

  #failure(count: number): SondeError {
    const cause = this.#inventory.failure?.error
    const reason = this.#nothing(count)
    return new SondeError('SRC_READ', cause === undefined ? reason : `${reason}: ${cause.message}`, { cause })
  }

  #nothing(count: number): string {
    return `no device of ${this.#bus.listing}, which lists ${count}, is both wanted and readable`
  }
}

/** Registry row of the pci source. */
export const pci: SourceDefinition = {
  name: 'pci',
  summary: 'PCI devices: place, link speed and width, errors',
  types: [pciDeviceType, pciAerType],
  host: 'agent',
  intervalMs: 1000,
  options: pciOptions,
  explain: pciExplain,
  load: async () => ({
    create: (options, context) => sampled(new PciSource(options as PciOptions, context), context),
  }),
}
