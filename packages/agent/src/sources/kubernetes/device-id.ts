/**
 * A GPU, or a MIG instance, as a device plugin names it. `gpu`: its UUID. `mig`: UUID of an instance, which only the
 * driver can resolve. `instance`: UUID of the GPU and id of the instance, from drivers before R470. `file`: the device
 * file, and the instance if `instance` is not empty, as on GKE.
 */
export type DeviceId =
  | { readonly kind: 'gpu'; readonly uuid: string }
  | { readonly kind: 'mig'; readonly uuid: string }
  | { readonly kind: 'instance'; readonly uuid: string; readonly instance: string }
  | { readonly kind: 'file'; readonly file: string; readonly instance: string }

/** Time-slicing and MPS append the number of the replica. */
const REPLICA = /::\d+$/
const GPU = /^GPU-[0-9A-Za-z-]{1,80}$/
const INSTANCE = /^MIG-(GPU-[0-9A-Za-z-]{1,80})\/(\d{1,3})\/\d{1,3}$/
const MIG = /^MIG-[0-9A-Za-z-]{1,80}$/
/** Plugin of GKE: a device file, with the instance if MIG is on, and the number of the share if the GPU is shared. */
const FILE = /^(nvidia\d{1,4})(?:\/gi(\d{1,3}))?(?:\/vgpu\d{1,4})?$/

/** Parses the id of a device; undefined if no known plugin writes such an id. */
export function parseDeviceId(id: string): DeviceId | undefined {
  const own = id.replace(REPLICA, '')
  if (GPU.test(own)) return { kind: 'gpu', uuid: own }
  const [, uuid, gi] = INSTANCE.exec(own) ?? []
  if (uuid !== undefined && gi !== undefined) return { kind: 'instance', uuid, instance: String(Number(gi)) }
  if (MIG.test(own)) return { kind: 'mig', uuid: own }
  const [, file, instance = ''] = FILE.exec(id) ?? []
  if (file === undefined) return undefined
  return { kind: 'file', file, instance: instance === '' ? '' : String(Number(instance)) }
}
