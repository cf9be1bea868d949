import { readdir, readFile, readlink } from 'node:fs/promises'
import { basename, dirname } from 'node:path'
import { countOf } from '@sonde/sdk/internal'

const ADDRESS = /^[0-9a-f]{4,8}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]$/
/** A port of the switch in an adapter that leads to a virtual function. */
const REPRESENTOR = /^(?:c\d+)?pf\d+vf(?<vf>\d+)$/

/** A link from an adapter to one of its virtual functions. */
const VIRTUAL = /^virtfn(?<place>\d+)$/
/** Base class 2 of PCI: network controllers, those of InfiniBand among them. */
const NETWORK = /^0x02/

/** A PCI function as the host sees it. */
export interface HostFunction {
  /** Its RDMA device; empty if the host sees none. */
  readonly rdmaDevice: string
  /** Address of the adapter if the function is virtual; else empty. */
  readonly physicalFunction: string
  /** Interface of the host that represents the function in the switch of the adapter; empty if there is none. */
  readonly representor: string
  /** Number of its virtual functions; 0 if it is no adapter, or has none. */
  readonly virtualFunctions: number
  /** Driver of the host; empty if it has none. */
  readonly driver: string
}

/** Drivers that pass a function through to a virtual machine. */
const PASSES_THROUGH = /^vfio/

/** Whether a text is a PCI address. */
export function isPciAddress(text: string): boolean {
  return ADDRESS.test(text)
}

/** Reads a PCI function from sysfs of the host. */
export async function hostFunction(sysfs: string, address: string): Promise<HostFunction> {
  const folder = `${sysfs}/bus/pci/devices/${address}`
  const [rdmaDevice = ''] = await names(`${folder}/infiniband`)
  const physicalFunction = basename(await target(`${folder}/physfn`))
  const representor = physicalFunction === '' ? '' : await representorOf(sysfs, physicalFunction, address)
  const virtualFunctions = (await names(folder)).filter((name) => VIRTUAL.test(name)).length
  const driver = basename(await target(`${folder}/driver`))
  return { rdmaDevice, physicalFunction, representor, virtualFunctions, driver }
}

/** Whether a pod that has the function has it for itself. The virtual functions of an adapter are those of others. */
export function isOwn({ virtualFunctions }: HostFunction): boolean {
  return virtualFunctions === 0
}

/** Why no RDMA counters are those of a pod that has the function alone; empty if those of its RDMA device are. */
export function whyNoCounters({ rdmaDevice, physicalFunction, virtualFunctions, driver }: HostFunction): string {
  if (PASSES_THROUGH.test(driver))
    return `${driver} passes it through to a virtual machine: only ${physicalFunction || 'the adapter'} counts its traffic`
  if (virtualFunctions > 0) return `its counters include those of its ${countOf(virtualFunctions, 'virtual function')}`
  if (rdmaDevice !== '') return ''
  return 'the host sees no RDMA device of it: it has none, or it is in the network namespace of the pod'
}

/** Whether the host has a PCI function that is a network controller. */
export async function isNetworkFunction(sysfs: string, address: string): Promise<boolean> {
  return NETWORK.test(await line(`${sysfs}/bus/pci/devices/${address}/class`))
}

/**
 * Reads a scalable function from sysfs of the host, with the address of its adapter; undefined if there is none of this
 * name.
 */
export async function scalableFunction(
  sysfs: string,
  name: string,
): Promise<{ readonly address: string; readonly found: HostFunction } | undefined> {
  const folder = `${sysfs}/bus/auxiliary/devices/${name}`
  const address = basename(dirname(await target(folder)))
  if (!isPciAddress(address)) return undefined
  const [rdmaDevice = ''] = await names(`${folder}/infiniband`)
  const driver = basename(await target(`${folder}/driver`))
  const found = { rdmaDevice, physicalFunction: address, representor: '', virtualFunctions: 0, driver }
  return { address, found }
}

/** Interfaces of the host that lead to another interface, by their number: one end of a veth pair among them. */
export async function hostInterfaces(sysfs: string): Promise<ReadonlyMap<number, string>> {
  const found = new Map<number, string>()
  for (const name of await names(`${sysfs}/class/net`)) {
    const numberIn = async (file: string) => Number.parseInt(await line(`${sysfs}/class/net/${name}/${file}`), 10)
    const [index, link] = [await numberIn('ifindex'), await numberIn('iflink')]
    if (Number.isSafeInteger(index) && index !== link) found.set(index, name)
  }
  return found
}

async function representorOf(sysfs: string, adapter: string, address: string): Promise<string> {
  const folder = `${sysfs}/bus/pci/devices/${adapter}`
  let place: string | undefined
  for (const name of await names(folder)) {
    const number = VIRTUAL.exec(name)?.groups?.place
    if (number !== undefined && basename(await target(`${folder}/${name}`)) === address) place = number
  }
  if (place === undefined) return ''
  for (const name of await names(`${folder}/net`)) {
    const port = REPRESENTOR.exec(await line(`${folder}/net/${name}/phys_port_name`))
    if (port?.groups?.vf === place) return name
  }
  return ''
}

async function names(folder: string): Promise<string[]> {
  try {
    return (await readdir(folder)).sort()
  } catch {
    // A function without this property has no such folder.
    return []
  }
}

async function line(path: string): Promise<string> {
  try {
    return (await readFile(path, 'utf8')).trim()
  } catch {
    // Drivers refuse properties that they do not have.
    return ''
  }
}

async function target(link: string): Promise<string> {
  try {
    return await readlink(link)
  } catch {
    // Only virtual functions have the link.
    return ''
  }
}
