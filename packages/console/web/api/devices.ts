import type { DevicesAnswer, ListedDevice, ListedType } from '@sonde/sdk/api'
import { getAnswer } from './client.ts'
import { claimsOf, type MetricClaims } from './metric-claims.ts'
import { createPoll, type Resource, usePoll, useTypes } from './resources.ts'

/** A device with the claims of the catalogue. */
export interface DeviceInfo extends ListedDevice {
  /** Shared by all devices. */
  readonly claims: MetricClaims
  /**
   * Names of its labels that identify it, in the order of the key of its kind; empty if a type of another kind defines
   * it.
   */
  readonly key: readonly string[]
}

/** The devices of the node. */
export interface KnownDevices extends Omit<DevicesAnswer, 'devices'> {
  readonly devices: readonly DeviceInfo[]
}

const devicesPoll = createPoll(() => getAnswer('/api/v1/devices'), 3_000)
const NO_TYPES: readonly ListedType[] = []

/** The devices of the node, polled every 3 s. */
export function useDevices(): Resource<KnownDevices> {
  const { data, ...state } = usePoll(devicesPoll)
  const types = useTypes().data?.types ?? NO_TYPES
  return { ...state, data: data && withClaims(data, types) }
}

const joined = new WeakMap<DevicesAnswer, { readonly types: readonly ListedType[]; readonly answer: KnownDevices }>()

/** Caches the result, so that hundreds of devices are joined only once per answer. */
function withClaims(listed: DevicesAnswer, types: readonly ListedType[]): KnownDevices {
  const before = joined.get(listed)
  if (before?.types === types) return before.answer
  const claims = claimsOf(types)
  const entities = new Map(types.map(({ name, entity }) => [name, entity]))
  const entityKey = ({ type, kind }: ListedDevice) => {
    const entity = entities.get(type)
    return entity?.kind === kind ? entity.key : []
  }
  const devices = listed.devices.map((device) => ({ ...device, claims, key: entityKey(device) }))
  const answer = { ...listed, devices }
  joined.set(listed, { types, answer })
  return answer
}
