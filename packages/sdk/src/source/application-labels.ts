import type { SourceInfo } from '../schema/batch.ts'
import type { Labels } from '../schema/series.ts'

/**
 * The constant labels of a source of an application: `source` and `tag`, which separate its series from those of other
 * applications, and its own labels. Empty labels are left out; a label of the application wins. The agent's own sources
 * have no such labels, because their records describe the node.
 */
export function applicationLabels({ id, tag, labels }: Pick<SourceInfo, 'id' | 'tag' | 'labels'>): Labels {
  const own = Object.entries(labels).filter(([, text]) => text !== '')
  return { source: id, ...(tag === '' ? {} : { tag }), ...Object.fromEntries(own) }
}

/** The labels that an application gave its source, without those that repeat its name and tag. */
export function ownLabels({ id, tag, labels }: Pick<SourceInfo, 'id' | 'tag' | 'labels'>): Labels {
  const named: Labels = { source: id, tag }
  return Object.fromEntries(Object.entries(labels).filter(([name, text]) => named[name] !== text))
}
