import type { SourceInfo } from '../schema/batch.ts'
import type { Labels } from '../schema/series.ts'

/**
 * The constant labels of a source of an application: `source` and `tag`, which tell its series from those of other
 * applications, and its own. Empty ones are left out, and what the application says itself stays. Sources of an agent's
 * own have no such labels: what they read is of the node.
 */
export function applicationLabels({ id, tag, labels }: Pick<SourceInfo, 'id' | 'tag' | 'labels'>): Labels {
  const own = Object.entries(labels).filter(([, text]) => text !== '')
  return { source: id, ...(tag === '' ? {} : { tag }), ...Object.fromEntries(own) }
}

/** The labels that an application gave its source: those of {@link applicationLabels} repeat its name and tag. */
export function ownLabels({ id, tag, labels }: Pick<SourceInfo, 'id' | 'tag' | 'labels'>): Labels {
  const named: Labels = { source: id, tag }
  return Object.fromEntries(Object.entries(labels).filter(([name, text]) => named[name] !== text))
}
