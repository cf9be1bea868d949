import type { TracebackEvent } from '@sonde/sdk/api'
import type { DeviceInfo } from '../../api/devices.ts'
import { deviceTitle } from '../../devices/device.ts'
import { compareNames } from '../../format/names.ts'
import { deviceWords } from './event-words.ts'

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

/** Where an event is, as the pages of devices name it; as its source calls it where no device is known. */
export function eventPlace(
  event: Pick<TracebackEvent, 'device' | 'isSimulated'>,
  devices: readonly DeviceInfo[],
): string {
  const device = eventDevice(event, devices)
  return device ? deviceTitle(device) : deviceWords(event.device)
}

/** Ids of devices with the titles that a choice shows, in the order of those; a title that two have is told apart. */
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
  const names = [labels.device, labels.gpu, labels.UUID, name, address]
  return names.filter((known) => known !== undefined && known !== '') as readonly string[]
}
