import type { DocaDeviceNames } from '../../native/doca/roster.ts'
import { deviceFilter } from '../device-filter.ts'
import { deviceName } from '../pci-address.ts'
import { namedPlanesText, type Planes } from '../rdma-planes.ts'

/** The devices that the library lists, without planes of a port, and these planes. */
export interface ListedDevices {
  readonly devices: readonly DocaDeviceNames[]
  readonly planes: Planes
}

/**
 * The devices that the option `devices` selects. A device is selected by its RDMA name, its interface or its address.
 */
export class WantedDevices {
  readonly #patterns: readonly string[]
  readonly #isIn: (name: string) => boolean
  readonly #isOut: (name: string) => boolean
  readonly #told = new Set<string>()

  constructor(patterns: readonly string[]) {
    const out = patterns.filter((pattern) => pattern.startsWith('!')).map((pattern) => pattern.slice(1))
    this.#patterns = patterns
    this.#isIn = deviceFilter(patterns.filter((pattern) => !pattern.startsWith('!')))
    this.#isOut = out.length > 0 ? deviceFilter(out) : () => false
  }

  /** Returns the listed devices that are read. */
  of({ devices }: ListedDevices): DocaDeviceNames[] {
    return devices.filter((device) => {
      const names = namesOf(device)
      return names.some(this.#isIn) && !names.some(this.#isOut)
    })
  }

  /** Describes which listed devices are read, and which names no device has. */
  found(listed: ListedDevices): string {
    const read = this.of(listed).map(({ name }) => name)
    const missing = this.#missingOf(listed)
    return missing.length > 0 ? `${read.join(', ')}; ${noneOf(listed, missing)}` : read.join(', ')
  }

  /** Describes why no listed device is read. */
  none(listed: ListedDevices): string {
    return noneOf(listed, this.#patterns)
  }

  /** Calls `report` for each name that no device has, with the reason, and without a reason once a device has it. */
  reportMissing(listed: ListedDevices, report: (name: string, reason: string | undefined) => void): void {
    const missing = new Set(this.#missingOf(listed))
    for (const name of missing) report(name, noneOf(listed, [name]))
    for (const name of this.#told) if (!missing.has(name)) report(name, undefined)
    this.#told.clear()
    for (const name of missing) this.#told.add(name)
  }

  #missingOf({ devices }: ListedDevices): string[] {
    const there = new Set(devices.flatMap(namesOf))
    return this.#patterns.filter((pattern) => !/^!|[*?]/.test(pattern) && !there.has(deviceName(pattern)))
  }
}

function namesOf({ name, pciAddress, netdev }: DocaDeviceNames): string[] {
  // Libraries may omit the domain of an address.
  return [name, deviceName(pciAddress), netdev].filter((one) => one !== '')
}

function noneOf({ devices, planes }: ListedDevices, patterns: readonly string[]): string {
  if (devices.length === 0) return 'the library lists no device'
  const there = devices.map((device) => namesOf(device).join(' = ')).join(', ')
  const unknown = patterns.filter((pattern) => !planes.has(pattern))
  const reasons = [
    namedPlanesText(patterns, planes),
    unknown.length > 0 || patterns.length === 0
      ? `no device is called ${unknown.join(' or ')}; there are: ${there}`
      : '',
  ]
  return reasons.filter(Boolean).join('; ')
}
