import type { DevicesAnswer, ListedDevice, ListedType } from '@sonde/sdk/api'
import { getAnswer } from './client.ts'
import { claimsOf, type MetricClaims } from './metric-claims.ts'
import { createPoll, type Resource, usePoll, useTypes } from './resources.ts'

/** A device with what the catalogue says that metrics are about. */
export interface DeviceInfo extends ListedDevice {
  /** The same for all devices. */
  readonly claims: MetricClaims
}

/** The devices of the node. */
export interface KnownDevices extends Omit<DevicesAnswer, 'devices'> {
  readonly devices: readonly DeviceInfo[]
}

const devicesPoll = createPoll(() => getAnswer('/api/v1/devices'), 3_000)
const NO_TYPES: readonly ListedType[] = []

/** What the node has, renewed every 3 s. */
export function useDevices(): Resource<KnownDevices> {
  const { data, ...state } = usePoll(devicesPoll)
  const types = useTypes().data?.types ?? NO_TYPES
  return { ...state, data: data && withClaims(data, types) }
}

const joined = new WeakMap<DevicesAnswer, { readonly types: readonly ListedType[]; readonly answer: KnownDevices }>()

/** One object for all that ask: hundreds of devices are joined once an answer. */
function withClaims(told: DevicesAnswer, types: readonly ListedType[]): KnownDevices {
  const before = joined.get(told)
  if (before?.types === types) return before.answer
  const claims = claimsOf(types)
  const answer = { ...told, devices: told.devices.map((device) => ({ ...device, claims })) }
  joined.set(told, { types, answer })
  return answer
}
