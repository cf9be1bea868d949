import type { Devices } from '../devices/devices.ts'
import type { DevicePlace, DevicePlaces } from './nearest-nic.ts'

const GPU = { entity: { kind: 'gpu', key: ['UUID'], host: 'Hostname' } }
const PCI = { entity: { kind: 'pci', key: ['pci_address'] } }

/**
 * The places of devices, by the list of devices.
 *
 * @param here Name of this host: PCI addresses of others are not known.
 */
export function devicePlaces(devices: Pick<Devices, 'deviceOf'>, here: string): DevicePlaces {
  const placeOf = (
    type: typeof GPU | typeof PCI,
    labels: Readonly<Record<string, string>>,
  ): DevicePlace | undefined => {
    const { numaNode = null, socket = null } = devices.deviceOf(type, labels) ?? {}
    return numaNode === null || socket === null ? undefined : { numaNode, socket }
  }
  const simulated = (isSimulated: boolean) => (isSimulated ? { simulated: 'true' } : {})
  return {
    ofGpu: (host, uuid, isSimulated) => placeOf(GPU, { UUID: uuid, Hostname: host, ...simulated(isSimulated) }),
    ofAddress: (host, address, isSimulated) =>
      host === here ? placeOf(PCI, { pci_address: address, ...simulated(isSimulated) }) : undefined,
  }
}
