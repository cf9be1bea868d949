import type { Batch, RecordType } from '@sonde/sdk'
import { Quota } from '@sonde/sdk/internal'
import { nameCount, type Values } from './claims.ts'

/** Whose part of a limit something takes: a type of the agent, or a client. */
export type Group = string | bigint

/** A limit of facts, and how it is shared. */
export interface FactRoom {
  /** Whether what left of one group makes room for another. */
  readonly isShared: boolean
  groupOf(batch: Batch): Group
  /** What a fact takes. */
  placesOf(type: RecordType, values: Values): number
  roomFor(group: Group): number
  add(group: Group, places: number): void
}

/** So many series of each type. */
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

/** So many series of all clients, and names in them: neither can one client take all, nor make us follow many names. */
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
