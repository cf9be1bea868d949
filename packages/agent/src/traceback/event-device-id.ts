import type { RunningSource } from '../hosting/running-source.ts'
import type { DeviceLookup } from './traceback.ts'

/** What a source calls the device of an event. */
export interface CalledDevice {
  readonly device: string
  readonly isSimulated: boolean
}

/**
 * The id in the list of devices of what a source calls its device; as its source calls it where the list does not have
 * it, or has several of that name. Edges of reported records bear the id already.
 */
export function eventDeviceId(
  { device, isSimulated }: CalledDevice,
  source: { readonly definition: Pick<RunningSource['definition'], 'labels' | 'types'> } | undefined,
  devices: DeviceLookup,
): string {
  if (device === '' || devices.byId(device) !== undefined) return device
  const labels = { ...source?.definition.labels, device }
  for (const type of source?.definition.types ?? []) {
    const found = devices.deviceOf(type, labels)
    if (found !== undefined) return found.id
  }
  const named = devices.own().filter((one) => one.labels.device === device)
  const same = named.filter((one) => one.isSimulated === isSimulated)
  const [only, ...others] = same.length > 0 ? same : named
  return only !== undefined && others.length === 0 ? only.id : device
}
