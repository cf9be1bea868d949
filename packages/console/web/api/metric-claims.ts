import type { ListedType } from '@sonde/sdk/api'

/** What the series of a metric are about, as its type says. */
export interface MetricClaim {
  /** Kind of the entity. */
  readonly kind: string
  /** Labels that name it; the first is the name that most know it by. */
  readonly key: readonly string[]
  /** All labels that the type has. */
  readonly labels: readonly string[]
}

/** By metric; of what is not in it nobody says what it is about. */
export type MetricClaims = Pick<ReadonlyMap<string, MetricClaim>, 'get'>

/** Kinds that pages of their own are for, with the path of these. */
export const HARDWARE_PATHS: ReadonlyMap<string, string> = new Map([
  ['gpu', '/gpus'],
  ['nic', '/fabric'],
  ['netdev', '/fabric'],
  ['pci', '/pci'],
])

/** The claims of some types. Where two have a metric, that of the hardware counts: no application can make one. */
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
