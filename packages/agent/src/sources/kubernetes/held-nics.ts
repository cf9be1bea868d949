import type { Labels, RecordOf } from '@sonde/sdk'
import {
  type HostFunction,
  hostFunction,
  isNetworkFunction,
  isOwn,
  isPciAddress,
  scalableFunction,
  whyNoCounters,
} from '../pod-nics/functions.ts'
import { OF_CLAIM, OF_KUBELET } from '../pods/evidence.ts'
import type { podNicDeviceType } from '../pods/type.ts'
import { type ClaimDevices, claimKey } from './device-names.ts'
import { heldKey, podsByDevice } from './held-devices.ts'
import type { PodResources } from './parse.ts'
import { isAuxiliaryName } from './resources.ts'

/** Time after which a held function is read again: its RDMA device may have got another name. Unit: milliseconds. */
const FRESH_MS = 60_000

type RowLabel = 'namespace' | 'pod' | 'container' | 'resource' | 'device_id' | 'rdma_device'
type Row = RecordOf<typeof podNicDeviceType>

/** A device of a NIC that a container holds. */
export interface ContainerNic {
  readonly namespace: string
  readonly pod: string
  readonly labels: Labels
  readonly values: Omit<Row, 'time' | RowLabel>
}

/** A function of a NIC, with the PCI address that its id means. */
interface FoundFunction {
  readonly address: string
  readonly found: HostFunction
}

interface KnownFunction {
  /** Undefined if the id means no NIC of the host. */
  readonly nic: FoundFunction | undefined
  readonly readMs: number
}

/** Resolves the ids of NICs in answers of the kubelet by sysfs of the host. */
export class HeldNics {
  readonly #sysfs: string
  /** By id, those of the last answer. */
  #known: ReadonlyMap<string, KnownFunction> = new Map()

  constructor(sysfs: string) {
    this.#sysfs = sysfs
  }

  /** Number of ids that are kept. */
  get count(): number {
    return this.#known.size
  }

  /** The devices of NICs among those of an answer, each once for a container. */
  async find(
    { devices, claims }: Pick<PodResources, 'devices' | 'claims'>,
    claimed: ClaimDevices,
    nowMs: number,
  ): Promise<ContainerNic[]> {
    const named = [
      ...devices.map(({ resource, id, ...owner }) => ({ owner, isClaim: false, resource, id, place: id })),
      ...claims.map(({ claim: _, driver, pool, device, ...owner }) => {
        const place = claimed.get(claimKey(driver, pool, device)) ?? ''
        return { owner, isClaim: true, resource: driver, id: `${pool}/${device}`, place }
      }),
    ]
    const podsOf = podsByDevice(named)
    const known = new Map<string, KnownFunction>()
    const nics = new Map<string, ContainerNic>()
    for (const { owner, isClaim, resource, id, place } of named) {
      const found = known.get(place) ?? (await this.#functionAt(place, nowMs))
      known.set(place, found)
      const isFunction = isPciAddress(place) || isAuxiliaryName(place)
      // The PCI address of another device, such as one that is passed through to a virtual machine.
      if (isFunction && found.nic === undefined) continue
      const { namespace, pod } = owner
      const other = [...(podsOf.get(heldKey(resource, id)) ?? [])].find((name) => name !== `${namespace}/${pod}`)
      const labels = { ...owner, resource, device_id: id, rdma_device: found.nic?.found.rdmaDevice ?? '' }
      const { via } = isClaim ? OF_CLAIM : OF_KUBELET
      const values = found.nic ? ofFunction(found.nic, other) : ofNone(isClaim, resource, id)
      const doubt = other !== undefined && !isClaim ? `the kubelet lists ${id} for ${other} too` : values.doubt
      nics.set(JSON.stringify(Object.values(labels)), { namespace, pod, labels, values: { ...values, doubt, via } })
    }
    this.#known = known
    return [...nics.values()]
  }

  async #functionAt(id: string, nowMs: number): Promise<KnownFunction> {
    const known = this.#known.get(id)
    if (known !== undefined && nowMs - known.readMs < FRESH_MS) return known
    return { nic: await this.#read(id), readMs: nowMs }
  }

  async #read(id: string): Promise<FoundFunction | undefined> {
    if (isAuxiliaryName(id)) return scalableFunction(this.#sysfs, id)
    if (!isPciAddress(id) || !(await isNetworkFunction(this.#sysfs, id))) return undefined
    return { address: id, found: await hostFunction(this.#sysfs, id) }
  }
}

/** @param other Another pod that holds it; undefined if there is none. */
function ofFunction({ address, found }: FoundFunction, other: string | undefined) {
  const { physicalFunction: physical_function, representor: host_interface } = found
  const shared = other === undefined ? '' : `${other} holds the same device`
  return {
    ...{ pci_address: address, physical_function, host_interface },
    no_counters: shared || whyNoCounters(found),
    own: isOwn(found) && shared === '' ? 1 : 0,
    doubt: '',
  }
}

/** A device without a function of its own: a share of RDMA devices, or one that no source names. */
function ofNone(isClaim: boolean, resource: string, id: string) {
  const place = { pci_address: '', physical_function: '', host_interface: '' }
  if (isClaim) {
    const doubt = `the API server names no PCI address of ${id}`
    return { ...place, no_counters: doubt, own: 0, doubt }
  }
  const no_counters = `${resource} gives the same RDMA devices to several pods; ${id} is only a place among them`
  return { ...place, no_counters, own: 0, doubt: '' }
}
