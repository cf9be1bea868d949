import type { World } from '../world.ts'
import type { DeviceMaker, Draft } from './draft.ts'
import { genericsOf } from './generic.ts'
import { gpus } from './gpu.ts'
import { netdevs } from './netdev.ts'
import { nics } from './nic.ts'
import { pcis } from './pci.ts'

/** Kinds with code of their own, in the order of the list. */
export const MAKERS: readonly DeviceMaker[] = [gpus, nics, netdevs, pcis]

const KINDS: ReadonlySet<string> = new Set(MAKERS.map(({ kind }) => kind))

/** Whether a kind has code of its own, which says how its devices belong together. */
export function isHardware(kind: string): boolean {
  return KINDS.has(kind)
}

/** The agent's own node has short names; what is on another bears its host. */
function elsewhere(draft: Draft): Draft {
  const { id, name, host } = draft
  return { ...draft, id: `${id}@${host}`, name: `${name}@${host}` }
}

/** The devices of one world, each id once. */
export function draftsOf(world: World): Draft[] {
  const drafts: Draft[] = []
  for (const { make } of MAKERS) drafts.push(...make(world, drafts))
  drafts.push(...genericsOf(world, KINDS))
  // Two series may claim one id: the series that is present takes it. Of two series of one source the newer takes it,
  // as when a GPU was replaced; of two sources the first, so that no other source takes its devices.
  const byId = new Map<string, Draft>()
  for (const draft of drafts.map((one) => (world.isElsewhere ? elsewhere(one) : one))) {
    const known = byId.get(draft.id)
    const isNewer = draft.goneMs === undefined && draft.source === known?.source
    if (known === undefined || known.goneMs !== undefined || isNewer) byId.set(draft.id, draft)
  }
  return [...byId.values()]
}
