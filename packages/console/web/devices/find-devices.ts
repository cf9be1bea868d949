import type { DeviceInfo } from '../api/devices.ts'
import { deviceTitle, isGeneric } from './device.ts'

/** The PCI domain of an address written without a domain. */
const FIRST_DOMAIN = '0000:'

/**
 * The devices of a kind with a name: an id, an index, a UUID, a name with or without port, or a PCI address. Without a
 * kind, any kind without a special page. An id is unique. For other names real devices win over simulated devices, and
 * present devices over departed ones. Several if the name is ambiguous, none if nothing matches.
 */
export function findDevices(
  devices: readonly DeviceInfo[],
  kind: DeviceInfo['kind'] | undefined,
  name: string,
): readonly DeviceInfo[] {
  const some = devices.filter((device) => (kind === undefined ? isGeneric(device) : device.kind === kind))
  const own = some.find(({ id }) => id === name)
  if (own) return [own]
  const wanted = name.toLowerCase()
  const named = some.filter((device) => namesOf(device).some((known) => known.toLowerCase() === wanted))
  const real = preferred(named, ({ simulated }) => !simulated)
  return preferred(real, ({ state }) => state === 'present')
}

function preferred(
  devices: readonly DeviceInfo[],
  isPreferred: (device: DeviceInfo) => boolean,
): readonly DeviceInfo[] {
  const better = devices.filter(isPreferred)
  return better.length > 0 ? better : devices
}

function namesOf(device: DeviceInfo): readonly string[] {
  const { id, name, labels, address = '' } = device
  const short = address.startsWith(FIRST_DOMAIN) ? address.slice(FIRST_DOMAIN.length) : ''
  const port = labels.port === undefined ? '' : `${name}/${labels.port}`
  const names = [id.replace(/^sim-/, ''), name, deviceTitle(device), labels.gpu, labels.UUID, port, address, short]
  return names.filter((known) => known !== undefined && known !== '') as readonly string[]
}
