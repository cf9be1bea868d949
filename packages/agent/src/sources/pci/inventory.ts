import { wallNs } from '@sonde/sdk'
import { turn } from '@sonde/sdk/internal'
import { type KernelFiles, ReadFailure } from '../kernel-file.ts'
import type { SourceContext } from '../source.ts'
import { inTurn } from '../turns.ts'
import type { PciBus } from './bus.ts'
import type { PciOptions } from './config.ts'
import { PciDevice } from './device.ts'
import { chooseDevices, glanceAt, type PciGlance } from './glance.ts'

/** Number of devices whose class, driver and interfaces are read again in one sweep, in turn. */
const EXAMINE_LIMIT = 2
/** Devices that could not be looked at and are tried again in one sweep. */
const RETRY_LIMIT = 16

/**
 * The devices, and which of them are read. The listing is read at every sweep. New entries are examined at once; the
 * others a few a sweep, because another device may have replaced a device between two sweeps.
 */
export class PciInventory {
  /** Devices that are read, by address, in order. */
  readonly devices = new Map<string, PciDevice>()
  /** Devices that the limit leaves out. */
  leftOut = 0
  readonly #options: PciOptions
  readonly #bus: PciBus
  readonly #sysfs: KernelFiles
  readonly #context: SourceContext
  /** Listed and readable devices. Limited by the address space of PCI, like the next. */
  readonly #glances = new Map<string, PciGlance>()
  /** What is listed and could not. */
  readonly #unread = new Map<string, ReadFailure>()
  /** Whether a device changed since the last choice of the devices to read. */
  #changed = false
  #sweep = 0
  #closes = 0

  constructor(options: PciOptions, bus: PciBus, sysfs: KernelFiles, context: SourceContext) {
    this.#options = options
    this.#bus = bus
    this.#sysfs = sysfs
    this.#context = context
  }

  /**
   * Looks at everything anew, for a probe: nothing is counted. How many would be read, and why another could not be
   * looked at.
   */
  async survey(addresses: readonly string[]): Promise<{ found: number; failure: ReadFailure | undefined }> {
    const glances = new Map<string, PciGlance>()
    let failure: ReadFailure | undefined
    await this.#inSteps(addresses, (address) => {
      const glance = glanceAt(address, this.#bus, this.#sysfs)
      if (glance instanceof ReadFailure) failure ??= glance
      else glances.set(address, glance)
    })
    return { found: chooseDevices(glances, this.#options).chosen.length, failure }
  }

  /** Takes note of what came, left and changed. False where `close` was called meanwhile. */
  async follow(addresses: readonly string[]): Promise<boolean> {
    this.#sweep++
    const listed = new Set(addresses)
    const seen = [...this.#glances.keys(), ...this.#unread.keys()]
    const left = seen.filter((address) => !listed.has(address))
    for (const address of left) this.#forget(address)
    const known = [...this.devices.keys()].filter((address) => listed.has(address))
    const others = [...this.#glances.keys()].filter((address) => listed.has(address) && !this.devices.has(address))
    const fresh = addresses.filter((address) => !this.#glances.has(address) && !this.#unread.has(address))
    const due = this.#inTurn(known, EXAMINE_LIMIT)
    if (left.length > 0) this.#changed = true
    const again = [...this.#inTurn([...this.#unread.keys()], RETRY_LIMIT), ...this.#inTurn(others, 1), ...due]
    const looked = await this.#inSteps([...fresh, ...again], (address) => this.#inspect(address))
    if (!looked) return false
    if (this.#changed) this.#choose()
    const unexamined = [...this.devices.values()].filter((device) => !device.isExamined)
    return this.#inSteps([...unexamined.map(({ address }) => address), ...due], (address) => this.#examine(address))
  }

  /**
   * Looks at a device again whose files are leaving. False if it is gone, even if there is another at its address.
   */
  meetAgain(device: PciDevice): boolean {
    const { address } = device
    this.#inspect(address)
    if (this.#changed) this.#choose()
    this.#examine(address)
    return this.devices.get(address) === device
  }

  /** The first reason for which something could not be looked at. */
  get failure(): ReadFailure | undefined {
    return this.#unread.values().next().value
  }

  /** Ends what `follow` is doing. Everything is kept for the next sweep. */
  close(): void {
    this.#closes++
  }

  #examine(address: string): void {
    const glance = this.#glances.get(address)
    const device = this.devices.get(address)
    if (glance === undefined || device === undefined) return
    const isNew = !device.isExamined
    device.examine(glance)
    if (isNew) device.refresh(wallNs())
  }

  #inspect(address: string): void {
    const before = this.#glances.get(address)
    const glance = glanceAt(address, this.#bus, this.#sysfs)
    if (glance instanceof ReadFailure) {
      this.#context.failed(address, glance.error)
      // A device that is temporarily unreadable keeps its last state.
      if (before !== undefined && glance.kind !== 'missing') return
      this.#glances.delete(address)
      this.#unread.set(address, glance)
    } else {
      this.#unread.delete(address)
      this.#glances.set(address, glance)
      if (before !== undefined && glanceText(before) === glanceText(glance)) return
    }
    this.#changed = true
  }

  /** Decides what is read. */
  #choose(): void {
    const { chosen, leftOut } = chooseDevices(this.#glances, this.#options)
    const before = new Map(this.devices)
    this.devices.clear()
    for (const glance of chosen) {
      const { address, folder } = glance.place
      const known = before.get(address)
      const device = known?.isAt(folder) ? known : new PciDevice(glance, this.#sysfs, this.#context)
      this.devices.set(address, device)
    }
    for (const [address, device] of before) if (this.devices.get(address) !== device) device.leave()
    this.#changed = false
    this.leftOut = leftOut
  }

  #forget(address: string): void {
    this.#glances.delete(address)
    this.#unread.delete(address)
  }

  #inTurn(addresses: readonly string[], count: number): string[] {
    return inTurn(addresses, count, this.#sweep)
  }

  async #inSteps(addresses: readonly string[], act: (address: string) => void): Promise<boolean> {
    const closes = this.#closes
    for (const address of addresses) {
      act(address)
      if (!turn.isOver()) continue
      await turn.next()
      if (this.#closes !== closes) return false
    }
    return true
  }
}

/** The parts of a glance that decide whether a device is read, and where. */
function glanceText({ place, classCode, vendorId, productId, physicalFunction }: PciGlance): string {
  return [classCode, vendorId, productId, physicalFunction, ...place.folder].join(' ')
}
