import type { SourceInfo } from '../schema/batch.ts'

/** The tag that matches all sources without a tag: sources of hardware, whose records are counters. */
const COUNTERS = 'counters'

/**
 * Which sources reach a destination: those with one of the tags. A source without a tag has its name as tag, such as
 * `ethtool`, and the tag `counters`. No tags at all are all sources. Pure.
 */
export function sourceFilter(tags: readonly string[]): (source: Pick<SourceInfo, 'id' | 'tag'>) => boolean {
  if (tags.length === 0) return () => true
  const wanted = new Set(tags)
  return ({ id, tag }) => (tag === '' ? wanted.has(COUNTERS) || wanted.has(id) : wanted.has(tag))
}
