import type { Batch, RecordType } from '@sonde/sdk'
import { Quota } from '@sonde/sdk/internal'
import { nameCount, type Values } from './claims.ts'

/** The owner of a part of a limit: a type of the agent, or a client. */
export type Group = string | bigint

/** A limit on the number of facts, and how groups share it. */
export interface FactRoom {
  /** Whether facts of one group that left may be forgotten for another group. */
  readonly isShared: boolean
  groupOf(batch: Batch): Group
  /** How much of the limit a fact uses. */
  placesOf(type: RecordType, values: Values): number
  roomFor(group: Group): number
  add(group: Group, places: number): void
}

/** A limit on the series of each type. */
export function roomOfTypes(limit: number): FactRoom {
  const counts = new Map<Group, number>()
  return {
    isShared: false,
    groupOf: ({ type }) => type.name,
    placesOf: () => 1,
    roomFor: (group) => limit - (counts.get(group) ?? 0),
    add: (group, places) => counts.set(group, (counts.get(group) ?? 0) + places),
  }
}

/**
 * A limit on the series of all clients and the names in them. No client can use up the whole limit, or make the agent
 * track many names.
 */
export function roomOfClients(limit: number): FactRoom {
  const quota = new Quota(limit)
  const holder = (group: Group) => (typeof group === 'bigint' ? group : 0n)
  return {
    isShared: true,
    groupOf: ({ page }) => page?.client ?? 0n,
    placesOf: (type, values) => 1 + nameCount(type, values),
    roomFor: (group) => quota.roomFor(holder(group)),
    add: (group, places) => quota.add(holder(group), places),
  }
}
