import type { DocaDeviceNames } from '../../native/doca/roster.ts'
import { deviceName } from '../pci-address.ts'

/** Names a card by the address of one of its functions without the part behind the dot, in which functions differ. */
export function cardOf(pciAddress: string, device: string): string {
  return /^[0-9a-fA-F:]+\.[0-9a-fA-F]+$/.test(pciAddress) ? pciAddress.replace(/\.[^.]*$/, '') : device
}

/** Returns the devices that are functions of the card of a device and have a lower address, lowest first. */
export function lowerFunctions(devices: readonly DocaDeviceNames[], name: string): string[] {
  const places = devices.map((device) => ({ name: device.name, address: deviceName(device.pciAddress) }))
  const own = places.find((place) => place.name === name)
  if (own === undefined) return []
  const card = cardOf(own.address, name)
  return places
    .filter((place) => cardOf(place.address, place.name) === card && place.address < own.address)
    .sort((left, right) => (left.address < right.address ? -1 : 1))
    .map((place) => place.name)
}
