import type { DeviceInfo } from '../../api/devices.ts'
import type { TracebackEvent } from '../../api/events.ts'

/**
 * The device of an event: by its id, or by a name that its source has for it. A real one and a simulated one may share
 * a name.
 */
export function eventDevice(
  { device, isSimulated }: Pick<TracebackEvent, 'device' | 'isSimulated'>,
  devices: readonly DeviceInfo[],
): DeviceInfo | undefined {
  if (device === '') return undefined
  return (
    devices.find(({ id }) => id === device) ??
    devices.find((one) => one.simulated === isSimulated && namesOf(one).includes(device))
  )
}

function namesOf({ name, labels, address }: DeviceInfo): readonly string[] {
  const names = [labels.device, labels.gpu, labels.UUID, name, address]
  return names.filter((known) => known !== undefined && known !== '') as readonly string[]
}
