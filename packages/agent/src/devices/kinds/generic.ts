import { aboutOf } from '../claims.ts'
import type { Fact } from '../facts.ts'
import type { World } from '../world.ts'
import { compareNames, type Draft, draftOf } from './draft.ts'

/** Entities of kinds without code: their types describe them completely. */
export function genericsOf(world: World, kinds: ReadonlySet<string>): Draft[] {
  return world.kinds
    .filter((kind) => !kinds.has(kind))
    .sort(compareNames)
    .flatMap((kind) =>
      world
        .defined(kind)
        .map((fact) => genericOf(world, kind, fact))
        .sort((a, b) => compareNames(a.name, b.name)),
    )
}

function genericOf(world: World, kind: string, fact: Fact): Draft {
  const key = aboutOf(fact)?.key ?? []
  // A slash separates the parts of a key, and `@` the host. Both are escaped, so two entities never share an id.
  const id = key.map((part) => part.replace(/[%/@]/g, encodeURIComponent)).join('/')
  return { ...draftOf(world, { kind, prefix: kind }, id, { fact }), name: key.join('/') }
}
