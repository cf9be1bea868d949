import { deviceLabelOf } from '@sonde/sdk/internal'
import type { Device } from '../devices/device.ts'
import { deviceName } from '../sources/pci-address.ts'
import type { SourceDefinition } from '../sources/source.ts'
import type { EventDeviceLookup } from './lookups.ts'

/** A source's name of the device of an event. */
export interface CalledDevice {
  readonly device: string
  readonly isSimulated: boolean
}

/**
 * The id, in the list of devices, of the device that a source names. If the list has no such device, or several, the
 * source's name is returned. Edges of reported records already have the id.
 */
export function eventDeviceId(
  { device, isSimulated }: CalledDevice,
  source: { readonly definition: Pick<SourceDefinition, 'labels' | 'types'> } | undefined,
  devices: EventDeviceLookup,
): string {
  const own = devices.byId(device)
  if (device === '' || own !== undefined) return own === undefined ? device : wholeDevice(own, devices).id
  // The name of a ring of one port is DEVICE/PORT.
  const [, whole = device, port] = /^(.+)\/(\d{1,9})$/.exec(device) ?? []
  const labels = { ...source?.definition.labels, ...(port === undefined ? {} : { port }) }
  for (const type of source?.definition.types ?? []) {
    const name = deviceLabelOf(type)
    const found = name === undefined ? undefined : devices.deviceOf(type, { ...labels, [name]: deviceName(whole) })
    if (found !== undefined) return wholeDevice(found, devices).id
  }
  const named = devices.own().filter((one) => one.about.key[0] === deviceName(device))
  const same = named.filter((one) => one.isSimulated === isSimulated)
  const [only, ...others] = same.length > 0 ? same : named
  return only !== undefined && others.length === 0 ? wholeDevice(only, devices).id : device
}

/** A PCI function stands for the GPU, NIC or interface at its address, so that the events of a device have one id. */
function wholeDevice(one: Device, devices: EventDeviceLookup): Device {
  if (one.kind !== 'pci') return one
  const { address, host, isSimulated } = one
  const isAt = (other: Device) =>
    other.kind !== 'pci' && other.address === address && other.host === host && other.isSimulated === isSimulated
  return devices.own().find(isAt) ?? one
}
