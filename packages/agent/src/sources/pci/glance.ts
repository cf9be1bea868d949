import { SondeError } from '@sonde/sdk'
import { deviceFilter } from '../device-filter.ts'
import { type KernelFiles, ReadFailure } from '../kernel-file.ts'
import type { PciBus, PciPlace } from './bus.ts'
import type { PciOptions } from './config.ts'
import { classOf, type PciClass } from './names.ts'
import { parseHexadecimal } from './parse.ts'

/** The properties of a device that decide whether it is read. */
export interface PciGlance {
  readonly place: PciPlace
  readonly class: PciClass
  readonly classCode: number
  readonly vendorId: string
  readonly productId: string
  /** Names of the files, links and folders that it has. */
  readonly names: ReadonlySet<string>
  /** Address of the physical function, empty for all but virtual functions. */
  readonly physicalFunction: string
}

/** Looks where a device is and what it is. */
export function glanceAt(address: string, bus: PciBus, sysfs: KernelFiles): PciGlance | ReadFailure {
  const place = bus.place(address)
  if (place instanceof ReadFailure) return place
  const listed = sysfs.list(...place.folder)
  if (listed instanceof ReadFailure) return listed
  const names = new Set(listed)
  const classCode = readHexadecimal(sysfs, place, 'class')
  const vendor = readHexadecimal(sysfs, place, 'vendor')
  const product = readHexadecimal(sysfs, place, 'device')
  for (const value of [classCode, vendor, product]) if (value instanceof ReadFailure) return value
  const [vendorId, productId] = [idOf(Number(vendor)), idOf(Number(product))]
  const kind = classOf(Number(classCode), vendorId, productId)
  const physicalFunction = nameBehind('physfn', { place, names }, sysfs)
  return { place, class: kind, classCode: Number(classCode), vendorId, productId, names, physicalFunction }
}

/**
 * The last name of where a link leads: the driver behind `driver`, the device behind `physfn`. Empty if it is not
 * there, or has left.
 */
export function nameBehind(
  link: string,
  { place, names }: Pick<PciGlance, 'place' | 'names'>,
  sysfs: KernelFiles,
): string {
  const name = names.has(link) ? sysfs.linkName(...place.folder, link) : ''
  return name instanceof ReadFailure ? '' : name
}

/** An id as the tables of ids spell it: four hexadecimal digits. */
export function idOf(value: number): string {
  return value.toString(16).padStart(4, '0')
}

/** Reads a file that is rare: opened, read, closed. */
function readHexadecimal(sysfs: KernelFiles, place: PciPlace, name: string): number | ReadFailure {
  const file = sysfs.file(...place.folder, name)
  const bytes = file.readAnew()
  file.close()
  if (bytes instanceof ReadFailure) return bytes
  const value = parseHexadecimal(bytes)
  return value ?? new ReadFailure('failed', new SondeError('SRC_READ', `${file.path} holds no number like 0x15b3`))
}

/** The devices that are read, in the order of their addresses, and how many more would be but for the limit. */
export interface PciChoice {
  readonly chosen: readonly PciGlance[]
  readonly leftOut: number
}

/**
 * Chooses what to read: devices that are asked for, and the bridges on their way to the root, where a bad link may be
 * counted instead. What would go beyond the limit is left out, virtual functions before anything else: a port may have
 * hundreds, and all of them share its link.
 */
export function chooseDevices(glances: ReadonlyMap<string, PciGlance>, options: PciOptions): PciChoice {
  const classes = new Set<PciClass>(options.classes)
  const matches = deviceFilter(options.devices)
  const wanted = [...glances.values()].filter((glance) => classes.has(glance.class) && matches(glance.place.address))
  const isVirtual = ({ physicalFunction }: PciGlance) => physicalFunction !== ''
  const chosen = new Map<string, PciGlance>()
  let leftOut = 0
  for (const glance of [...wanted.filter((one) => !isVirtual(one)), ...wanted.filter(isVirtual)]) {
    const bridges = glance.place.path.flatMap((address) => glances.get(address) ?? [])
    const added = [...bridges, glance].filter(({ place }) => !chosen.has(place.address))
    if (chosen.size + added.length > options.device_limit) leftOut++
    else for (const one of added) chosen.set(one.place.address, one)
  }
  const inOrder = [...chosen.values()].sort((a, b) => (a.place.address < b.place.address ? -1 : 1))
  return { chosen: inOrder, leftOut }
}
