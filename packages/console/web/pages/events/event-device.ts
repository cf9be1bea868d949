import type { DeviceInfo } from '../../api/devices.ts'
import type { TracebackEvent } from '../../api/events.ts'

/** The device of an event: by its id, or by what kernel or driver call it. A real one and a simulated one may share a name. */
export function eventDevice(
  { device, isSimulated }: Pick<TracebackEvent, 'device' | 'isSimulated'>,
  devices: readonly DeviceInfo[],
): DeviceInfo | undefined {
  return (
    devices.find(({ id }) => id === device) ??
    devices.find(({ name, address, simulated }) => simulated === isSimulated && (name === device || address === device))
  )
}
