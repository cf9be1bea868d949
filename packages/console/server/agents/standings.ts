import type { ListedVersion, PartVersion, VersionStanding } from '@sonde/sdk/api'

/** What an agent said about its versions. */
interface Versioned {
  readonly versions: readonly PartVersion[]
}

/**
 * Finds how each version stands among those of all nodes. Parts are compared with parts of the same kind and model, and
 * each node counts once for each version that it has.
 */
export function standingsOf(nodes: readonly Versioned[]): (version: PartVersion) => ListedVersion {
  const counts = new Map<string, Map<string, number>>()
  for (const { versions } of nodes) {
    for (const { of, about, version } of versions) {
      const part = `${of} ${about}`
      const byVersion = counts.get(part) ?? new Map<string, number>()
      counts.set(part, byVersion.set(version, (byVersion.get(version) ?? 0) + 1))
    }
  }
  return (version) => ({
    ...version,
    standing: standingOf(version.version, counts.get(`${version.of} ${version.about}`) ?? new Map()),
  })
}

function standingOf(version: string, counts: ReadonlyMap<string, number>): VersionStanding {
  const own = counts.get(version) ?? 0
  const others = [...counts].filter(([other]) => other !== version).map(([, count]) => count)
  const most = Math.max(0, ...others)
  if (own > most) return 'common'
  return own < most ? 'minority' : 'split'
}
