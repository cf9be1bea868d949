import type { EntityRef } from '@sonde/sdk'
import { aboutOf, joined, related as relatedBy } from './claims.ts'
import type { Device } from './device.ts'
import type { Fact } from './facts.ts'
import { isHardware } from './kinds/index.ts'
import { Places } from './places.ts'
import { isSimulatedOf } from './world.ts'

/**
 * Adds to entities which others they name, and which name them, as long as the series lives that says so. What hardware
 * is made of, the code of its kind says: its pairs, its interfaces, its place on the bus.
 */
export function related(devices: readonly Device[], facts: readonly Fact[]): readonly Device[] {
  const saying = facts.filter(({ type, goneMs }) => goneMs === undefined && isRelating(type.entity))
  if (saying.length === 0) return devices
  const places = new Places(devices)
  const byUuid = new Map(devices.filter(({ kind }) => kind === 'gpu').map((gpu) => [gpu.labels.UUID ?? '', gpu]))
  const byPid = new Map(saying.flatMap((fact) => pidOf(fact, places)))
  const relations = new Map<string, Set<string>>()
  for (const fact of saying) {
    const isSimulated = isSimulatedOf(fact.labels)
    const at = (ref: EntityRef) => places.at(ref, isSimulated)
    const from = at(aboutOf(fact) ?? NOTHING)
    if (from === undefined) continue
    const named = [
      ...joined(fact, 'pci').map((address) => sitting(address.toLowerCase(), at)),
      ...joined(fact, 'netdev').map((name) => at({ kind: 'netdev', key: [name] })),
      ...joined(fact, 'uuid').map((uuid) => byUuid.get(uuid)),
      ...joined(fact, 'pid').map((pid) => byPid.get(pid)),
      ...(fact.type.entity?.relations ?? []).flatMap(({ kind }) =>
        relatedBy(fact, kind).map((key) => at({ kind, key })),
      ),
    ]
    for (const to of named) if (to !== undefined && to !== from) join(relations, from, to)
  }
  return devices.map((device) => ({ ...device, relations: [...(relations.get(device.id) ?? [])] }))
}

const NOTHING: EntityRef = { kind: '', key: [] }

function isRelating(entity: Fact['type']['entity']): boolean {
  return entity !== undefined && !(entity.defines === true && isHardware(entity.kind))
}

/** What sits at an address; one without a function means the first. */
function sitting(address: string, at: (ref: EntityRef) => Device | undefined): Device | undefined {
  return at({ kind: 'pci', key: [address] }) ?? at({ kind: 'pci', key: [`${address}.0`] })
}

/** A process is known by its number: that is the whole key of whoever owns it. */
function pidOf(fact: Fact, places: Places<Device>): [string, Device][] {
  const { defines, key = [], joins = [] } = fact.type.entity ?? {}
  const isOwner =
    defines === true && key.length === 1 && joins.some(({ by, field }) => by === 'pid' && field === key[0])
  const device = isOwner ? places.at(aboutOf(fact) ?? NOTHING, isSimulatedOf(fact.labels)) : undefined
  return device === undefined ? [] : joined(fact, 'pid').map((pid) => [pid, device])
}

function join(relations: Map<string, Set<string>>, from: Device, to: Device): void {
  for (const [one, other] of [
    [from, to],
    [to, from],
  ] as const)
    relations.set(one.id, (relations.get(one.id) ?? new Set()).add(other.id))
}
