import type { EntityRef } from '@sonde/sdk/internal'
import { entityOfFact, joinedNames, relatedKeys as relatedBy } from './claims.ts'
import type { Device } from './device.ts'
import { EntityIndex } from './entity-index.ts'
import type { EntityFact } from './facts.ts'
import { isHardware } from './kinds/index.ts'
import { type NodeRef, nodeOfFact } from './world.ts'

/** Entities with their relations. */
export interface RelatedDevices {
  readonly devices: readonly Device[]
  /** Whether a process is named by a series that must report it again first. No other event signals this. */
  readonly isWaiting: boolean
}

/**
 * Adds relations to entities: which entities they name, and which name them, while the naming series is present. The
 * code of a hardware kind computes the parts of hardware: pairs, interfaces and PCI location.
 */
export function withRelations(devices: readonly Device[], facts: readonly EntityFact[], here: string): RelatedDevices {
  const saying = facts.filter(({ type, goneMs }) => goneMs === undefined && isRelating(type.entity))
  if (saying.length === 0) return { devices, isWaiting: false }
  const places = new EntityIndex(devices)
  const gpus = devices.filter(({ kind }) => kind === 'gpu')
  const byUuid = new Map(gpus.map((gpu) => [inNode(gpu, gpu.labels.UUID ?? ''), gpu]))
  const processes = new Map(saying.flatMap((fact) => processesByNumber(fact, places, here)))
  const relations = new Map<string, Set<string>>()
  let isWaiting = false
  for (const fact of saying) {
    const node = nodeOfFact(fact, here)
    const at = (ref: EntityRef) => places.at(ref, node)
    const from = at(entityOfFact(fact) ?? NOTHING)
    if (from === undefined) continue
    const running = joinedNames(fact, 'pid').flatMap((pid) => processes.get(inNode(node, pid)) ?? [])
    // The system reuses process numbers: a report from before the process started means another process.
    const meant = running.filter(({ sinceMs }) => fact.seenMs >= sinceMs)
    if (meant.length < running.length) isWaiting = true
    const named = [
      ...joinedNames(fact, 'pci').map((address) => sitting(address.toLowerCase(), at)),
      ...joinedNames(fact, 'netdev').map((name) => at({ kind: 'netdev', key: [name] })),
      ...joinedNames(fact, 'uuid').map((uuid) => byUuid.get(inNode(node, uuid))),
      ...meant.map(({ device }) => device),
      ...(fact.type.entity?.relations ?? []).flatMap(({ kind }) =>
        relatedBy(fact, kind).map((key) => at({ kind, key })),
      ),
    ]
    for (const to of named) if (to !== undefined && to !== from) join(relations, from, to)
  }
  const withRelations = devices.map((device) => ({ ...device, relations: [...(relations.get(device.id) ?? [])] }))
  return { devices: withRelations, isWaiting }
}

/** A present process, and when it appeared. */
interface Process {
  readonly device: Device
  readonly sinceMs: number
}

function inNode({ host, isSimulated }: NodeRef, name: string): string {
  return JSON.stringify([host, isSimulated, name])
}

const NOTHING: EntityRef = { kind: '', key: [] }

function isRelating(entity: EntityFact['type']['entity']): boolean {
  return entity !== undefined && !(entity.defines === true && isHardware(entity.kind))
}

/** The device at an address. An address without a function means the first function. */
function sitting(address: string, at: (ref: EntityRef) => Device | undefined): Device | undefined {
  return at({ kind: 'pci', key: [address] }) ?? at({ kind: 'pci', key: [`${address}.0`] })
}

/** The number identifies a process, so the number is the whole key of the entity that owns it. */
function processesByNumber(fact: EntityFact, places: EntityIndex<Device>, here: string): [string, Process][] {
  const { defines, key = [], joins = [] } = fact.type.entity ?? {}
  const isOwner =
    defines === true && key.length === 1 && joins.some(({ by, field }) => by === 'pid' && field === key[0])
  if (!isOwner) return []
  const node = nodeOfFact(fact, here)
  const device = places.at(entityOfFact(fact) ?? NOTHING, node)
  if (device === undefined) return []
  return joinedNames(fact, 'pid').map((pid) => [inNode(node, pid), { device, sinceMs: fact.sinceMs }])
}

function join(relations: Map<string, Set<string>>, from: Device, to: Device): void {
  for (const [one, other] of [
    [from, to],
    [to, from],
  ] as const)
    relations.set(one.id, (relations.get(one.id) ?? new Set()).add(other.id))
}
