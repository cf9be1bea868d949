import { readdir, readFile, readlink } from 'node:fs/promises'
import { basename } from 'node:path'

const ADDRESS = /^[0-9a-f]{4,8}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]$/
/** A port of the switch in an adapter that leads to a virtual function. */
const REPRESENTOR = /^(?:c\d+)?pf\d+vf(?<vf>\d+)$/

/** A PCI function as the host sees it. */
export interface HostFunction {
  /** Its RDMA device; empty if the host sees none. */
  readonly rdmaDevice: string
  /** Address of the adapter if the function is virtual; else empty. */
  readonly physicalFunction: string
  /** Interface of the host that represents the function in the switch of the adapter; empty if there is none. */
  readonly representor: string
}

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
  return { rdmaDevice, physicalFunction, representor }
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
    const number = /^virtfn(\d+)$/.exec(name)?.[1]
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
