import type { TracebackEvent } from '@sonde/sdk/api'
import type { DeviceInfo } from '../../api/devices.ts'
import { deviceTitle } from '../../devices/device.ts'
import { compareNames } from '../../format/names.ts'
import { deviceWords } from './event-words.ts'

/**
 * The device of an event, by its id or by the name that the source uses. A real and a simulated device may share a
 * name.
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

/** Title of the device of an event; the name from the source if the device is unknown. */
export function eventPlace(
  event: Pick<TracebackEvent, 'device' | 'isSimulated'>,
  devices: readonly DeviceInfo[],
): string {
  const device = eventDevice(event, devices)
  return device ? deviceTitle(device) : deviceWords(event.device)
}

/** Ids of devices with their titles for a choice, sorted by title. Equal titles are made distinct. */
export function titledDevices(
  ids: readonly string[],
  devices: readonly DeviceInfo[],
): readonly (readonly [id: string, title: string])[] {
  const titled = ids.map((id) => [id, eventPlace({ device: id, isSimulated: false }, devices)] as const)
  return titled
    .map(
      ([id, title]) =>
        [id, titled.some((other) => other[1] === title && other[0] !== id) ? `${title}, ${id}` : title] as const,
    )
    .toSorted((a, b) => compareNames(a[1], b[1]))
}

function namesOf({ name, labels, address }: DeviceInfo): readonly string[] {
  const names = [labels.device, labels.rdma_device, labels.gpu, labels.UUID, name, address]
  return names.filter((known) => known !== undefined && known !== '') as readonly string[]
}
