import { entityOfFact } from '../claims.ts'
import type { EntityFact } from '../facts.ts'
import type { World } from '../world.ts'
import { compareDeviceNames, type Draft, makeDraft } from './draft.ts'

/** Entities of kinds without code: their types describe them completely. */
export function genericDrafts(world: World, kinds: ReadonlySet<string>): Draft[] {
  return world.kinds
    .filter((kind) => !kinds.has(kind))
    .sort(compareDeviceNames)
    .flatMap((kind) =>
      world
        .defined(kind)
        .map((fact) => genericDraft(world, kind, fact))
        .sort((a, b) => compareDeviceNames(a.name, b.name)),
    )
}

function genericDraft(world: World, kind: string, fact: EntityFact): Draft {
  const key = entityOfFact(fact)?.key ?? []
  // A slash separates the parts of a key, and `@` the host. Both are escaped, so two entities never share an id.
  const id = key.map((part) => part.replace(/[%/@]/g, encodeURIComponent)).join('/')
  return { ...makeDraft(world, { kind, prefix: kind }, id, { fact }), name: key.join('/') }
}
