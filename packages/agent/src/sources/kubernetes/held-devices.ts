import type { Labels } from '@sonde/sdk'
import { parseDeviceId } from './device-id.ts'
import type { DeviceNames, ResolvedDevice } from './device-names.ts'
import type { PodResources } from './parse.ts'

/** A GPU, or MIG instance, that a container holds. */
export interface ContainerDevice {
  readonly namespace: string
  readonly pod: string
  /** The labels of its record. */
  readonly labels: Labels
  /** Name of the claim; empty if a device plugin gave the device. */
  readonly claim: string
  readonly resource: string
  readonly id: string
  /** Why the device is not certain; empty if it is. */
  readonly doubt: string
}

/** A container, and the device as the kubelet names it. */
interface NamedDevice {
  readonly owner: { readonly namespace: string; readonly pod: string; readonly container: string }
  readonly claim: string
  readonly resource: string
  readonly id: string
  /** The GPU or instance; undefined if no source has named it. */
  readonly device: ResolvedDevice | undefined
}

/**
 * The devices in an answer of the kubelet, each once for a container: a container that holds several replicas of a GPU
 * holds one GPU. A device whose id is not resolved has the id in the place of the UUID.
 */
export function heldDevices(
  { devices, claims }: Pick<PodResources, 'devices' | 'claims'>,
  names: DeviceNames,
): ContainerDevice[] {
  const named = [
    ...devices.map(({ resource, id, ...owner }): NamedDevice => {
      const parsed = parseDeviceId(id)
      return { owner, claim: '', resource, id, device: parsed && names.resolve(parsed) }
    }),
    ...claims.map(({ claim, driver, pool, device, ...owner }): NamedDevice => {
      return { owner, claim, resource: driver, id: `${pool}/${device}`, device: names.ofClaim(driver, pool, device) }
    }),
  ]
  const podsOf = podsByDevice(named)
  const held = new Map<string, ContainerDevice>()
  for (const { owner, claim, resource, id, device } of named) {
    const { UUID, GPU_I_ID, Hostname } = device ?? { UUID: id, GPU_I_ID: '', Hostname: '' }
    const labels = { ...owner, UUID, GPU_I_ID, Hostname }
    const key = JSON.stringify(Object.values(labels))
    if (held.has(key)) continue
    const { namespace, pod } = owner
    const other = [...(podsOf.get(heldKey(resource, id)) ?? [])].find((name) => name !== `${namespace}/${pod}`)
    const doubt =
      device === undefined
        ? `no source has reported a GPU that ${id} names`
        : other !== undefined && claim === ''
          ? `the kubelet lists ${id} for ${other} too`
          : ''
    held.set(key, { namespace, pod, labels, claim, resource, id, doubt })
  }
  return [...held.values()]
}

/** The pods that hold each id. A plugin gives an id to one container; claims can be shared. */
export function podsByDevice(
  named: readonly Pick<NamedDevice, 'owner' | 'resource' | 'id'>[],
): ReadonlyMap<string, ReadonlySet<string>> {
  const pods = new Map<string, Set<string>>()
  for (const { owner, resource, id } of named) {
    const key = heldKey(resource, id)
    const known = pods.get(key) ?? new Set()
    pods.set(key, known.add(`${owner.namespace}/${owner.pod}`))
  }
  return pods
}

/** The key of a device in {@link podsByDevice}. */
export function heldKey(resource: string, id: string): string {
  return `${resource} ${id}`
}
