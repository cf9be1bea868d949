import type { Batch, RecordType } from '@sonde/sdk'
import { Quota } from '@sonde/sdk/internal'
import { type FactValues, nameCount } from './claims.ts'

/** The owner of a part of a limit: a type of the agent, or a client. */
export type FactGroup = string | bigint

/** A limit on the number of facts, and how groups share it. */
export interface FactBudget {
  /** Whether facts of one group that left may be forgotten for another group. */
  readonly isShared: boolean
  groupOf(batch: Batch): FactGroup
  /** How much of the limit a fact uses. */
  placesOf(type: RecordType, values: FactValues): number
  roomFor(group: FactGroup): number
  add(group: FactGroup, places: number): void
}

/** A limit on the series of each type. */
export function typeBudget(limit: number): FactBudget {
  const counts = new Map<FactGroup, number>()
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
export function clientBudget(limit: number): FactBudget {
  const quota = new Quota(limit)
  const holder = (group: FactGroup) => (typeof group === 'bigint' ? group : 0n)
  return {
    isShared: true,
    groupOf: ({ page }) => page?.client ?? 0n,
    placesOf: (type, values) => 1 + nameCount(type, values),
    roomFor: (group) => quota.roomFor(holder(group)),
    add: (group, places) => quota.add(holder(group), places),
  }
}
