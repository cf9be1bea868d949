import type { ListedType } from '@sonde/sdk/api'

/** The entity that the series of a metric describe, as declared by its type. */
export interface MetricClaim {
  /** Kind of the entity. */
  readonly kind: string
  /** Labels that identify the entity. The first is the most familiar name. */
  readonly key: readonly string[]
  /** All labels that the type has. */
  readonly labels: readonly string[]
}

/** Claims by metric. Other metrics declare no entity. */
export type MetricClaims = Pick<ReadonlyMap<string, MetricClaim>, 'get'>

/** Kinds with their own pages, and the paths of these pages. */
export const HARDWARE_PATHS: ReadonlyMap<string, string> = new Map([
  ['gpu', '/gpus'],
  ['nic', '/fabric'],
  ['netdev', '/fabric'],
  ['pci', '/pci'],
])

/**
 * The claims of the given types. If two types have the same metric, the hardware type wins, because applications cannot
 * define hardware types.
 */
export function claimsOf(types: readonly ListedType[]): MetricClaims {
  const claims = new Map<string, MetricClaim>()
  for (const { entity, labels, fields } of types) {
    if (entity === undefined) continue
    const claim = { kind: entity.kind, key: entity.key, labels }
    for (const { metric } of fields)
      if (!claims.has(metric) || HARDWARE_PATHS.has(entity.kind)) claims.set(metric, claim)
  }
  return claims
}
