import { aboutOf } from '../claims.ts'
import type { Fact } from '../facts.ts'
import type { World } from '../world.ts'
import { compareNames, type Draft, draftOf } from './draft.ts'

/** Entities of kinds that have no code: they are what their types say of them. */
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
  // A slash tells the parts of a key apart, and `@` the host: two entities must not have one id.
  const id = key.map((part) => part.replace(/[%/@]/g, encodeURIComponent)).join('/')
  return { ...draftOf(world, { kind, prefix: kind }, id, { fact }), name: key.join('/') }
}
