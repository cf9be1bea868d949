import { within } from '@sonde/sdk/internal'
import koffi from '../foreign.ts'
import { DocaFailure } from './failure.ts'
import { TEXT_BYTES } from './layout.ts'
import type { DocaLibrary } from './library.ts'
import { DocaMemory } from './memory.ts'
import type { DocaSymbol } from './symbols.ts'

/** Devices that are listed at most. */
const DEVICES_MAX = 4096
/** Names become labels and parts of paths below sysfs. */
const NAME = /^[A-Za-z0-9][\w.-]*$/
const ADDRESS_BYTES = 8n

/** A device by its three names. A name that the library does not tell is empty. */
export interface DocaDeviceNames {
  /** RDMA device, such as `mlx5_0`. */
  readonly name: string
  /** `0000:3a:00.0`. */
  readonly pciAddress: string
  /** Network interface. */
  readonly netdev: string
}

type Names = { -readonly [key in keyof DocaDeviceNames]: string }

/** Which devices a library lists. A device whose names are awaited for long keeps no other from being listed. */
export class DocaRoster {
  /** Whether a device has not told its names yet. Until it has, no other list is made. */
  isWaiting = false
  /** Why a device did not tell its RDMA name when the last list was made; undefined if all of them did. */
  refusal: DocaFailure | undefined
  readonly #library: DocaLibrary
  readonly #limitMs: number
  #listed: readonly DocaDeviceNames[] = []
  /** Of the devices of the last list, by their names: each call costs a thread, and the other names stay. */
  readonly #known = new Map<string, DocaDeviceNames>()

  /** @param limitMs A device that has not told its names by then is listed later. Unit: milliseconds. */
  constructor(library: DocaLibrary, limitMs: number) {
    this.#library = library
    this.#limitMs = limitMs
  }

  /** Devices that told an RDMA name; a failure where none did. */
  async list(): Promise<readonly DocaDeviceNames[] | DocaFailure> {
    if (this.isWaiting) return this.#listed
    const list = await createList(this.#library)
    if (list instanceof DocaFailure) return list
    const devices = list.infos.map((): Names => ({ name: '', pciAddress: '', netdev: '' }))
    this.isWaiting = true
    this.refusal = undefined
    const told = Promise.all(list.infos.map((info, at) => this.#tellNames(info, devices[at] as Names)))
    const destroyed = told
      .then(() => list.destroy())
      .finally(() => {
        this.isWaiting = false
      })
    await within(this.#limitMs, destroyed)
    this.#listed = devices.filter(({ name }) => NAME.test(name)).map((names) => ({ ...names }))
    this.#known.clear()
    for (const names of this.#listed) if (names.pciAddress !== '') this.#known.set(names.name, names)
    return this.#listed.length === 0 && this.refusal !== undefined ? this.refusal : this.#listed
  }

  async #tellNames(info: bigint, names: Names): Promise<void> {
    const library = this.#library
    const name = await ibNameOf(library, info)
    if (name instanceof DocaFailure) this.refusal = name
    names.name = textIn(name)
    const known = this.#known.get(names.name)
    if (known !== undefined) {
      Object.assign(names, known)
      return
    }
    names.pciAddress = await readPciAddress(library, info)
    const { interface: size } = TEXT_BYTES
    names.netdev = textIn(await readText(library, size, 'doca_devinfo_get_iface_name', info, size))
  }
}

/**
 * Finds a listed device by its RDMA name and calls a function with it. Devices that do not answer delay no other
 * device.
 *
 * @returns The result of the function; undefined if no device has the name.
 */
export async function findDocaInfo<T>(
  library: DocaLibrary,
  name: string,
  use: (info: bigint) => Promise<T>,
): Promise<T | DocaFailure | undefined> {
  const list = await createList(library)
  if (list instanceof DocaFailure) return list
  const names = list.infos.map((info) => ibNameOf(library, info))
  try {
    const found = await Promise.any(
      names.map(async (told, at) => ((await told) === name ? (list.infos[at] as bigint) : Promise.reject())),
    ).catch(() => undefined)
    return found === undefined ? undefined : await use(found)
  } finally {
    void Promise.all(names).then(() => list.destroy())
  }
}

interface DeviceList {
  readonly infos: readonly bigint[]
  /** Afterwards no info of it is used. */
  destroy(): Promise<unknown>
}

async function createList(library: DocaLibrary): Promise<DeviceList | DocaFailure> {
  const memory = new DocaMemory()
  const failure = await library.call(NODE, 'doca_devinfo_create_list', memory.out, memory.second)
  if (failure !== undefined) return failure
  const list = memory.address
  const count = memory.second.readUInt32LE()
  const destroy = () => library.call(NODE, 'doca_devinfo_destroy_list', list)
  if (count <= DEVICES_MAX) return { infos: addressesAt(list, count), destroy }
  await destroy()
  return new DocaFailure(NODE, 'doca_devinfo_create_list', 'TOO_BIG')
}

/** The lane of calls without a device. */
const NODE = 'the node'

/** Addresses in a list, which ends before its count where the library counts more than it has. */
function addressesAt(list: bigint, count: number): bigint[] {
  const addresses: bigint[] = []
  for (let at = 0n; list !== 0n && at < count; at++) {
    const address = BigInt(koffi.decode(list + at * ADDRESS_BYTES, 'uintptr_t'))
    if (address === 0n) break
    addresses.push(address)
  }
  return addresses
}

function ibNameOf(library: DocaLibrary, info: bigint): Promise<string | DocaFailure> {
  const { ibDevice: size } = TEXT_BYTES
  return readText(library, size, 'doca_devinfo_get_ibdev_name', info, size)
}

/** The PCI address of a device; empty if the library does not tell it. */
export async function readPciAddress(library: DocaLibrary, info: bigint): Promise<string> {
  return textIn(await readText(library, TEXT_BYTES.pciAddress, 'doca_devinfo_get_pci_addr_str', info))
}

/** A text that ends with a NUL within its size. */
async function readText(
  library: DocaLibrary,
  bytes: number,
  symbol: DocaSymbol,
  info: bigint,
  ...size: number[]
): Promise<string | DocaFailure> {
  const { text } = new DocaMemory()
  const failure = await library.call(`device ${info}`, symbol, info, text, ...size)
  if (failure !== undefined) return failure
  const end = text.subarray(0, bytes).indexOf(0)
  return text.toString('latin1', 0, end < 0 ? bytes : end)
}

function textIn(told: string | DocaFailure): string {
  return told instanceof DocaFailure ? '' : told
}
