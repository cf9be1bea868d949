import { CallFailure } from '../../native/call-failure.ts'
import type { EthtoolSocket, StatisticSet } from '../../native/ethtool.ts'
import { hostFunction, isOwn, isPciAddress, whyNoCounters } from './functions.ts'

/** Bytes of a name in the statistics of a driver. */
const NAME_BYTES = 32
const VIRTUAL = 'a virtual interface has no RDMA device'
/** The statistic of a veth interface with the number of its other end, in the namespace of that end. */
const PEER = 'peer_ifindex'

/** An interface in the network namespace of a pod. The fields are those of `pod_nic`. */
export interface Nic {
  readonly name: string
  readonly driver: string
  readonly pci_address: string
  readonly rdma_device: string
  readonly physical_function: string
  readonly host_interface: string
  readonly no_counters: string
  readonly own: 0 | 1
}

/** The host, as far as interfaces of pods lead to it. */
export interface HostView {
  readonly sysfs: string
  /** Names of its interfaces by number. */
  readonly interfaces: ReadonlyMap<number, string>
}

/**
 * Asks the drivers of the interfaces in a namespace. The kernel answers, and no file of the container: a container
 * cannot name an adapter that it does not have.
 *
 * @param path File of the namespace.
 * @throws SondeError `SRC_CALL` if the namespace cannot be entered.
 */
export async function nicsIn(path: string, names: readonly string[], host: HostView): Promise<Nic[]> {
  // Only the child process loads native code: see the README of the folder `ethtool`.
  const { EthtoolSocket } = await import('../../native/ethtool.ts')
  const socket = EthtoolSocket.inside(path)
  try {
    const nics: Nic[] = []
    for (const name of names) nics.push(await nicOf(socket, name, host))
    return nics
  } finally {
    socket.close()
  }
}

async function nicOf(socket: EthtoolSocket, name: string, host: HostView): Promise<Nic> {
  const found = await socket.driver(name)
  // Some virtual interfaces have no driver that answers.
  const { driver, busInfo } = found instanceof CallFailure ? { driver: '', busInfo: '' } : found
  if (isPciAddress(busInfo)) {
    const found = await hostFunction(host.sysfs, busInfo)
    const { rdmaDevice: rdma_device, physicalFunction: physical_function, representor: host_interface } = found
    const own = isOwn(found) ? 1 : 0
    const place = { pci_address: busInfo, rdma_device, physical_function, host_interface }
    return { name, driver, ...place, no_counters: whyNoCounters(found), own }
  }
  const host_interface = driver === 'veth' ? await otherEnd(socket, name, host) : ''
  const place = { pci_address: '', rdma_device: '', physical_function: '', host_interface }
  return { name, driver, ...place, no_counters: VIRTUAL, own: 0 }
}

/** The end of a veth pair on the host; empty if it is in another namespace. */
async function otherEnd(socket: EthtoolSocket, name: string, { interfaces }: HostView): Promise<string> {
  const statistics = await socket.statistics(name)
  if (statistics instanceof CallFailure) return ''
  return interfaces.get(statisticOf(statistics, PEER) ?? -1) ?? ''
}

function statisticOf({ names, values, count }: StatisticSet, wanted: string): number | undefined {
  for (let at = 0; at < count; at++) {
    const name = names.toString('latin1', at * NAME_BYTES, (at + 1) * NAME_BYTES).replace(/\0.*$/s, '')
    // The number of an interface has 31 bits.
    if (name === wanted) return values[at * 2]
  }
  return undefined
}
