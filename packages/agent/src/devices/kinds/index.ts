import type { World } from '../world.ts'
import type { DeviceMaker, Draft } from './draft.ts'
import { genericDrafts } from './generic.ts'
import { gpus } from './gpu.ts'
import { netdevs } from './netdev.ts'
import { nics } from './nic.ts'
import { pcis } from './pci.ts'

/** Kinds with code of their own, in the order of the list. */
export const MAKERS: readonly DeviceMaker[] = [gpus, nics, netdevs, pcis]

const KINDS: ReadonlySet<string> = new Set(MAKERS.map(({ kind }) => kind))

/** Whether a kind has its own code. */
export function isHardware(kind: string): boolean {
  return KINDS.has(kind)
}

/** Devices of the agent's own node have short names; devices of another node carry its host. */
function elsewhere(draft: Draft): Draft {
  const { id, name, host } = draft
  return { ...draft, id: `${id}@${host}`, name: `${name}@${host}` }
}

/** The devices of one world; each id appears once. */
export function worldDrafts(world: World): Draft[] {
  const drafts: Draft[] = []
  for (const { make } of MAKERS) drafts.push(...make(world, drafts))
  drafts.push(...genericDrafts(world, KINDS))
  // Two series may claim the same id. The present series gets it. Of two present series of one source the newer series
  // gets it, because a GPU may have been replaced. Of two sources the first gets it, so no other source takes its
  // devices.
  const byId = new Map<string, Draft>()
  for (const draft of drafts.map((one) => (world.isElsewhere ? elsewhere(one) : one))) {
    const known = byId.get(draft.id)
    const isNewer = draft.goneMs === undefined && draft.source === known?.source
    if (known === undefined || known.goneMs !== undefined || isNewer) byId.set(draft.id, draft)
  }
  return [...byId.values()]
}
