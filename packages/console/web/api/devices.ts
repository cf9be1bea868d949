import { type Claims, claimsOf } from './claims.ts'
import { getJson } from './client.ts'
import { createPoll, type Resource, usePoll, useTypes } from './resources.ts'
import type { Labels, TypeInfo } from './types.ts'

/** One device of `/api/v1/devices`. */
export interface DeviceInfo {
  /** Part of the addresses of pages; begins with `sim-` if the device is simulated. */
  readonly id: string
  /** `gpu`, `nic`, `netdev` (an interface without a device of its own), `pci`, or what a type says. */
  readonly kind: string
  /** What kernel or driver call it. */
  readonly name: string
  /** Column of a GPU and the NIC that is closest to it; null for what is in none. */
  readonly rail: number | null
  readonly state: 'present' | 'gone'
  /** Since when it is gone. */
  readonly goneMs?: number
  /** Why, as its source says. */
  readonly goneReason?: string
  readonly simulated: boolean
  /** Labels of the series of its own type. */
  readonly labels: Labels
  /** Labels of other entities that are parts of it, by kind: `pci`, `netdev`. */
  readonly series?: Readonly<Record<string, Labels>>
  /** Node that it is of. */
  readonly host?: string
  /** Type and source of the record that defines it. */
  readonly type?: string
  readonly source?: string
  /** Entities that name it or that it names, by id. */
  readonly relations?: readonly string[]
  /** Interfaces that belong to it. */
  readonly netdevs?: readonly string[]
  readonly model?: string
  readonly driver?: string
  readonly address?: string
  readonly numaNode?: number | null
  /** Addresses of the bridges from the root port to just above the device. */
  readonly path?: readonly string[]
  /** Upstream port of its PCIe switch; null without one. */
  readonly switch?: string | null
  /** Devices of the same rail, by id. */
  readonly pairs: readonly string[]
  /** Hard limits that are known: `power_watts`, `memory_bytes`, `pcie_bytes_per_s`. */
  readonly limits: Readonly<Record<string, number>>
  /** What metrics are about: the same for all devices. */
  readonly claims: Claims
}

/** Answer of `/api/v1/devices`. */
export interface DevicesAnswer {
  readonly nowMs: number
  readonly devices: readonly DeviceInfo[]
}

/** The answer as it comes: what metrics are about is said by the catalogue. */
interface ToldDevices {
  readonly nowMs: number
  readonly devices: readonly Omit<DeviceInfo, 'claims'>[]
}

const devicesPoll = createPoll(() => getJson<ToldDevices>('/api/v1/devices'), 3_000)
const NO_TYPES: readonly TypeInfo[] = []

/** What the node has, renewed every 3 s. */
export function useDevices(): Resource<DevicesAnswer> {
  const { data, ...state } = usePoll(devicesPoll)
  const types = useTypes().data?.types ?? NO_TYPES
  return { ...state, data: data && withClaims(data, types) }
}

const joined = new WeakMap<ToldDevices, { readonly types: readonly TypeInfo[]; readonly answer: DevicesAnswer }>()

/** One object for all that ask: hundreds of devices are joined once an answer. */
function withClaims(told: ToldDevices, types: readonly TypeInfo[]): DevicesAnswer {
  const before = joined.get(told)
  if (before?.types === types) return before.answer
  const claims = claimsOf(types)
  const answer = { ...told, devices: told.devices.map((device) => ({ ...device, claims })) }
  joined.set(told, { types, answer })
  return answer
}
